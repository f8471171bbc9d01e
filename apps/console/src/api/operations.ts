/** Deletes and archivings, as each store carries them out. */
import { queryOptions } from "@tanstack/react-query";
import { pagedOptions } from "./page.ts";
import { get, path, post } from "./request.ts";

export interface StoreReport {
  readonly store: string;
  readonly status: "waiting" | "sent" | "confirmed" | "left";
  readonly attempts: number;
  readonly deleted: number;
  /** Null: it was not counted yet. */
  readonly remaining: number | null;
  /** What both count. */
  readonly unit?: string;
  readonly duration_ms: number;
  readonly error: { readonly type: string; readonly message: string } | null;
  readonly next_at: string | null;
}

export const operationStatuses = ["running", "failed", "done"] as const;
export type OperationStatus = (typeof operationStatuses)[number];

export interface OperationRow {
  readonly operation_id: string;
  readonly action: string;
  readonly status: OperationStatus;
  /** Some store was left out. */
  readonly partial: boolean;
  readonly repository_id: string;
  readonly collection_id: string;
  readonly incarnation: string;
  readonly stores: readonly StoreReport[];
  readonly created_by: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly finished_at: string | null;
}

export interface DeletionLag {
  readonly unfinished: number;
  readonly failed: number;
  readonly lag_seconds: number;
  readonly limit_seconds: number;
  readonly oldest: {
    readonly operation_id: string;
    readonly repository_id: string;
    readonly collection_id: string;
    readonly created_at: string;
  } | null;
  readonly warning: string | null;
}

export interface OperationFilter {
  readonly status?: OperationStatus | undefined;
  readonly collection?: string | undefined;
}

export const operationListKey = ["operation-list"] as const;
const lagAgainMs = 5_000;
const againMs = 2_000;

export function operationListOptions({ status, collection }: OperationFilter) {
  return pagedOptions<OperationRow>(operationListKey, "/v1/operations", { status, collection });
}

export function readOperation(id: string, signal?: AbortSignal): Promise<OperationRow> {
  return get<OperationRow>(path`/v1/operations/${id}`, { signal });
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

export function retryOperation(id: string): Promise<OperationRow> {
  return post<OperationRow>(`${path`/v1/operations/${id}`}:retry`);
}
