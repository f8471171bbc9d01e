/**
 * The one writer of a database: group commit, index builds, definition changes. Runs in its own thread (writer-thread.ts), because
 * an fsync must never stop the main thread.
 *
 * Invariants
 * - an outcome is told only after the COMMIT that holds it returned (WAL, synchronous FULL: it is on disk);
 * - an error in one request takes no other with it: the group is rolled back and its requests are tried one by one;
 * - definitions are read inside the transaction, so an index that another process added is never forgotten.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { invariant } from "../../domain/invariant.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { NormalDefinition } from "../../items/compiled-container.ts";
import type { CommitOutcome } from "../../items/item-engine.ts";
import { prepareDocument } from "../../items/prepare.ts";
import type { OpenContainerOptions } from "../../ports/item-store.ts";
import { ContainerWriter } from "./commit.ts";
import type { CommitMessage } from "./messages.ts";
import { feedName, loadContainer, putContainer, quoted, tableName, type SqliteContainer, type StoredIndex } from "./schema.ts";

export type GroupResult = readonly { readonly call: number; readonly outcome: CommitOutcome | Error }[];

const buildRowsPerStep = 200;
const buildBytesPerStep = 1_048_576;

export class Writer {
  readonly #db: DatabaseSync;
  readonly #writers = new Map<string, ContainerWriter>();
  readonly #state: StatementSync;
  readonly #saveSeq: StatementSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#state = db.prepare("SELECT version, feed_seq FROM containers WHERE name = ?");
    this.#saveSeq = db.prepare("UPDATE containers SET feed_seq = ? WHERE name = ?");
  }

  /** All of them in one transaction, with one fsync. */
  commitGroup(group: readonly CommitMessage[]): GroupResult {
    try {
      return this.#transaction(() => this.#apply(group));
    } catch (error) {
      if (group.length === 1) return [{ call: (group[0] as CommitMessage).call, outcome: error as Error }];
      return group.flatMap((message) => this.commitGroup([message]));
    }
  }

  openContainer(definition: NormalDefinition, options: OpenContainerOptions): SqliteContainer {
    this.#writers.delete(definition.name);
    return this.#transaction(() => putContainer(this.#db, definition, options));
  }

  trimFeed(container: string, before: number, limit: number): number {
    return this.#transaction(() => {
      const feed = feedName(container);
      const oldest = this.#db.prepare(`SELECT seq, at FROM ${feed} ORDER BY seq LIMIT ?`).all(limit) as { seq: number; at: number }[];
      const kept = oldest.findIndex(({ at }) => at >= before);
      const doomed = kept === -1 ? oldest : oldest.slice(0, kept);
      const last = doomed.at(-1)?.seq;
      if (last === undefined) return 0;
      this.#db.prepare("UPDATE containers SET feed_trimmed = ? WHERE name = ?").run(last, container);
      this.#db.prepare(`DELETE FROM ${feed} WHERE seq <= ?`).run(last);
      return doomed.length;
    });
  }

  /** A bounded piece of the first unfinished index build of the container. False when there is nothing left to build. */
  buildStep(container: string): boolean {
    return this.#transaction(() => {
      const current = loadContainer(this.#db, container);
      const entry = Object.entries(current?.indexes ?? {}).find(([, { state }]) => state === "building");
      if (current === undefined || entry === undefined) return false;
      const [name, index] = entry;
      const built = this.#buildRows(current, name, index);
      const done = built >= index.buildTo;
      const next: StoredIndex = { ...index, builtTo: built, state: done ? "ready" : "building" };
      this.#db.prepare("UPDATE containers SET indexes = ? WHERE name = ?").run(JSON.stringify({ ...current.indexes, [name]: next }), container);
      return true;
    });
  }

  /** Rows written since the definition changed have their key already; giving it to them again changes nothing. */
  #buildRows({ compiled }: SqliteContainer, name: string, { column, builtTo, buildTo }: StoredIndex): number {
    const table = tableName(compiled.name);
    const position = compiled.indexes.findIndex((candidate) => candidate.name === name);
    const rows = this.#db
      .prepare(`SELECT row, pk, doc FROM ${table} WHERE row > ? AND row <= ? ORDER BY row LIMIT ?`)
      .iterate(builtTo, buildTo, buildRowsPerStep) as Iterable<{ row: number; pk: string; doc: string }>;
    const keyed: [Uint8Array | null, number][] = [];
    let bytes = 0;
    for (const { row, pk, doc } of rows) {
      const [tenant] = JSON.parse(pk) as [string];
      const key = prepareDocument(compiled, tenant, pk, JSON.parse(doc) as JsonObject).keys[position];
      keyed.push([key ? Buffer.concat([key.partition, key.sort]) : null, row]);
      bytes += doc.length;
      if (bytes > buildBytesPerStep) break;
    }
    const update = this.#db.prepare(`UPDATE ${table} SET ${quoted(column)} = ? WHERE row = ?`);
    for (const [key, row] of keyed) update.run(key, row);
    const last = keyed.at(-1)?.[1];
    return last === undefined || (keyed.length < buildRowsPerStep && bytes <= buildBytesPerStep) ? buildTo : last;
  }

  #transaction<T>(work: () => T): T {
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      this.#db.exec("COMMIT");
      return result;
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
      throw error;
    }
  }

  #apply(group: readonly CommitMessage[]): GroupResult {
    const feeds = new Map<string, { seq: number; before: number }>();
    const outcomes = group.map(({ call, container, request }) => {
      let feed = feeds.get(container);
      const writer = feed === undefined ? this.#current(container, feeds) : (this.#writers.get(container) as ContainerWriter);
      feed ??= feeds.get(container) as { seq: number; before: number };
      const counter = feed;
      return { call, outcome: writer.commit(request, () => (counter.seq += 1)) };
    });
    for (const [container, { seq, before }] of feeds) if (seq !== before) this.#saveSeq.run(seq, container);
    return outcomes;
  }

  /** The statements for the definition as it is in this transaction. */
  #current(container: string, feeds: Map<string, { seq: number; before: number }>): ContainerWriter {
    const state = this.#state.get(container) as { version: number; feed_seq: number } | undefined;
    invariant(state !== undefined, "NOT_FOUND", `container "${container}" does not exist in this database`);
    feeds.set(container, { seq: state.feed_seq, before: state.feed_seq });
    let writer = this.#writers.get(container);
    if (writer?.container.compiled.version !== state.version) {
      writer = new ContainerWriter(this.#db, loadContainer(this.#db, container) as SqliteContainer);
      this.#writers.set(container, writer);
    }
    return writer;
  }
}
