import type { QueryClient } from "@tanstack/react-query";
import { jobListKey } from "./jobs.ts";
import { operationListKey } from "./operations.ts";

/** Invalidates all lists of jobs and operations after one was started. */
export async function refreshWork(client: QueryClient): Promise<void> {
  await Promise.all(
    [["jobs"], jobListKey, ["operations"], operationListKey].map((queryKey) => client.invalidateQueries({ queryKey })),
  );
}
