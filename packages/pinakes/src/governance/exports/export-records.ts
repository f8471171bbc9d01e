/** Records of subject exports, under the system's tenant, one partition for each workspace. A record expires; its archives follow. */
import { subjectExportStates, erasureSubjectTypes, type SubjectExport } from "@pinakes/client";
import { z } from "zod";
import type { ContainerDefinition } from "../../ports/item-store.ts";
import { governanceLimits } from "../limits.ts";

export const exportsContainer: ContainerDefinition = Object.freeze({
  name: "subject-exports",
  partitionKey: ["workspace_id"],
  indexes: { byCreated: { partition: ["workspace_id"], sort: ["created_at"] } },
  ttl: governanceLimits.exportDays * 86_400,
});

const format = 1;
export const newExportFormat = format;
/** The prefix of all archives, in the key space of the system's tenant. */
export const archivesRoot = "subject-exports/";

const subject = z.object({
  type: z.enum(erasureSubjectTypes),
  id: z.string(),
  documents: z
    .object({ repository_id: z.string(), collection_id: z.string(), document_ids: z.array(z.string()) })
    .optional(),
  paths: z.array(z.string()),
});

export const ExportRecord = z.object({
  id: z.string(),
  format: z.literal(format),
  workspace_id: z.string(),
  state: z.enum(subjectExportStates),
  subject,
  error: z.string().nullable(),
  parts: z.array(z.object({ part: z.number(), bytes: z.number(), sha256: z.string(), files: z.number() })),
  rows: z.array(z.object({ store: z.string(), own: z.number(), mentions: z.number() })),
  created_by: z.string(),
  created_at: z.string(),
  finished_at: z.string().nullable(),
});
export type ExportRecord = z.output<typeof ExportRecord>;

export function archiveKey(workspace: string, exportId: string, part: number): string {
  return `${archivesRoot}${workspace}/${exportId}/${String(part).padStart(5, "0")}.zip`;
}

/** Undefined for a key that is not one of an archive. */
export function archiveOf(key: string): { readonly workspace: string; readonly exportId: string } | undefined {
  const [, workspace, exportId] = /^subject-exports\/([^/]+)\/([^/]+)\/\d+\.zip$/.exec(key) ?? [];
  return workspace === undefined || exportId === undefined ? undefined : { workspace, exportId };
}

export function exportView(record: ExportRecord): SubjectExport {
  const { id, workspace_id, state, error, parts, rows, created_by, created_at, finished_at } = record;
  const { type, id: subjectId } = record.subject;
  const expires = Date.parse(finished_at ?? created_at) + governanceLimits.exportDays * 86_400_000;
  return {
    export_id: id,
    workspace_id,
    subject: { type, id: subjectId },
    state,
    error,
    parts,
    rows,
    created_by,
    created_at,
    finished_at,
    expires_at: new Date(expires).toISOString(),
  };
}
