/**
 * One container of Pinakes as used by this store: created on first use, read by key, scanned by index, changed conditionally on the etag
 * that was read.
 */
import {
  decodeId,
  encodeId,
  PinakesClientError,
  type BatchOperation,
  type BulkOperation,
  type ContainersApi,
  type ContainerSpec,
  type IndexQuery,
  type JsonObject,
  type PartitionKey,
} from "@pinakes/client";

export type Document = JsonObject & { readonly id: string };
type Versioned<Item> = Item & { readonly _etag: string; readonly _ts: number };

export interface Key {
  readonly pk: PartitionKey;
  readonly id: string;
}

const pageItems = 200;
const readManyKeysMax = 100;
const bulkOperationsMax = 1_000;
export const batchOperationsMax = 25;
/** Half of the batch limit, since engines count overheads differently. A larger document is sent alone. */
const batchBytesMax = 1_048_576;
/** Writers of one document take turns; more turns than this means that something else is wrong. */
const attemptsMax = 50;
const pauseMsMax = 50;

export class Container<Item extends Document> {
  readonly #api: ContainersApi;
  readonly #name: string;
  readonly #spec: ContainerSpec;
  #ready: Promise<unknown> | undefined;

  constructor(api: ContainersApi, name: string, spec: ContainerSpec) {
    this.#api = api;
    this.#name = name;
    this.#spec = spec;
  }

