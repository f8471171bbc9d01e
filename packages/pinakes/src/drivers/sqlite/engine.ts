/**
 * Items in one SQLite file, on four threads: point reads and small pages here on the main thread (microseconds, never an fsync),
 * one writer with group commit, one reader for long scans and counts, one checkpointer.
 */
import { join } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { PinakesError } from "../../domain/errors.ts";
import { threadScript } from "../../runtime/thread.ts";
import { setImmediate } from "node:timers/promises";
import type { CompiledContainer, NormalDefinition } from "../../items/compiled-container.ts";
import {
  definitionChanged,
  tenantRange,
  type CommitOutcome,
  type FeedPage,
  type FeedRequest,
  type ItemEngine,
  type ScanRange,
  type ScanRequest,
  type ScanResult,
  type StoredItem,
  type StoredKey,
  type StoredRawItem,
  type TenantFilter,
} from "../../items/item-engine.ts";
import type { CommitRequest } from "../../items/plan-batch.ts";
import type { IndexStatus, ItemStoreCapabilities, OpenContainerOptions } from "../../ports/item-store.ts";
import type { ScrubReport } from "../../ports/item-erasure.ts";
import { encodeCommit, plainResults, type ForgottenStep } from "./messages.ts";
import { toPinakesError } from "./errors.ts";
import { RecentReads } from "./recent-reads.ts";
import { progressOf, Scanner } from "./scan.ts";
import {
  createMeta,
  loadContainer,
  openDatabase,
  readSigningKey,
  tableName,
  withTtl,
  type SqliteContainer,
} from "./schema.ts";
import { startThread, type SqliteThread } from "./thread.ts";
import { prepareFile } from "./prepare-file.ts";

/** Pages up to this size are read on the main thread; with the page's byte limit this bounds how long it is busy. */
const smallPageItems = 101;
const pauseBytes = 1_048_576;
const smallBytes = 4_096;
/** Up to this many items of a partition are read by one statement. */
const fewKeys = 4;
const writesWaitingMax = 10_000;
/** Maximum age of the definition that a point read uses; only another process can have changed it. */
const definitionMsMax = 500;

function getRow<Row>(statement: StatementSync, pk: string, idKey: string): Row | undefined {
  try {
    return statement.get(pk, idKey) as unknown as Row | undefined;
  } catch (error) {
    throw toPinakesError(error);
  }
}

interface PointStatements {
  readonly text: StatementSync;
  readonly few: StatementSync;
  readonly recentFew: RecentReads;
  readonly bytes: StatementSync;
}

export interface SqliteOptions {
  readonly dir: string;
  readonly database: string;
}

export class SqliteItemEngine implements ItemEngine {
  readonly capabilities: ItemStoreCapabilities = {
    engine: "sqlite",
    indexReads: "strong",
    batchOperationsMax: 100,
    durable: true,
  };
  readonly #db: DatabaseSync;
  readonly #scanner: Scanner;
  readonly #pointStatements = new Map<string, PointStatements>();
  readonly #writer: SqliteThread;
  readonly #reader: SqliteThread;
  readonly #checkpointer: SqliteThread;
  readonly #containers = new Map<string, SqliteContainer>();
  readonly #version: StatementSync;
  readonly #dataVersion: StatementSync;
  readonly #checkedAt = new Map<string, number>();
  #outbox: unknown[][] = [];
  #closing: Promise<void> | undefined;

  constructor({ dir, database }: SqliteOptions) {
    const file = join(dir, `${database}.sqlite`);
    prepareFile(dir, file, createMeta);
    this.#db = openDatabase(file, { readOnly: true });
    this.#scanner = new Scanner(this.#db);
    this.#version = this.#db.prepare("SELECT version FROM containers WHERE name = ?");
    this.#version.setReturnArrays(true);
    this.#dataVersion = this.#db.prepare("PRAGMA data_version");
    this.#dataVersion.setReturnArrays(true);
    this.#writer = startThread(threadScript(import.meta.url, "writer-thread"), file);
    this.#reader = startThread(threadScript(import.meta.url, "reader-thread"), file);
    this.#checkpointer = startThread(threadScript(import.meta.url, "checkpoint-thread"), file);
  }

