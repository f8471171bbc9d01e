import type {
  ChangesPage,
  ContainerInfo,
  IndexState,
  JsonObject,
  PartitionKeyValue,
  QueryPage,
  QueryPlan,
} from "@pinakes/client";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { get, path, post, request } from "./request.ts";

export interface ItemKey {
  readonly container: string;
  readonly id: string;
  /** As a query parameter: a string unchanged, anything else as a JSON list. */
  readonly pk: string;
}

/** Ten thousand items take twenty requests; the server limits the bytes. */
const pageSize = 500;

export const containersOptions = queryOptions({
  queryKey: ["containers"],
  queryFn: ({ signal }) => get<{ readonly items: readonly ContainerInfo[] }>("/v1/containers", { signal }),
});

export function containerOptions(name: string) {
  return queryOptions({
    queryKey: ["containers", name],
    queryFn: ({ signal }) => get<ContainerInfo>(path`/v1/containers/${name}`, { signal }),
  });
}

export function indexesOptions(name: string) {
  return queryOptions({
    queryKey: ["containers", name, "indexes"],
    queryFn: ({ signal }) =>
      get<{ readonly items: readonly IndexState[] }>(path`/v1/containers/${name}/indexes`, { signal }),
  });
}

export interface SqlQuestion {
  readonly query: string;
  readonly pk?: PartitionKeyValue | readonly PartitionKeyValue[] | undefined;
}

export function sqlOptions(name: string, question: SqlQuestion | undefined) {
  return infiniteQueryOptions({
    queryKey: ["containers", name, "query", question],
    queryFn: ({ pageParam, signal }) =>
      post<QueryPage>(
        path`/v1/containers/${name}/query`,
        { ...question, limit: pageSize, cursor: pageParam },
        { signal },
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page: QueryPage) => page.next_cursor ?? undefined,
    select: ({ pages }) => ({ items: pages.flatMap(({ items }) => items), advice: pages[0]?.advice }),
    enabled: question !== undefined,
  });
}

export function explainOptions(name: string, question: SqlQuestion | undefined) {
  return queryOptions({
    queryKey: ["containers", name, "explain", question],
    queryFn: ({ signal }) => post<QueryPlan>(path`/v1/containers/${name}/query:explain`, question, { signal }),
    enabled: question !== undefined,
  });
}

export function changesOptions(name: string) {
  return infiniteQueryOptions({
    queryKey: ["containers", name, "changes"],
    queryFn: ({ pageParam, signal }) =>
      get<ChangesPage>(path`/v1/containers/${name}/changes`, {
        query: { mode: "all", from: "oldest", limit: pageSize, cursor: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ more, cursor }: ChangesPage) => (more ? cursor : undefined),
    select: ({ pages }) => ({ items: pages.flatMap(({ items }) => items) }),
  });
}

/** For a stream: new changes, deletes included. */
export function changesStream(name: string): string {
  return `${path`/v1/containers/${name}/changes`}?mode=all&from=now`;
}

export function itemOptions(key: ItemKey) {
  return queryOptions({
    queryKey: ["containers", key.container, "item", key.pk, key.id],
    queryFn: ({ signal }) => readItem(key, signal),
    // An item in the editor is not refetched: a conflict is reported on save.
    staleTime: Infinity,
    gcTime: 0,
  });
}

export function readItem({ container, id, pk }: ItemKey, signal?: AbortSignal): Promise<JsonObject> {
  return get<JsonObject>(path`/v1/containers/${container}/items/${id}`, { query: { pk }, signal });
}

export async function replaceItem(
  { container, id, pk }: ItemKey,
  document: JsonObject,
  etag: string,
): Promise<JsonObject> {
  return (
    await request<JsonObject>("PUT", path`/v1/containers/${container}/items/${id}`, {
      query: { pk },
      body: document,
      ifMatch: `"${etag}"`,
    })
  ).body;
}

export function createItem(container: string, document: JsonObject): Promise<JsonObject> {
  return post<JsonObject>(path`/v1/containers/${container}/items`, document);
}

export async function deleteItem({ container, id, pk }: ItemKey, etag: string): Promise<void> {
  await request("DELETE", path`/v1/containers/${container}/items/${id}`, { query: { pk }, ifMatch: `"${etag}"` });
}

/** Creates only: without the condition, the call would change the indexes of an existing container. 412 if it exists. */
export async function createContainer(name: string, partitionKey: readonly string[]): Promise<void> {
  const partition_key = partitionKey.length === 1 ? partitionKey[0] : partitionKey;
  await request("PUT", path`/v1/containers/${name}`, { body: { partition_key }, headers: { "if-none-match": "*" } });
}

export async function deleteContainer(name: string): Promise<void> {
  await request("DELETE", path`/v1/containers/${name}`);
}
