/**
 * The one connection that writes. Requests of a group share a transaction and its fsync; a request that is not allowed is rejected before
 * it has changed anything, so it fails no other.
 */
import type { DatabaseSync } from "node:sqlite";
import { hasCode } from "../../../domain/errors.ts";
import type { QuadChanges } from "../../../ports/triple-store.ts";
import { requireNotClosed, requireRestorable, requireWritable } from "../../../triples/space-errors.ts";
import type { PreparedChange, SpaceKey } from "../../../triples/triple-engine.ts";
import type { WriteRequest } from "./messages.ts";
import { idsAt, QuadWriter, type QuadIds } from "./quad-writer.ts";
import { makeSpace, readSpace, writeSpace, type SpaceRow } from "./space-row.ts";
import { Statements } from "./statements.ts";
import { TermWriter } from "./term-writer.ts";

/** An answer, or why there is none. */
export type Outcome = { readonly value: unknown } | { readonly error: unknown };

export class TripleWriter {
  readonly #statements: Statements;
  readonly #terms: TermWriter;
  readonly #quads: QuadWriter;
  #version = -1;

  constructor(db: DatabaseSync) {
    this.#statements = new Statements(db);
    this.#terms = new TermWriter(this.#statements);
    this.#quads = new QuadWriter(this.#statements);
  }

  /** All requests in one transaction. If it fails as a whole, each is retried alone, so that only the failing one fails. */
  commit(requests: readonly WriteRequest[]): Outcome[] {
    try {
      this.#statements.run("BEGIN IMMEDIATE");
    } catch (error) {
      return requests.map(() => ({ error }));
    }
    try {
      this.#forgetIfOthersWrote();
      const outcomes = requests.map((request) => this.#outcome(request));
      this.#statements.run("COMMIT");
      return outcomes;
    } catch (error) {
      this.#terms.forget();
      this.#rollback();
      return requests.length > 1 ? requests.flatMap((request) => this.commit([request])) : [{ error }];
    }
  }

  #rollback(): void {
    try {
      this.#statements.run("ROLLBACK");
    } catch (error) {
      // SQLite rolls back by itself if the disk is full or fails; the transaction is over either way.
      if (!(error instanceof Error && error.message.includes("no transaction"))) throw error;
    }
  }

  /** SQLite's data_version tells whether another connection has committed since. */
  #forgetIfOthersWrote(): void {
    const [version] = this.#statements.first<[number]>("PRAGMA data_version") as [number];
    if (version !== this.#version) this.#terms.forget();
    this.#version = version;
  }

  #outcome(request: WriteRequest): Outcome {
    try {
      return { value: this.#apply(request) };
    } catch (error) {
      // Only these are thrown before anything was changed.
      if (hasCode(error, "CONFLICT", "NOT_FOUND")) return { error };
      throw error;
    }
  }

  #apply(request: WriteRequest): unknown {
    const { key } = request;
    switch (request.kind) {
      case "open":
        return this.#open(key);
      case "write":
        return this.#write(this.#writable(key), request.change);
      case "removeSource":
        return this.#removeSource(this.#writable(key), request.source, request.limit);
      case "fence":
        return this.#fence(key);
      case "unfence":
        return this.#unfence(key);
      case "purge":
        return this.#purge(key, request.limit);
    }
  }

  #writable(key: SpaceKey): SpaceRow {
    const space = readSpace(this.#statements, key);
    requireWritable(key.space, space?.status);
    return space as SpaceRow;
  }

  #open(key: SpaceKey): void {
    const space = readSpace(this.#statements, key);
    requireNotClosed(key.space, space?.status);
    if (space === undefined) makeSpace(this.#statements, key, "open");
  }

  #write(space: SpaceRow, { terms, insert, remove, source }: PreparedChange): QuadChanges {
    const ids = this.#terms.find(space, terms);
    const loose = new Set<number>();
    const sources = new Set<number>();
    const removed = remove.length === 0 ? 0 : this.#quads.remove(space, knownQuads(ids, remove), loose, sources);
    this.#terms.make(space, terms, ids, insert);
    const inserted = insert.length === 0 ? 0 : this.#quads.insert(space, ids, insert, source);
    // Last, since inserted quads may use the removed terms.
    this.#terms.drop(space, loose);
    this.#quads.dropSources(space, sources);
    writeSpace(this.#statements, space);
    return { inserted, removed };
  }

  #removeSource(space: SpaceRow, source: string, limit: number): { removed: number; done: boolean } {
    const { orphans, done } = this.#quads.dropSource(space, source, limit);
    const loose = new Set<number>();
    const removed = this.#quads.remove(space, orphans, loose, new Set());
    this.#terms.drop(space, loose);
    writeSpace(this.#statements, space);
    return { removed, done };
  }

  #fence(key: SpaceKey): void {
    const space = readSpace(this.#statements, key);
    if (space === undefined) makeSpace(this.#statements, key, "fenced");
    else if (space.status === "open") writeSpace(this.#statements, { ...space, status: "fenced" });
  }

  #unfence(key: SpaceKey): void {
    const space = readSpace(this.#statements, key);
    requireRestorable(key.space, space?.status);
    if (space?.status === "fenced") writeSpace(this.#statements, { ...space, status: "open" });
  }

  #purge(key: SpaceKey, limit: number): { deleted: number; done: boolean } {
    const space = readSpace(this.#statements, key) ?? makeSpace(this.#statements, key, "purged");
    space.status = "purged";
    const supports = this.#quads.dropSupports(space, limit);
    let deleted = supports.dropped;
    deleted += this.#quads.dropQuads(space, limit - deleted);
    const terms = this.#statements.all<[number]>(
      "SELECT id FROM terms WHERE space = ? ORDER BY id LIMIT ? + 0",
      space.id,
      limit - deleted,
    );
    // While quads remain, so do the terms they use; a full step has no room for them.
    for (const [id] of terms) this.#terms.remove(space, id);
    deleted += terms.length;
    writeSpace(this.#statements, space);
    return { deleted, done: supports.done && space.triples + space.quads + space.terms === 0 };
  }
}

/** Only those whose terms are all known: no other can exist. */
function* knownQuads(ids: Float64Array, rows: Uint32Array): Generator<QuadIds> {
  for (let at = 0; at < rows.length; at += 4) {
    const quad = idsAt(ids, rows, at);
    if (quad[0] !== 0 && quad[1] !== 0 && quad[2] !== 0 && (quad[3] !== 0 || rows[at + 3] === 0)) yield quad;
  }
}
