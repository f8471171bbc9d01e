/** Audits: all stores compared with the records. */
import { queryOptions } from "@tanstack/react-query";
import type { JobRow } from "./jobs.ts";
import { get, path, post } from "./request.ts";

export const findingKinds = [
  "record_without_object",
  "bytes_returned",
  "object_without_record",
  "vectors_without_document",
  "document_without_vectors",
  "triples_without_support_source",
  "counter_off",
  "manifest_broken",
  "unknown_incarnation",
  "stuck_operation",
  "removal_left",
] as const;
export type FindingKind = (typeof findingKinds)[number];

export interface Finding {
  readonly kind: FindingKind;
  readonly store: string;
  readonly repository_id?: string;
  readonly collection_id?: string;
  readonly document_id?: string;
  readonly key?: string;
  readonly detail: string;
  readonly repaired: boolean;
}

/** The result of the job. */
export interface AuditReport {
  readonly began_at: string;
  readonly finished_at: string;
  readonly repair: boolean;
  readonly deep: boolean;
  readonly checked: Readonly<Record<string, number>>;
  readonly found: number;
  /** Found, and still there. */
  readonly left: number;
  /** May be of work that is still under way. */
  readonly waiting: number;
}

export interface NewAudit {
  readonly repository?: string | undefined;
  readonly collection?: string | undefined;
  readonly repair: boolean;
  readonly deep: boolean;
}

export function startAudit(input: NewAudit): Promise<JobRow> {
  return post<JobRow>("/v1/fsck", input);
}

/** At most 10,000, in one answer. */
export function findingsOptions(jobId: string) {
  return queryOptions({
    queryKey: ["fsck", jobId, "findings"],
    queryFn: async ({ signal }) =>
      (await get<{ readonly items: readonly Finding[] }>(path`/v1/fsck/${jobId}/findings`, { signal })).items,
  });
}

export function reportOf({ kind, result }: Pick<JobRow, "kind" | "result">): AuditReport | undefined {
  return kind === "fsck" && result !== null && "checked" in result ? (result as unknown as AuditReport) : undefined;
}
