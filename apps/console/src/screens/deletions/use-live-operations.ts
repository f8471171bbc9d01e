/** An operation shares its job's id: events of the job refetch the operation. */
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
    // A new one may not match the filters: the server decides.
    if (!known) return client.invalidateQueries({ queryKey: operationListKey });
    try {
      replaceInPages<Operation>(client, operationListKey, await readOperation(id), ({ operation_id }) => operation_id);
    } catch {
      // Deleted or unreachable: the list is refetched after a reconnect.
    }
  };
  useEvents(({ resource: { job_id }, data }) => {
    if (job_id !== undefined && isOperation(String(data["kind"]))) void look(job_id);
  });
}
