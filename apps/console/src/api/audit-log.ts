/** The audit log: who did what. */
import type { AuditCheckpoint, AuditEntry, AuditFormat, AuditQuery } from "@pinakes/client";
import { queryOptions } from "@tanstack/react-query";
import { pagedOptions } from "./page.ts";
import { get, withQuery } from "./request.ts";

export type AuditFilter = Pick<AuditQuery, "actor" | "verb" | "outcome" | "resource" | "from" | "to">;

export const auditLogKey = ["audit-log"] as const;

export function auditLogOptions(filter: AuditFilter) {
  return pagedOptions<AuditEntry>(auditLogKey, "/v1/audit", { ...filter });
}

export const auditCheckpointOptions = queryOptions({
  queryKey: ["audit-checkpoint"],
  queryFn: ({ signal }) => get<AuditCheckpoint>("/v1/audit/checkpoint", { signal }),
});

/** Downloaded by the browser, because it may be large. */
export function auditExportAddress(format: AuditFormat): string {
  return withQuery("/v1/audit:export", { format });
}
