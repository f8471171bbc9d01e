/** The job of an operation has its id: what happens to the job is the time to look at the operation again. */
import type { Operation } from "@pinakes/client";
import { useQueryClient } from "@tanstack/react-query";
import { useEvents } from "../../api/events.ts";
import { isOperation } from "../../api/jobs.ts";
import { operationListKey, readOperation } from "../../api/operations.ts";
import { itemsInPages, replaceInPages } from "../../api/pages-cache.ts";

export function useLiveOperations(): void {
  const client = useQueryClient();
  const look = async (id: string) => {
    const known = itemsInPages<Operation>(client, operationListKey).some(({ operation_id }) => operation_id === id);
    // A new one may not fit the filters: the server decides.
    if (!known) return client.invalidateQueries({ queryKey: operationListKey });
    try {
      replaceInPages<Operation>(client, operationListKey, await readOperation(id), ({ operation_id }) => operation_id);
    } catch {
      // Gone since, or no answer: then the list as a whole is read again when the connection is back.
    }
  };
  useEvents(({ resource: { job_id }, data }) => {
    if (job_id !== undefined && isOperation(String(data["kind"]))) void look(job_id);
  });
}
