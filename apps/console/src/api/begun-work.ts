import type { QueryClient } from "@tanstack/react-query";
import { jobListKey } from "./jobs.ts";
import { operationListKey } from "./operations.ts";

/** A job began, or an operation: whatever lists them is read again when it is looked at. */
export async function showBegunWork(client: QueryClient): Promise<void> {
  await Promise.all(
    [["jobs"], jobListKey, ["operations"], operationListKey].map((queryKey) => client.invalidateQueries({ queryKey })),
  );
}
