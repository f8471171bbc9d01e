/**
 * Items in one SQLite file, on four threads: point reads and small pages here on the main thread (microseconds, never an fsync),
 * one writer with group commit, one reader for long scans and counts, one checkpointer.
 */
import { mkdirSync } from "node:fs";
import { extname, join } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { PinakesError } from "../../domain/errors.ts";
import { setImmediate } from "node:timers/promises";
import type { CompiledContainer, NormalDefinition } from "../../items/compiled-container.ts";
import type {
  CommitOutcome,
  FeedPage,
  FeedRequest,
  ItemEngine,
  ScanRange,
  ScanRequest,
  ScanResult,
  StoredItem,
  StoredKey,
  StoredRawItem,
} from "../../items/item-engine.ts";
import type { CommitRequest } from "../../items/plan-batch.ts";
import type { IndexStatus, ItemStoreCapabilities, OpenContainerOptions } from "../../ports/item-store.ts";
import { encodeCommit, plainResults } from "./messages.ts";
import { progressOf, Scanner } from "./scan.ts";
import { createMeta, loadContainer, openDatabase, readSigningKey, tableName, type SqliteContainer } from "./schema.ts";
import { Thread } from "./thread.ts";

/** Pages up to this size are read on the main thread; with the page's byte limit this bounds how long it is busy. */
const smallPageItems = 101;
const pauseBytes = 1_048_576;

/** A thread's script beside this file: source here, compiled in the published package. */
const script = (thread: string): URL => new URL(`./${thread}-thread${extname(import.meta.url)}`, import.meta.url);

function prepareFile(dir: string, file: string): void {
  try {
    mkdirSync(dir, { recursive: true });
    const db = openDatabase(file);
    createMeta(db);
    db.close();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new PinakesError(
      "UNAVAILABLE",
      `The SQLite file ${file} cannot be opened: ${reason}. It must be a database of Pinakes in a folder that this process may write to.`,
      { cause: error, retryable: false },
    );
  }
}

interface PointStatements {
  readonly text: StatementSync;
  readonly bytes: StatementSync;
}

export interface SqliteOptions {
  readonly dir: string;
  readonly database: string;
}

export class SqliteItemEngine implements ItemEngine {
  readonly capabilities: ItemStoreCapabilities = { engine: "sqlite", indexReads: "strong", batchOperationsMax: 100, durable: true };
  readonly #db: DatabaseSync;
  readonly #scanner: Scanner;
  readonly #pointStatements = new Map<string, PointStatements>();
  readonly #writer: Thread;
  readonly #reader: Thread;
  readonly #checkpointer: Thread;
  readonly #containers = new Map<string, SqliteContainer>();
  #outbox: unknown[][] = [];
  #closing: Promise<void> | undefined;

  constructor({ dir, database }: SqliteOptions) {
    const file = join(dir, `${database}.sqlite`);
    prepareFile(dir, file);
    this.#db = openDatabase(file, { readOnly: true });
    this.#scanner = new Scanner(this.#db);
    this.#writer = new Thread(script("writer"), file);
    this.#reader = new Thread(script("reader"), file);
    this.#checkpointer = new Thread(script("checkpoint"), file);
  }

