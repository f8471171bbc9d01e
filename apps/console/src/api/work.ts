/** Long work that somebody started on a page, followed until it ends. Events make it quick; asking now and then makes it sure. */
import { queryOptions } from "@tanstack/react-query";
import { get, path } from "./request.ts";

export interface Job {
  readonly job_id: string;
  readonly kind: string;
  readonly status: "queued" | "running" | "succeeded" | "failed" | "cancelled";
  readonly progress: { readonly done: number; readonly total: number };
  readonly attempts: number;
  readonly error: string | null;
  readonly result: Readonly<Record<string, unknown>> | null;
  readonly updated_at: string;
}

export interface StoreDeletion {
  readonly store: string;
  readonly status: "waiting" | "sent" | "confirmed" | "left";
  readonly attempts: number;
  readonly deleted: number;
  readonly remaining: number;
  readonly error: { readonly type: string; readonly message: string } | null;
}

export interface Operation {
  readonly operation_id: string;
  readonly status: "running" | "failed" | "done";
  readonly partial: boolean;
  readonly stores: readonly StoreDeletion[];
}

const againMs = 2_000;

export function jobOptions(id: string) {
  return queryOptions({
    queryKey: ["jobs", "one", id],
    queryFn: ({ signal }) => get<Job>(path`/v1/jobs/${id}`, { signal }),
    refetchInterval: ({ state }) => (state.data?.status === "queued" || state.data?.status === "running" ? againMs : false),
  });
}

/** The job of a purge is also an operation, which says how far each store is. */
export function operationOptions(id: string) {
  return queryOptions({
    queryKey: ["operations", "one", id],
    queryFn: ({ signal }) => get<Operation>(path`/v1/operations/${id}`, { signal }),
    refetchInterval: ({ state }) => (state.data?.status === "done" ? false : againMs),
  });
}