  async signingKey(): Promise<Uint8Array> {
    return readSigningKey(this.#db);
  }

  async definitions(): Promise<readonly NormalDefinition[]> {
    const rows = this.#db.prepare("SELECT definition FROM containers").all();
    return rows.map(({ definition }) => JSON.parse(definition as string) as NormalDefinition);
  }

  /** In the order of their keys. */
  async dump(
    container: string,
    cursor: string | undefined,
    limit: number,
    tenant?: string,
  ): Promise<{ rows: readonly StoredItem[]; cursor?: string | undefined }> {
    const [lower, upper] = tenant === undefined ? ["", undefined] : tenantRange(tenant);
    const after = cursor === undefined ? [lower, ""] : (JSON.parse(cursor) as [string, string]);
    const sql = `SELECT pk, id AS idKey, etag, modified_at AS modifiedAt, ttl, doc AS json FROM ${tableName(container)} WHERE (pk, id) > (?, ?) ${upper === undefined ? "" : "AND pk < ?"} ORDER BY pk, id LIMIT ?`;
    const bounds = upper === undefined ? after : [...after, upper];
    const rows = this.#db.prepare(sql).all(...bounds, limit) as unknown as StoredItem[];
    const last = rows.length < limit ? undefined : rows.at(-1);
    return { rows, cursor: last === undefined ? undefined : JSON.stringify([last.pk, last.idKey]) };
  }

  async forgetFeed({ name }: CompiledContainer, tenant: string, keys: readonly StoredKey[]): Promise<number> {
    const wanted = keys.map(({ pk, idKey }) => [pk, idKey] as const);
    let forgotten = 0;
    for (let from = 0, done = false; !done;) {
      const step: ForgottenStep = await this.#writer.call((call) => ({
        kind: "forget",
        call,
        container: name,
        tenant,
        keys: wanted,
        from,
      }));
      forgotten += step.forgotten;
      ({ next: from, done } = step);
    }
    return forgotten;
  }

  /** Waits for readers of an older state, of which the log still has pages. */
  async scrub(): Promise<ScrubReport> {
    return { outcome: "rewritten", bytes: await this.#writer.call<number>((call) => ({ kind: "scrub", call })) };
  }

  async openContainer(definition: NormalDefinition, options: OpenContainerOptions): Promise<void> {
    await this.#writer.call((call) => ({ kind: "open", call, definition, options }));
    this.#containers.set(definition.name, loadContainer(this.#db, definition.name) as SqliteContainer);
  }

  container(name: string, fresh = false): CompiledContainer | undefined {
    const known = this.#containers.get(name);
    if (known === undefined) return undefined;
    const now = performance.now();
    // A plan needs the current definition; a point read only the ttl, for which a moment's delay is fine.
    if (!fresh && now - (this.#checkedAt.get(name) ?? 0) < definitionMsMax) return known.compiled;
    this.#checkedAt.set(name, now);
    const version = (this.#version.get(name) as unknown as [number] | undefined)?.[0];
    return version === known.compiled.version ? known.compiled : this.#refresh(name).compiled;
  }

  async indexes({ name }: CompiledContainer): Promise<readonly IndexStatus[]> {
    const container = this.#refresh(name);
    return Object.entries(container.indexes).map(([index, stored]) => ({
      name: index,
      state: stored.state,
      progress: progressOf(stored),
      ...(stored.error === undefined ? {} : { error: stored.error }),
    }));
  }

  read({ name }: CompiledContainer, { pk, idKey }: StoredKey): StoredItem | undefined {
    const row = getRow<[string, number, number | null, string]>(this.#points(name).text, pk, idKey);
    if (row === undefined) return undefined;
    return { pk, idKey, etag: row[0], modifiedAt: row[1], ttl: row[2], json: row[3] };
  }

  readRaw({ name }: CompiledContainer, { pk, idKey }: StoredKey): StoredRawItem | undefined {
    const row = getRow<[string, number, number | null, Uint8Array | string]>(this.#points(name).bytes, pk, idKey);
    if (row === undefined) return undefined;
    return {
      etag: row[0],
      modifiedAt: row[1],
      ttl: row[2],
      bytes: typeof row[3] === "string" ? Buffer.from(row[3], "utf8") : row[3],
    };
  }

  async readMany(
    container: CompiledContainer,
    keys: readonly StoredKey[],
  ): Promise<readonly (StoredItem | undefined)[]> {
    const [first] = keys;
    if (first !== undefined && keys.length <= fewKeys && keys.every(({ pk }) => pk === first.pk))
      return this.#readFew(container.name, first.pk, keys);
    const found: (StoredItem | undefined)[] = [];
    let bytes = 0;
    for (const key of keys) {
      const item = this.read(container, key);
      found.push(item);
      bytes += item?.json.length ?? 0;
      if (bytes < pauseBytes) continue;
      // Many large documents take a while; yields to the event loop in between.
      await setImmediate();
      if (this.#closing !== undefined)
        throw new PinakesError("UNAVAILABLE", "The store was closed.", { retryable: false });
      bytes = 0;
    }
    return found;
  }

  /** Some items of one partition by one statement: one read transaction instead of several, which is most of the cost of a small read. */
  #readFew(name: string, pk: string, keys: readonly StoredKey[]): readonly (StoredItem | undefined)[] {
    const { few, recentFew } = this.#points(name);
    try {
      const [version] = this.#dataVersion.get() as unknown as [number];
      const recent = recentFew.find(version, pk, keys);
      if (recent !== undefined) return recent;
      const ids = Array.from({ length: fewKeys }, (_, i) => keys[i]?.idKey ?? null);
      const rows = few.all(pk, ...ids) as unknown as [string, string, number, number | null, string][];
      const found = keys.map(({ idKey }) => {
        const row = rows.find(([id]) => id === idKey);
        return row === undefined
          ? undefined
          : { pk, idKey, etag: row[1], modifiedAt: row[2], ttl: row[3], json: row[4] };
      });
      recentFew.keep(version, pk, keys, found);
      return found;
    } catch (error) {
      throw toPinakesError(error);
    }
  }

  async commit({ name }: CompiledContainer, request: CommitRequest): Promise<CommitOutcome> {
    if (this.#writer.waiting >= writesWaitingMax) {
      throw new PinakesError("UNAVAILABLE", `More than ${writesWaitingMax} writes wait for the disk. Try again later.`);
    }
    const flat = encodeCommit({ call: 0, container: name, request });
    const { call, promise } = this.#writer.open<CommitOutcome | undefined>();
    flat[0] = call;
    if (this.#outbox.length === 0) globalThis.setImmediate(() => this.#flush());
    this.#outbox.push(flat);
    return (await promise) ?? { ok: true, results: plainResults(request) };
  }

  async scan({ name, version, ttl }: CompiledContainer, request: ScanRequest): Promise<ScanResult> {
    let known = this.#containers.get(name) as SqliteContainer;
    const { range } = request;
    // A build may have ended since our last check.
    if (range.kind === "index" && known.indexes[range.index]?.state === "building") known = this.#refresh(name);
    if (known.compiled.version !== version) throw definitionChanged(name);
    const small = request.limit < smallPageItems ? this.#scanSmall(withTtl(known, ttl), request) : undefined;
    return small ?? this.#reader.call((call) => ({ kind: "scan", call, container: name, version, request, ttl }));
  }

  async count({ name, version, ttl }: CompiledContainer, range: ScanRange, now: number): Promise<number> {
    return this.#reader.call((call) => ({ kind: "count", call, container: name, version, range, now, ttl }));
  }

  async changes({ name, version }: CompiledContainer, request: FeedRequest): Promise<FeedPage> {
    return this.#reader.call((call) => ({ kind: "changes", call, container: name, version, request }));
  }

  async trimFeed({ name }: CompiledContainer, before: number, limit: number): Promise<number> {
    return this.#writer.call((call) => ({ kind: "trim", call, container: name, before, limit }));
  }

  async expired(
    { name, version, ttl }: CompiledContainer,
    now: number,
    limit: number,
    tenants?: TenantFilter,
  ): Promise<readonly StoredKey[]> {
    return this.#reader.call((call) => ({ kind: "expired", call, container: name, version, now, limit, ttl, tenants }));
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

  #scanSmall(container: SqliteContainer, request: ScanRequest): ScanResult | undefined {
    try {
      return this.#scanner.scanSmall(container, request);
    } catch (error) {
      throw toPinakesError(error);
    }
  }

  /** The statements of point reads, by container: looking them up by their SQL would cost a third of the read. */
  #points(name: string): PointStatements {
    let statements = this.#pointStatements.get(name);
    if (statements === undefined) {
      const prepare = (doc: string, where = "id = ?") => {
        const statement = this.#db.prepare(
          `SELECT ${where === "id = ?" ? "" : "id, "}etag, modified_at, ttl, ${doc} FROM ${tableName(name)} WHERE pk = ? AND ${where}`,
        );
        statement.setReturnArrays(true);
        return statement;
      };
      // A small text becomes bytes faster in JavaScript, where Buffers share a pool; a large one in SQLite, where it is copied once less.
      const few = `id IN (${Array.from({ length: fewKeys }, () => "?").join(", ")})`;
      const bytes = `iif(octet_length(doc) < ${smallBytes}, doc, CAST(doc AS BLOB))`;
      statements = {
        text: prepare("doc"),
        few: prepare("doc", few),
        recentFew: new RecentReads(),
        bytes: prepare(bytes),
      };
      this.#pointStatements.set(name, statements);
    }
    return statements;
  }

  /** One message for all commits of this turn of the event loop. */
  #flush(): void {
    if (this.#outbox.length === 0) return;
    const commits = this.#outbox;
    this.#outbox = [];
    try {
      this.#writer.post({ kind: "commits", commits });
    } catch (error) {
      for (const [call] of commits) this.#writer.reject(call as number, error);
    }
  }

  #refresh(name: string): SqliteContainer {
    const container = loadContainer(this.#db, name) as SqliteContainer;
    this.#containers.set(name, container);
    return container;
  }
}
