import type { Job, NewPipeline, Page, PipelinePlan, ScheduledPipeline } from "@pinakes/client";
import { queryOptions } from "@tanstack/react-query";
import { collectionPath, type CollectionId } from "./collections.ts";
import { get, post, request } from "./request.ts";

export function pipelinesOptions(id: CollectionId) {
  return queryOptions({
    queryKey: ["collection", id.rid, id.cid, "pipelines"],
    queryFn: async ({ signal }) => (await get<Page<ScheduledPipeline>>(allPath(id), { signal })).items,
  });
}

export function planOptions(id: CollectionId, pid: string) {
  return queryOptions({
    queryKey: ["pipeline-plan", id.rid, id.cid, pid],
    queryFn: ({ signal }) => post<PipelinePlan>(`${onePath(id, pid)}:plan`, undefined, { signal }),
    // The folder may have changed: a plan is never reused.
    gcTime: 0,
    retry: false,
  });
}

export function createPipeline(id: CollectionId, input: NewPipeline): Promise<ScheduledPipeline> {
  return post<ScheduledPipeline>(allPath(id), input);
}

export function runPipeline(id: CollectionId, pid: string, force: boolean): Promise<Job> {
  return post<Job>(`${onePath(id, pid)}:run`, force ? { force } : undefined);
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
