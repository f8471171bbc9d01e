/** Queues of the workspace, and what was given up in them. */
import { queryOptions } from "@tanstack/react-query";
import { get, path, post } from "./request.ts";

export interface Queue {
  readonly name: string;
  readonly waiting: number;
  readonly in_progress: number;
  readonly failed: number;
  /** Null where it cannot be known which dead letters are the workspace's own. */
  readonly dead: number | null;
  /** Why `dead` is null. */
  readonly dead_unknown?: string;
  readonly oldest_age_seconds: number | null;
}

export interface DeadLetter {
  readonly dead_id: string;
  /** Of the queue of documents. */
  readonly document_id?: string;
  /** Of a queue of the lifecycle or of the drop box: what was sent. */
  readonly message?: unknown;
  readonly cause: string;
  readonly reason: string | null;
  readonly dead_at: string;
  readonly failures: number;
}

export const queuesKey = ["queues"] as const;
const againMs = 5_000;

export function queuesOptions(enabled = true) {
  return queryOptions({
    queryKey: [...queuesKey, "list"],
    queryFn: async ({ signal }) => (await get<{ readonly items: readonly Queue[] }>("/v1/queues", { signal })).items,
    refetchInterval: againMs,
    enabled,
  });
}

export function deadLettersOptions(queue: string) {
  return queryOptions({
    queryKey: [...queuesKey, "dead", queue],
    queryFn: async ({ signal }) =>
      (await get<{ readonly items: readonly DeadLetter[] }>(path`/v1/queues/${queue}/dead`, { signal })).items,
  });
}

export type DeadAction = "redrive" | "discard";

export async function settleDeadLetter(queue: string, deadId: string, action: DeadAction): Promise<void> {
  await post(`${path`/v1/queues/${queue}/dead/${deadId}`}:${action}`);
}
