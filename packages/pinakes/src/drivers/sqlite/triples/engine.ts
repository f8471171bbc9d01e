/**
 * Triples in one SQLite file of their own, so that their writer never delays a commit of items. Four threads, as for items: pages are read
 * here on the main thread (microseconds, never an fsync), one writer with group commit, one reader for long counts, one checkpointer.
 */
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { PinakesError } from "../../../domain/errors.ts";
import type { Quad, TermText } from "../../../domain/rdf.ts";
import { threadScript } from "../../../runtime/thread.ts";
import type { ScrubReport } from "../../../ports/item-erasure.ts";
import type {
  QuadChanges,
  QuadPattern,
  SpaceUsage,
  Support,
  TripleStoreCapabilities,
} from "../../../ports/triple-store.ts";
import type {
  MatchRequest,
  MatchResult,
  PreparedChange,
  SourceRequest,
  SourceResult,
  SpaceKey,
  TripleEngine,
} from "../../../triples/triple-engine.ts";
import { tripleLimits } from "../../../triples/triple-limits.ts";
import { toPinakesError } from "../errors.ts";
import { openDatabase } from "../schema.ts";
import { startThread, type SqliteThread } from "../thread.ts";
import type { WriteRequest } from "./messages.ts";
import { TripleReader } from "./reader.ts";
import { createTripleTables } from "./schema.ts";
import { prepareFile } from "../prepare-file.ts";

/** Counts up to this limit run on the main thread. */
const smallCount = 1_000;
const writesWaitingMax = 10_000;

/** A request to the writer without its call number, which the thread assigns. */
type Unsent = WriteRequest extends infer Request
  ? Request extends WriteRequest
    ? Omit<Request, "call">
    : never
  : never;

export class SqliteTripleEngine implements TripleEngine {
  readonly capabilities: TripleStoreCapabilities = {
    engine: "sqlite",
    reads: "strong",
    atomicQuadsMax: tripleLimits.writeQuadsMax,
    durable: true,
  };
  readonly #db: DatabaseSync;
  readonly #pages: TripleReader;
  readonly #writer: SqliteThread;
  readonly #reader: SqliteThread;
  readonly #checkpointer: SqliteThread;
  #closing: Promise<void> | undefined;

  constructor({ dir, database }: { readonly dir: string; readonly database: string }) {
    const file = join(dir, `${database}-triples.sqlite`);
    prepareFile(dir, file, createTripleTables);
    this.#db = openDatabase(file, { readOnly: true });
    this.#pages = new TripleReader(this.#db);
    this.#writer = startThread(threadScript(import.meta.url, "writer-thread"), file);
    this.#reader = startThread(threadScript(import.meta.url, "reader-thread"), file);
    this.#checkpointer = startThread(threadScript(import.meta.url, "../checkpoint-thread"), file);
  }

  async open(key: SpaceKey): Promise<void> {
    await this.#write({ kind: "open", key });
  }

  write(key: SpaceKey, change: PreparedChange): Promise<QuadChanges> {
    return this.#write({ kind: "write", key, change });
  }

  removeSource(key: SpaceKey, source: string, limit: number): Promise<{ removed: number; done: boolean }> {
    return this.#write({ kind: "removeSource", key, source, limit });
  }

  match(key: SpaceKey, request: MatchRequest): MatchResult {
    return translated(() => this.#pages.match(key, request));
  }

  async count(key: SpaceKey, pattern: QuadPattern, max: number | undefined): Promise<number> {
    if (max !== undefined && max <= smallCount) return translated(() => this.#pages.count(key, pattern, max));
    return this.#reader.call((call) => ({ kind: "count", call, key, pattern, max }));
  }

  async supports(key: SpaceKey, quads: readonly Quad[], limit: number): Promise<Support[][]> {
    return translated(() => this.#pages.supports(key, quads, limit));
  }

  async asserted(key: SpaceKey, quads: readonly Quad[]): Promise<boolean[]> {
    return translated(() => this.#pages.asserted(key, quads));
  }

  async mayUse(key: SpaceKey, terms: readonly TermText[]): Promise<boolean[]> {
    return translated(() => this.#pages.mayUse(key, terms));
  }

  async ofSource(key: SpaceKey, request: SourceRequest): Promise<SourceResult> {
    return translated(() => this.#pages.ofSource(key, request));
  }

  async graphs(key: SpaceKey, after: string | undefined, limit: number) {
    return translated(() => this.#pages.graphs(key, after, limit));
  }

  async usage(key: SpaceKey): Promise<SpaceUsage> {
    return translated(() => this.#pages.usage(key));
  }

  async spaces(tenant: string, after: string, limit: number) {
    return translated(() => this.#pages.spaces(tenant, after, limit));
  }

  async scrub(): Promise<ScrubReport> {
    return { outcome: "rewritten", bytes: await this.#writer.call<number>((call) => ({ kind: "scrub", call })) };
  }

  async fence(key: SpaceKey): Promise<void> {
    await this.#write({ kind: "fence", key });
  }

  async unfence(key: SpaceKey): Promise<void> {
    await this.#write({ kind: "unfence", key });
  }

  purge(key: SpaceKey, limit: number): Promise<{ deleted: number; done: boolean }> {
    return this.#write({ kind: "purge", key, limit });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#writer.call((call) => ({ kind: "close", call }));
    await this.#reader.call((call) => ({ kind: "close", call }));
    await this.#checkpointer.call((call) => ({ kind: "close", call }));
    this.#db.close();
  }

  async #write<T>(request: Unsent): Promise<T> {
    if (this.#writer.waiting >= writesWaitingMax)
      throw new PinakesError(
        "UNAVAILABLE",
        `${writesWaitingMax} writes of triples are waiting for the disk; try again in a moment.`,
      );
    return this.#writer.call((call) => ({ ...request, call }));
  }
}

function translated<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw toPinakesError(error);
  }
}