  /** Declares it, once per process; the next caller retries a failed declaration. */
  async ready(): Promise<void> {
    this.#ready ??= this.#api.put(this.#name, this.#spec).catch((error: unknown) => {
      this.#ready = undefined;
      throw error;
    });
    await this.#ready;
  }

  async read(key: Key): Promise<Versioned<Item> | null> {
    await this.ready();
    const { pk, id } = this.#stored(key);
    const found = await notFoundAsNull(this.#api.read(this.#name, pk, id));
    return found === null ? null : shown(found as unknown as Versioned<Item>);
  }

  /** In the order of the keys; null for missing items. */
  async readMany(keys: readonly Key[]): Promise<(Item | null)[]> {
    await this.ready();
    const found: (Item | null)[] = [];
    for (let i = 0; i < keys.length; i += readManyKeysMax) {
      const wanted = keys.slice(i, i + readManyKeysMax).map((key) => this.#stored(key));
      const { items } = await this.#api.readMany(this.#name, wanted);
      found.push(...items.map((item) => (item === null ? null : shown(item as unknown as Item))));
    }
    return found;
  }

  /** Replaces any existing item. */
  async put(item: Item): Promise<void> {
    await this.ready();
    await this.#api.upsert(this.#name, clean(item));
  }

  /**
   * Read-modify-write, conditional on the etag that was read; retried after a lost race. `change` gets null if there is no item, returns
   * undefined to change nothing, and may request another attempt with `startAgain`.
   */
  async modify(
    key: Key,
    change: (before: Item | null) => Item | undefined | Promise<Item | undefined>,
  ): Promise<Item | null> {
    for (let attempt = 1; ; attempt += 1) {
      const before = await this.read(key);
      try {
        const after = await change(before);
        if (after === undefined) return before;
        if (before === null) await this.#api.create(this.#name, clean(after));
        else await this.#api.replace(this.#name, clean(after), { ifMatch: before._etag });
        return after;
      } catch (error) {
        await this.#another(attempt, error);
      }
    }
  }

  async delete(key: Key): Promise<void> {
    await this.ready();
    const { pk, id } = this.#stored(key);
    await notFoundAsNull(this.#api.deleteItem(this.#name, pk, id));
  }

  /** The deleted item; null if there was none. */
  async take(key: Key): Promise<Item | null> {
    for (let attempt = 1; ; attempt += 1) {
      const before = await this.read(key);
      if (before === null) return null;
      try {
        const { pk, id } = this.#stored(key);
        await this.#api.deleteItem(this.#name, pk, id, { ifMatch: before._etag });
        return before;
      } catch (error) {
        await this.#another(attempt, error);
      }
    }
  }

  /** The key as stored; if the partition is the id, it is stored in the same form. */
  #stored({ pk, id }: Key): Key {
    const stored = encodeId(id);
    return { pk: this.#spec.partition_key === "/id" ? stored : pk, id: stored };
  }

  /** Throws errors other than lost races, and too many lost races. */
  async #another(attempt: number, error: unknown): Promise<void> {
    if (attempt === attemptsMax || !["CONFLICT", "PRECONDITION_FAILED", "NOT_FOUND"].includes(codeOf(error) ?? ""))
      throw error;
    await new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(pauseMsMax, attempt * 2)));
  }

  /** Several of one partition, in batches that are each all or nothing. */
  async putMany(pk: PartitionKey, items: readonly Item[]): Promise<void> {
    await this.ready();
    for (const batch of batches(items)) {
      const operations = batch.map((item): BatchOperation => ({ op: "upsert", document: clean(item) }));
      await this.#api.batch(this.#name, pk, operations);
    }
  }

  /** Several operations on any partitions, each independently. The first failure is thrown. */
  async putAnywhere(items: readonly Item[]): Promise<void> {
    await this.#bulk(items.map((item) => ({ op: "upsert", document: clean(item) })));
  }

  /** Existing items only. */
  async deleteAnywhere(keys: readonly Key[]): Promise<void> {
    await this.#bulk(keys.map((key) => ({ op: "delete", ...this.#stored(key) })));
  }

  async #bulk(operations: readonly BulkOperation[]): Promise<void> {
    await this.ready();
    for (let i = 0; i < operations.length; i += bulkOperationsMax) {
      const { lines } = await this.#api.bulk(this.#name, operations.slice(i, i + bulkOperationsMax));
      const failed = lines.find(({ error }) => error !== undefined && error.code !== "NOT_FOUND");
      if (failed?.error !== undefined) throw new PinakesClientError({ ...failed.error, status: failed.status });
    }
  }

  /** Items of one index (or of one partition, without), in its order. */
  async *walk(query: Omit<IndexQuery, "cursor" | "limit">): AsyncGenerator<Item> {
    await this.ready();
    let cursor: string | undefined;
    do {
      const page = await this.#api.query(this.#name, { ...query, limit: pageItems, cursor });
      yield* page.items.map((item) => shown(item as unknown as Item));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }

  async deletePartition(pk: PartitionKey): Promise<void> {
    await this.ready();
    await this.#api.deletePartition(this.#name, pk);
  }

  /** Everything in it. */
  async clear(): Promise<void> {
    await this.ready();
    await this.#api.delete(this.#name);
    this.#ready = undefined;
    await this.ready();
  }
}

export const startAgain = (detail: string): PinakesClientError =>
  new PinakesClientError({ code: "PRECONDITION_FAILED", status: 412, detail, retryable: true });

export const isStartAgain = (error: unknown): boolean => codeOf(error) === "PRECONDITION_FAILED";

function* batches<Item extends Document>(items: readonly Item[]): Generator<readonly Item[]> {
  let batch: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    const size = Buffer.byteLength(JSON.stringify(item));
    if (batch.length === batchOperationsMax || (batch.length > 0 && bytes + size > batchBytesMax)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(item);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

/** Without the fields that the store adds. */
function clean<Item extends Document>(item: Item): JsonObject & { readonly id: string } {
  const { _etag, _ts, ...rest } = item;
  return { ...(rest as unknown as JsonObject), id: encodeId(item.id) };
}

const shown = <Item extends Document>(item: Item): Item => ({ ...item, id: decodeId(item.id) });

async function notFoundAsNull<Result>(answer: Promise<Result>): Promise<Result | null> {
  try {
    return await answer;
  } catch (error) {
    if (codeOf(error) === "NOT_FOUND") return null;
    throw error;
  }
}

function codeOf(error: unknown): string | undefined {
  return typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : undefined;
}
