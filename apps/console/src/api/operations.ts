/** Deletes and archivings across all stores, their lag, and the alarms of the workspace. */
import type { AlarmState, DeletionLag, Operation, OperationStatus } from "@pinakes/client";
import { queryOptions } from "@tanstack/react-query";
import { pagedOptions } from "./page.ts";
import { get, path, post } from "./request.ts";

export interface OperationFilter {
  readonly status?: OperationStatus | undefined;
  readonly collection?: string | undefined;
}

export const operationListKey = ["operation-list"] as const;
const lagAgainMs = 5_000;
const againMs = 2_000;

export function operationListOptions({ status, collection }: OperationFilter) {
  return pagedOptions<Operation>(operationListKey, "/v1/operations", { status, collection });
}

export function readOperation(id: string, signal?: AbortSignal): Promise<Operation> {
  return get<Operation>(path`/v1/operations/${id}`, { signal });
}

export function operationDetailOptions(id: string) {
  return queryOptions({
    queryKey: ["operations", "detail", id],
    queryFn: ({ signal }) => readOperation(id, signal),
    refetchInterval: ({ state }) => (state.data?.status === "done" ? false : againMs),
  });
}

export function deletionLagOptions(enabled = true) {
  return queryOptions({
    queryKey: ["operations", "lag"],
    queryFn: ({ signal }) => get<DeletionLag>("/v1/operations:lag", { signal }),
    refetchInterval: lagAgainMs,
    enabled,
  });
}

export function retryOperation(id: string): Promise<Operation> {
  return post<Operation>(`${path`/v1/operations/${id}`}:retry`);
}

export function alarmsOptions(enabled: boolean) {
  return queryOptions({
    queryKey: ["operations", "alarms"],
    queryFn: async ({ signal }) =>
      (await get<{ readonly items: readonly AlarmState[] }>("/v1/alarms", { signal })).items,
    refetchInterval: lagAgainMs,
    enabled,
  });
}
