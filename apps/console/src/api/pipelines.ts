/** Pipelines: a collection kept in step with a folder or a bucket. */
import { queryOptions } from "@tanstack/react-query";
import { collectionPath, type CollectionId } from "./collections.ts";
import type { Page } from "./page.ts";
import { get, post, request } from "./request.ts";
import type { JobRow } from "./jobs.ts";

export interface Pipeline {
  readonly pipeline_id: string;
  readonly trigger: "event" | "schedule";
  readonly source: string;
  readonly schedule: string | null;
  readonly auto_remove: boolean;
  readonly max_removal_share: number;
  readonly created_at: string;
  readonly next_run_at: string | null;
}

export interface NewPipeline {
  readonly trigger: Pipeline["trigger"];
  readonly source: string;
  readonly schedule?: string;
  readonly auto_remove: boolean;
  readonly max_removal_share?: number;
}

export interface PipelinePlan {
  readonly counts: Readonly<Record<"add" | "replace" | "remove" | "keep" | "unchanged" | "skipped", number>>;
  readonly add: readonly string[];
  readonly replace: readonly string[];
  readonly remove: readonly string[];
  readonly keep: readonly string[];
  readonly skipped: readonly { readonly uri: string; readonly reason: string }[];
  /** Why a run would refuse this without force. */
  readonly blocked: string | null;
}

export function pipelinesOptions(id: CollectionId) {
  return queryOptions({
    queryKey: ["collection", id.rid, id.cid, "pipelines"],
    queryFn: async ({ signal }) => (await get<Page<Pipeline>>(allPath(id), { signal })).items,
  });
}

export function planOptions(id: CollectionId, pid: string) {
  return queryOptions({
    queryKey: ["pipeline-plan", id.rid, id.cid, pid],
    queryFn: ({ signal }) => post<PipelinePlan>(`${onePath(id, pid)}:plan`, undefined, { signal }),
    // The folder may have changed since: a plan is made anew each time it is looked at.
    gcTime: 0,
    retry: false,
  });
}

export function createPipeline(id: CollectionId, input: NewPipeline): Promise<Pipeline> {
  return post<Pipeline>(allPath(id), input);
}

export function runPipeline(id: CollectionId, pid: string, force: boolean): Promise<JobRow> {
  return post<JobRow>(`${onePath(id, pid)}:run`, force ? { force } : undefined);
}

export async function deletePipeline(id: CollectionId, pid: string): Promise<void> {
  await request("DELETE", onePath(id, pid));
}

function allPath(id: CollectionId): string {
  return `${collectionPath(id)}/pipelines`;
}

function onePath(id: CollectionId, pid: string): string {
  return `${allPath(id)}/${encodeURIComponent(pid)}`;
}
