/** Stored values as items: one partition per namespace, and an index over all of them by namespace. */
import type { BatchOperation, ContainerSpec, IndexQuery, StoredDocument } from "@pinakes/client";
import type { Item, PutOperation } from "@langchain/langgraph-checkpoint";
import { errorCode, type OwnContainer } from "../source.ts";
import { afterPath, keyId, namespacePath } from "./namespaces.ts";

export interface StoredItem {
  readonly id: string;
  readonly ns: string;
  readonly namespace: string[];
  readonly key: string;
  readonly value: Record<string, unknown>;
  readonly created_at: string;
  readonly updated_at: string;
  readonly vectors?: readonly string[];
}

export const storeSpec: ContainerSpec = {
  partition_key: "/ns",
  indexes: { by_namespace: { partition: [], sort: ["/ns"] } },
};

const readManyKeysMax = 100;
const batchOperationsMax = 25;
/** As JSON; a request to a server is limited to 1 MiB. */
const batchCharsMax = 700_000;
const pageItemsMax = 500;

export class StoreItems {
  readonly #container: OwnContainer;

  constructor(container: OwnContainer) {
    this.#container = container;
  }

  async readMany(
    places: readonly { readonly namespace: readonly string[]; readonly key: string }[],
  ): Promise<(StoredItem | undefined)[]> {
    const api = await this.#container.open();
    const found: (StoredItem | undefined)[] = [];
    for (let at = 0; at < places.length; at += readManyKeysMax) {
      const keys = places
        .slice(at, at + readManyKeysMax)
        .map(({ namespace, key }) => ({ pk: namespacePath(namespace), id: keyId(key) }));
      const { items } = await api.readMany(this.#container.name, keys);
      found.push(...items.map((item) => (item === null ? undefined : (item as unknown as StoredItem))));
    }
    return found;
  }

  /** Values of the namespace itself, then those below it, in key order. */
  async *under(prefix: readonly string[]): AsyncGenerator<StoredItem, void> {
    const path = namespacePath(prefix);
    if (path === "") {
      yield* this.#pages({ index: "by_namespace", equals: {} });
      return;
    }
    // Its own from the partition, which shows every write at once; an index may be late on some engines.
    yield* this.#pages({ equals: { ns: path } });
    yield* this.#pages({ index: "by_namespace", equals: {}, range: { gt: path, lt: afterPath(path) } });
  }

  /** Each namespace that has something, in order; those under a prefix. */
  async *namespaces(prefix: readonly string[]): AsyncGenerator<string[], void> {
    const api = await this.#container.open();
    const path = namespacePath(prefix);
    const end = path === "" ? {} : { lt: afterPath(path) };
    let last: string | undefined;
    for (let more = true; more;) {
      const range = { ...end, ...(last === undefined ? { gte: path } : { gt: last }) };
      const page = await api.query(this.#container.name, {
        index: "by_namespace",
        equals: {},
        range,
        limit: pageItemsMax,
      });
      for (const item of page.items as unknown as readonly StoredItem[]) {
        if (item.ns === last) continue;
        last = item.ns;
        yield item.namespace;
      }
      // The next page starts after the last namespace, however many more values it has.
      more = page.next_cursor !== null && page.items.length > 0;
    }
  }

  /** Each with its stored value and, for writes, its vectors. */
  async write(
    writes: readonly {
      readonly put: PutOperation;
      readonly stored: StoredItem | undefined;
      readonly vectors: readonly string[];
    }[],
  ): Promise<void> {
    const now = new Date().toISOString();
    const partitions = Map.groupBy(
      writes.filter(({ put, stored }) => put.value !== null || stored !== undefined),
      ({ put }) => namespacePath(put.namespace),
    );
    for (const [ns, list] of partitions) {
      const operations = list.map(({ put, stored, vectors }): BatchOperation => {
        const { namespace, key, value } = put;
        if (value === null) return { op: "delete", id: keyId(key) };
        const document = {
          id: keyId(key),
          ns,
          namespace,
          key,
          value: plain(value),
          created_at: stored?.created_at ?? now,
          updated_at: now,
        };
        return { op: "upsert", document: { ...document, ...(vectors.length === 0 ? {} : { vectors }) } };
      });
      for (const batch of inBatches(operations)) await this.#batch(ns, batch);
    }
  }

  async #batch(ns: string, operations: readonly BatchOperation[]): Promise<void> {
    const api = await this.#container.open();
    try {
      await api.batch(this.#container.name, ns, operations);
    } catch (error) {
      // Deleted concurrently, which is the requested outcome.
      if (errorCode(error) !== "NOT_FOUND") throw error;
      if (operations.length > 1) for (const operation of operations) await this.#batch(ns, [operation]);
    }
  }

  async *#pages(query: IndexQuery): AsyncGenerator<StoredItem, void> {
    const api = await this.#container.open();
    let cursor: string | undefined;
    do {
      const page = await api.query(this.#container.name, { ...query, limit: pageItemsMax, cursor });
      yield* page.items as unknown as readonly StoredItem[];
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }
}

export function toItem({ namespace, key, value, created_at, updated_at }: StoredItem): Item {
  return { namespace, key, value, createdAt: new Date(created_at), updatedAt: new Date(updated_at) };
}

/** As JSON serialises it: dates become strings, functions and undefined are dropped. */
function plain(value: Record<string, unknown>): StoredDocument {
  return JSON.parse(JSON.stringify(value)) as StoredDocument;
}

function inBatches(operations: readonly BatchOperation[]): BatchOperation[][] {
  const batches: BatchOperation[][] = [];
  let chars = Number.POSITIVE_INFINITY;
  for (const operation of operations) {
    const size = JSON.stringify(operation).length;
    const last = batches.at(-1);
    if (last === undefined || last.length >= batchOperationsMax || chars + size > batchCharsMax) {
      batches.push([operation]);
      chars = size;
    } else {
      last.push(operation);
      chars += size;
    }
  }
  return batches;
}
