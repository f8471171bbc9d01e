/** Consistency checks. */
import type { AuditReport, Finding, Job } from "@pinakes/client";
import { queryOptions } from "@tanstack/react-query";
import { get, path, post } from "./request.ts";

export interface NewAudit {
  readonly repository?: string | undefined;
  readonly collection?: string | undefined;
  readonly repair: boolean;
  readonly deep: boolean;
}

export function startAudit(input: NewAudit): Promise<Job> {
  return post<Job>("/v1/fsck", input);
}

/** At most 10,000, in one response. */
export function findingsOptions(jobId: string) {
  return queryOptions({
    queryKey: ["fsck", jobId, "findings"],
    queryFn: async ({ signal }) =>
      (await get<{ readonly items: readonly Finding[] }>(path`/v1/fsck/${jobId}/findings`, { signal })).items,
  });
}

export function reportOf({ kind, result }: Pick<Job, "kind" | "result">): AuditReport | undefined {
  return kind === "fsck" && result !== null && "checked" in result ? (result as unknown as AuditReport) : undefined;
}
