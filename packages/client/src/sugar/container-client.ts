/** One container, with the type of its documents. */
import type { IfMatch } from "../api/common.ts";
import type { ContainersApi, PatchOptions, PutContainerOptions } from "../api/containers-api.ts";
import type { LineResult, Page } from "../contract/common.ts";
import type {
  BatchOperation,
  BatchOutcome,
  BulkOperation,
  ContainerChange,
  ContainerInfo,
  ContainerSpec,
  IndexQuery,
  PartitionKey,
  PatchOperation,
  QueryPlan,
  SqlQuery,
  StoredDocument,
} from "../contract/containers.ts";
import type { Stored } from "../contract/state.ts";
import type { JsonObject } from "../json.ts";
import { NotFoundError } from "../errors.ts";
import { sleep } from "../waiting.ts";
import { listing, type Listing } from "./listing.ts";
import type { UpdateOptions, Updates } from "./update.ts";

export interface FollowChanges {
  /** The `cursor` of the last change that was dealt with. Absent: see `from`. */
  readonly since?: string | undefined;
  /** Without `since`: all retained changes (the default), or changes from now on. */
  readonly from?: "oldest" | "now" | undefined;
  readonly mode?: "latest" | "all" | undefined;
  /** Ends the iteration, without an error. */
  readonly signal?: AbortSignal | undefined;
  /** Polling interval if there are no changes. Default 1,000. */
  readonly pollMs?: number | undefined;
}
export interface FollowedChange<Item> extends Omit<ContainerChange, "document"> {
  readonly document?: Stored<Item>;
  /** Continues with the changes before this one, or with this one: none is missed, the last ones may be repeated. */
  readonly cursor: string | undefined;
}

export interface ContainerClient<Item extends object> {
  readonly name: string;
  /** Creates it, or changes its indexes and time to live. The same again changes nothing. */
  define(spec: ContainerSpec, options?: PutContainerOptions): Promise<ContainerInfo>;
  info(): Promise<ContainerInfo>;
  /** The container with everything in it. */
  drop(): Promise<void>;
  create(document: Item): Promise<Stored<Item>>;
  upsert(document: Item, options?: IfMatch): Promise<Stored<Item>>;
  replace(document: Item, options?: IfMatch): Promise<Stored<Item>>;
  read(pk: PartitionKey, id: string): Promise<Stored<Item>>;
  /** Undefined if it does not exist. */
  find(pk: PartitionKey, id: string): Promise<Stored<Item> | undefined>;
  readMany(
    keys: readonly { readonly pk: PartitionKey; readonly id: string }[],
  ): Promise<readonly (Stored<Item> | null)[]>;
  patch(
    pk: PartitionKey,
    id: string,
    operations: readonly PatchOperation[],
    options?: PatchOptions,
  ): Promise<Stored<Item>>;
  /** Read-modify-write: after a lost race the function is called again, so it must have no side effects. */
  update(
    pk: PartitionKey,
    id: string,
    change: (document: Stored<Item>) => Item | Promise<Item>,
    options?: UpdateOptions,
  ): Promise<Stored<Item>>;
  delete(pk: PartitionKey, id: string, options?: IfMatch): Promise<void>;
  batch(pk: PartitionKey, operations: readonly BatchOperation[]): Promise<readonly BatchOutcome[]>;
  bulk(
    operations: readonly BulkOperation[],
  ): Promise<{ readonly succeeded: number; readonly failed: number; readonly lines: readonly LineResult[] }>;
  /** Documents, or the results of SELECT. */
  query<Row = Stored<Item>>(query: IndexQuery | SqlQuery | string): Listing<Row>;
  explain(query: IndexQuery | SqlQuery | string): Promise<QueryPlan>;
  /** All changes, then those to come, until the signal. */
  changes(options?: FollowChanges): AsyncGenerator<FollowedChange<Item>, void>;
  deletePartition(pk: PartitionKey): Promise<{ readonly deleted: number }>;
}

const pollMsDefault = 1_000;

export function containerClient<Item extends object>(
  api: ContainersApi,
  name: string,
  updates: Updates,
): ContainerClient<Item> {
  const typed = (document: StoredDocument): Stored<Item> => document as unknown as Stored<Item>;
  const plain = (document: Item): JsonObject & { readonly id: string } =>
    document as unknown as JsonObject & { readonly id: string };
  const asQuery = (query: IndexQuery | SqlQuery | string): IndexQuery | SqlQuery =>
    typeof query === "string" ? { query } : query;
  const find = (pk: PartitionKey, id: string): Promise<Stored<Item> | undefined> =>
    api.read(name, pk, id).then(typed, (error: unknown) => {
      if (NotFoundError.isInstance(error)) return undefined;
      throw error;
    });
  return {
    name,
    define: (spec, options) => api.put(name, spec, options),
    info: () => api.get(name),
    drop: () => api.delete(name),
    create: async (document) => typed(await api.create(name, plain(document))),
    upsert: async (document, options) => typed(await api.upsert(name, plain(document), options)),
    replace: async (document, options) => typed(await api.replace(name, plain(document), options)),
    read: async (pk, id) => typed(await api.read(name, pk, id)),
    find,
    readMany: async (keys) => (await api.readMany(name, keys)).items as unknown as readonly (Stored<Item> | null)[],
    patch: async (pk, id, operations, options) => typed(await api.patch(name, pk, id, operations, options)),
    update: (pk, id, change, options) =>
      updates.run(
        JSON.stringify([name, pk, id]),
        {
          read: async () => typed(await api.read(name, pk, id)),
          write: async (before) =>
            typed(await api.replace(name, plain(await change(before)), { ifMatch: before._etag })),
        },
        options,
      ),
    delete: (pk, id, options) => api.deleteItem(name, pk, id, options),
    batch: async (pk, operations) => (await api.batch(name, pk, operations)).results,
    bulk: (operations) => api.bulk(name, operations),
    query: <Row>(query: IndexQuery | SqlQuery | string) => {
      const { limit, cursor, ...rest } = asQuery(query);
      return listing<Row>(async (paging) => (await api.query(name, { ...rest, ...paging })) as Page<Row>, {
        limit,
        cursor,
      });
    },
    explain: (query) => api.explain(name, asQuery(query)),
    changes: (options) => changes<Item>(api, name, options),
    deletePartition: (pk) => api.deletePartition(name, pk),
  };
}

async function* changes<Item>(
  api: ContainersApi,
  name: string,
  options: FollowChanges = {},
): AsyncGenerator<FollowedChange<Item>, void> {
  const { from, mode, signal, pollMs = pollMsDefault } = options;
  let cursor = options.since;
  const stopped = (): boolean => signal?.aborted === true;
  while (!stopped()) {
    const page = await api.changes(name, { mode, ...(cursor === undefined ? { from } : { cursor }) });
    for (const [i, change] of page.items.entries()) {
      if (stopped()) return;
      const last = i === page.items.length - 1;
      yield { ...change, cursor: last ? page.cursor : cursor } as unknown as FollowedChange<Item>;
    }
    cursor = page.cursor;
    // The signal ends the waiting; the loop then sees it.
    if (!page.more) await sleep(pollMs, signal).catch(() => {});
  }
}
