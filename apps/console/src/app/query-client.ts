/** The cache of server data, invalidated by events. */
import { QueryClient } from "@tanstack/react-query";
import { onHealed } from "../api/connection.ts";
import { onEvent, onMissed, type ServerEvent } from "../api/events.ts";
import { collectionRowId } from "../api/collections.ts";
import { ProblemError, UnreachableError } from "../api/problem.ts";
import { refetchChanged, refetchAll } from "../api/refetch.ts";
import { throttle } from "../lib/throttle.ts";

const triesMax = 2;
/** Indexing a thousand files causes thousands of events: stale data is refetched at most this often. */
const turns = { soonMs: 700, againMs: 2_000 };

interface Stale {
  readonly queryKey: readonly string[];
  /** Ids of changed rows, in lists. */
  readonly rows: Iterable<string>;
}

const stale = new Map<string, Stale>();

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, error) => failures < triesMax && mayPass(error),
      refetchOnWindowFocus: false,
      networkMode: "always",
    },
    mutations: { networkMode: "always" },
  },
});

/** A client error does not change on retry; and when the connection is restored, everything is refetched anyway. */
function mayPass(error: unknown): boolean {
  if (error instanceof UnreachableError) return false;
  return !(error instanceof ProblemError) || error.problem.retryable === true;
}

const readStale = throttle(async () => {
  const all = [...stale.values()];
  stale.clear();
  await Promise.all(
    all.map(async ({ queryKey, rows }) => {
      if (await refetchChanged(queryClient, queryKey, rows)) refetchSoon(queryKey);
    }),
  );
}, turns);

/** Schedules one refetch of all queries below this key; later events join it. */
export function refetchSoon(queryKey: readonly string[], rows: Iterable<string> = []): void {
  const key = JSON.stringify(queryKey);
  const known = stale.get(key)?.rows ?? [];
  stale.set(key, { queryKey, rows: new Set([...known, ...rows]) });
  readStale();
}

onHealed(() => void refetchAll(queryClient));
onMissed(() => void refetchAll(queryClient));
onEvent((event) => {
  for (const { queryKey, rows } of staleOf(event)) refetchSoon(queryKey, rows);
});

const onTheWay: readonly unknown[] = ["uploading", "pending", "indexing"];

/** By convention a key starts with the kind of resource, then its repository and collection. */
function staleOf({
  type,
  resource: { repository_id, collection_id, document_id },
  data,
}: ServerEvent): readonly Stale[] {
  if (type === "job.progress" || type === "job.done") return [whole("jobs"), whole("operations")];
  const of = [repository_id, collection_id].filter((id) => id !== undefined);
  if (type === "document.status")
    return [
      { queryKey: ["documents", ...of], rows: document_id === undefined ? [] : [document_id] },
      whole("collection", ...of),
      // Triples exist once a document is indexed. Graph queries are expensive, so progress events do not refetch them.
      ...(onTheWay.includes(data["status"]) ? [] : [whole("triples", ...of)]),
    ];
  const row =
    repository_id === undefined || collection_id === undefined
      ? []
      : [collectionRowId({ repository_id, collection_id })];
  return [{ queryKey: ["collections"], rows: row }, whole("collection", ...of)];
}

function whole(...queryKey: readonly string[]): Stale {
  return { queryKey, rows: [] };
}
