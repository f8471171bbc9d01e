/**
 * The one writer of a database: group commit, index builds, definition changes. Runs in its own thread (writer-thread.ts), because
 * an fsync must never stop the main thread.
 *
 * Invariants
 * - an outcome is returned only after the COMMIT that contains it returned (WAL, synchronous FULL: it is on disk);
 * - an error in one request fails no other: the group is rolled back and its requests are retried one by one (unless the database
 *   failed: then all fail at once, and none waits for the others' attempts);
 * - definitions are read inside the transaction, so an index that another process added is never missed.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { invariant } from "../../domain/invariant.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { CompiledIndex, NormalDefinition } from "../../items/compiled-container.ts";
import type { CommitOutcome } from "../../items/item-engine.ts";
import { buildIndexKey } from "../../items/prepare.ts";
import type { OpenContainerOptions } from "../../ports/item-store.ts";
import { ContainerWriter } from "./commit.ts";
import type { CommitMessage, ForgottenStep } from "./messages.ts";
import { isMachineError } from "./errors.ts";
import {
  feedName,
  loadContainer,
  putContainer,
  quoted,
  tableName,
  type SqliteContainer,
  type StoredIndex,
} from "./schema.ts";

export type GroupResult = readonly { readonly call: number; readonly outcome: CommitOutcome | Error }[];

const buildRowsPerStep = 200;
const buildBytesPerStep = 1_048_576;
const forgetEntriesPerStep = 5_000;

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
    let applying = false;
    try {
      return this.#transaction(() => {
        applying = true;
        const results = this.#apply(group);
        applying = false;
        return results;
      });
    } catch (error) {
      const everybody = !applying || group.length === 1 || isMachineError(error);
      if (everybody) return group.map(({ call }) => ({ call, outcome: error as Error }));
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
      const oldest = this.#db.prepare(`SELECT seq, at FROM ${feed} ORDER BY seq LIMIT ?`).all(limit) as {
        seq: number;
        at: number;
      }[];
      const kept = oldest.findIndex(({ at }) => at >= before);
      const doomed = kept === -1 ? oldest : oldest.slice(0, kept);
      const last = doomed.at(-1)?.seq;
      if (last === undefined) return 0;
      this.#db.prepare("UPDATE containers SET feed_trimmed = ? WHERE name = ?").run(last, container);
      this.#db.prepare(`DELETE FROM ${feed} WHERE seq <= ?`).run(last);
      return doomed.length;
    });
  }

  /** The numbers of the remaining entries do not change, so neither do positions of readers. */
  forgetFeed({
    container,
    tenant,
    keys,
    from,
  }: {
    readonly container: string;
    readonly tenant: string;
    readonly keys: readonly (readonly [string, string])[];
    readonly from: number;
  }): ForgottenStep {
    return this.#transaction(() => {
      const feed = feedName(container);
      const entries = this.#db
        .prepare(`SELECT seq, pk, id_key AS idKey FROM ${feed} WHERE tenant = ? AND seq > ? ORDER BY seq LIMIT ?`)
        .all(tenant, from, forgetEntriesPerStep) as { seq: number; pk: string; idKey: string }[];
      const wanted = new Set(keys.map((key) => JSON.stringify(key)));
      const remove = this.#db.prepare(`DELETE FROM ${feed} WHERE seq = ?`);
      let forgotten = 0;
      for (const { seq, pk, idKey } of entries) {
        if (!wanted.has(JSON.stringify([pk, idKey]))) continue;
        remove.run(seq);
        forgotten += 1;
      }
      return { forgotten, next: entries.at(-1)?.seq ?? from, done: entries.length < forgetEntriesPerStep };
    });
  }

  /**
   * A bounded step of an unfinished index build of the container; "done" if none remains, "stuck" if the remaining ones have errors. An
   * error is stored with its index, and another index continues meanwhile.
   */
  buildStep(container: string, retryErrors: boolean): "done" | "stuck" | "working" {
    const current = loadContainer(this.#db, container);
    const unfinished = Object.entries(current?.indexes ?? {}).filter(([, { state }]) => state === "building");
    if (unfinished.length === 0) return "done";
    const next = unfinished.find(([, { error }]) => error === undefined || retryErrors);
    if (next === undefined) return "stuck";
    const [name] = next;
    try {
      this.#transaction(() => this.#buildPiece(container, name));
    } catch (error) {
      this.#transaction(() => this.#noteError(container, name, error instanceof Error ? error.message : String(error)));
    }
    return "working";
  }

  #buildPiece(container: string, name: string): void {
    const current = loadContainer(this.#db, container);
    const index = current?.indexes[name];
    if (current === undefined || index?.state !== "building") return;
    const built = this.#buildRows(current, name, index);
    const { error: _, ...rest } = index;
    this.#saveIndex(current, name, { ...rest, builtTo: built, state: built >= index.buildTo ? "ready" : "building" });
  }

  #noteError(container: string, name: string, error: string): void {
    const current = loadContainer(this.#db, container);
    const index = current?.indexes[name];
    if (current !== undefined && index !== undefined) this.#saveIndex(current, name, { ...index, error });
  }

  #saveIndex({ compiled, indexes }: SqliteContainer, name: string, index: StoredIndex): void {
    this.#db
      .prepare("UPDATE containers SET indexes = ? WHERE name = ?")
      .run(JSON.stringify({ ...indexes, [name]: index }), compiled.name);
  }

  /** Rows written since the definition changed have their key already; setting it again changes nothing. */
  #buildRows({ compiled }: SqliteContainer, name: string, { column, builtTo, buildTo }: StoredIndex): number {
    const table = tableName(compiled.name);
    const index = compiled.indexes.find((candidate) => candidate.name === name) as CompiledIndex;
    const rows = this.#db
      .prepare(`SELECT row, pk, id, doc FROM ${table} WHERE row > ? AND row <= ? ORDER BY row LIMIT ?`)
      .iterate(builtTo, buildTo, buildRowsPerStep) as Iterable<{ row: number; pk: string; id: string; doc: string }>;
    const keyed: [Uint8Array | null, number][] = [];
    let bytes = 0;
    for (const { row, pk, id, doc } of rows) {
      const [tenant] = JSON.parse(pk) as [string];
      const key = buildIndexKey(index, tenant, { pk, idKey: id }, JSON.parse(doc) as JsonObject);
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
      const writer =
        feed === undefined ? this.#current(container, feeds) : (this.#writers.get(container) as ContainerWriter);
      feed ??= feeds.get(container) as { seq: number; before: number };
      const counter = feed;
      return { call, outcome: writer.commit(request, () => (counter.seq += 1)) };
    });
    for (const [container, { seq, before }] of feeds) if (seq !== before) this.#saveSeq.run(seq, container);
    return outcomes;
  }

  /** The statements for the definition in this transaction. */
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
