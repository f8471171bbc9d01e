import type { DeadLetter, Queue } from "@pinakes/client";
import { queryOptions } from "@tanstack/react-query";
import { get, path, post } from "./request.ts";

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
