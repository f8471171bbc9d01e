/** What the page knows of the server, kept while it is shown; asked again when an event says that it changed. */
import { QueryClient } from "@tanstack/react-query";
import { onHealed } from "../api/connection.ts";
import { onEvent, type ServerEvent } from "../api/events.ts";
import { ProblemError } from "../api/problem.ts";

const triesMax = 2;

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
onEvent((event) => {
  for (const queryKey of staleKeys(event)) void queryClient.invalidateQueries({ queryKey });
});

/** By convention a key begins with the kind of thing, then its repository and collection. */
function staleKeys({ type, resource: { repository_id, collection_id } }: ServerEvent): readonly (readonly string[])[] {
  if (type === "job.progress" || type === "job.done") return [["jobs"], ["operations"]];
  const of = [repository_id, collection_id].filter((id) => id !== undefined);
  if (type === "document.status")
    return [
      ["documents", ...of],
      ["collection", ...of],
    ];
  return [["collections"], ["collection", ...of]];
}