  async signingKey(): Promise<Uint8Array> {
    return readSigningKey(this.#db);
  }

  async openContainer(definition: NormalDefinition, options: OpenContainerOptions): Promise<void> {
    await this.#writer.call((call) => ({ kind: "open", call, definition, options }));
    this.#containers.set(definition.name, loadContainer(this.#db, definition.name) as SqliteContainer);
  }

  container(name: string): CompiledContainer | undefined {
    return this.#containers.get(name)?.compiled;
  }

  async indexes({ name }: CompiledContainer): Promise<readonly IndexStatus[]> {
    const container = this.#refresh(name);
    return Object.entries(container.indexes).map(([index, stored]) => ({ name: index, state: stored.state, progress: progressOf(stored) }));
  }

  read({ name }: CompiledContainer, { pk, idKey }: StoredKey): StoredItem | undefined {
    const row = this.#points(name).text.get(pk, idKey) as unknown as [string, number, number | null, string] | undefined;
    if (row === undefined) return undefined;
    return { pk, idKey, etag: row[0], modifiedAt: row[1], ttl: row[2], json: row[3] };
  }

  readRaw({ name }: CompiledContainer, { pk, idKey }: StoredKey): StoredRawItem | undefined {
    const row = this.#points(name).bytes.get(pk, idKey) as unknown as [string, number, number | null, Uint8Array] | undefined;
    if (row === undefined) return undefined;
    return { etag: row[0], modifiedAt: row[1], ttl: row[2], bytes: row[3] };
  }

  async readMany(container: CompiledContainer, keys: readonly StoredKey[]): Promise<readonly (StoredItem | undefined)[]> {
    const found: (StoredItem | undefined)[] = [];
    let bytes = 0;
    for (const key of keys) {
      const item = this.read(container, key);
      found.push(item);
      bytes += item?.json.length ?? 0;
      if (bytes < pauseBytes) continue;
      // A thousand large documents take a while; others get their turn in between.
      await setImmediate();
      bytes = 0;
    }
    return found;
  }

  async commit({ name }: CompiledContainer, request: CommitRequest): Promise<CommitOutcome> {
    const { call, promise } = this.#writer.open<CommitOutcome | undefined>();
    if (this.#outbox.length === 0) globalThis.setImmediate(() => this.#flush());
    this.#outbox.push(encodeCommit({ call, container: name, request }));
    return (await promise) ?? { ok: true, results: plainResults(request) };
  }

  async scan({ name }: CompiledContainer, request: ScanRequest): Promise<ScanResult> {
    if (request.limit < smallPageItems) return this.#scanner.scan(this.#containers.get(name) as SqliteContainer, request);
    return this.#reader.call((call) => ({ kind: "scan", call, container: name, request }));
  }

  async count({ name }: CompiledContainer, range: ScanRange, now: number): Promise<number> {
    return this.#reader.call((call) => ({ kind: "count", call, container: name, range, now }));
  }

  async changes({ name }: CompiledContainer, request: FeedRequest): Promise<FeedPage> {
    return this.#reader.call((call) => ({ kind: "changes", call, container: name, request }));
  }

  async trimFeed({ name }: CompiledContainer, before: number, limit: number): Promise<number> {
    return this.#writer.call((call) => ({ kind: "trim", call, container: name, before, limit }));
  }

  async expired({ name }: CompiledContainer, now: number, limit: number): Promise<readonly StoredKey[]> {
    return this.#reader.call((call) => ({ kind: "expired", call, container: name, now, limit }));
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#flush();
    await this.#writer.call((call) => ({ kind: "close", call }));
    await this.#reader.call((call) => ({ kind: "close", call }));
    await this.#checkpointer.call((call) => ({ kind: "close", call }));
    this.#db.close();
    this.#containers.clear();
  }

  /** The statements of point reads, by container: looking them up by their SQL would cost a third of the read. */
  #points(name: string): PointStatements {
    let statements = this.#pointStatements.get(name);
    if (statements === undefined) {
      const prepare = (doc: string) => {
        const statement = this.#db.prepare(`SELECT etag, modified_at, ttl, ${doc} FROM ${tableName(name)} WHERE pk = ? AND id = ?`);
        statement.setReturnArrays(true);
        return statement;
      };
      statements = { text: prepare("doc"), bytes: prepare("CAST(doc AS BLOB)") };
      this.#pointStatements.set(name, statements);
    }
    return statements;
  }

  /** One message for all commits of this turn of the event loop. */
  #flush(): void {
    if (this.#outbox.length === 0) return;
    this.#writer.post({ kind: "commits", commits: this.#outbox });
    this.#outbox = [];
  }

  #refresh(name: string): SqliteContainer {
    const container = loadContainer(this.#db, name) as SqliteContainer;
    this.#containers.set(name, container);
    return container;
  }
}
