/** What the page knows of the server, kept while it is shown; asked again when an event says that it changed. */
import { QueryClient } from "@tanstack/react-query";
import { onHealed } from "../api/connection.ts";
import { onEvent, onMissed, type ServerEvent } from "../api/events.ts";
import { ProblemError } from "../api/problem.ts";

const triesMax = 2;
/** A thousand files that are indexed are thousands of events: what they make stale is read again once in so long. */
const flushMs = 700;

const stale = new Map<string, readonly string[]>();
let flushing: ReturnType<typeof setTimeout> | undefined;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // A reasoned refusal does not change by asking again.
      retry: (failures, error) => failures < triesMax && (!(error instanceof ProblemError) || error.problem.retryable === true),
      refetchOnWindowFocus: false,
      networkMode: "always",
    },
    mutations: { networkMode: "always" },
  },
});

onHealed(() => void queryClient.invalidateQueries());
onMissed(() => void queryClient.invalidateQueries());
onEvent((event) => {
  for (const key of staleKeys(event)) stale.set(JSON.stringify(key), key);
  flushing ??= setTimeout(flush, flushMs);
});

function flush(): void {
  flushing = undefined;
  const keys = [...stale.values()];
  stale.clear();
  for (const queryKey of keys) void queryClient.invalidateQueries({ queryKey });
}

const onTheWay: readonly unknown[] = ["uploading", "pending", "indexing"];

/** By convention a key begins with the kind of thing, then its repository and collection. */
function staleKeys({ type, resource: { repository_id, collection_id }, data }: ServerEvent): readonly (readonly string[])[] {
  if (type === "job.progress" || type === "job.done") return [["jobs"], ["operations"]];
  const of = [repository_id, collection_id].filter((id) => id !== undefined);
  if (type === "document.status")
    return [
      ["documents", ...of],
      ["collection", ...of],
      // What a document states is there when it is indexed. To look through a graph is much work, so not at each step on the way.
      ...(onTheWay.includes(data["status"]) ? [] : [["triples", ...of]]),
    ];
  return [["collections"], ["collection", ...of]];
}
