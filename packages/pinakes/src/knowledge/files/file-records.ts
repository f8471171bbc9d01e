/**
 * Files: bytes that a user keeps by id, apart from any collection, and attaches to collections as documents.
 *
 *   files  (owner)   the user's files and how much they are; the collections that each is attached to; uploads in parts and their parts;
 *                    staged files
 *
 * Invariants
 * - ids are time-ordered, so the order of a partition is that of creation, and an id is a position in every list;
 * - an object of a file or of a part is written only after the registry of work names it, so bytes whose record was never written are
 *   found and removed;
 * - `usage` is the sum of the partition's files and pending uploads: it changes in their batches;
 * - `deleted` is set before anything of a file is removed, and the record goes last.
 */
import { hash } from "node:crypto";
import { z } from "zod";
import { defineContainer, type Stored } from "../../containers/index.ts";

export const filePurposes = [
  "assistants",
  "assistants_output",
  "batch",
  "batch_output",
  "fine-tune",
  "fine-tune-results",
  "vision",
  "user_data",
  "evals",
] as const;
export type FilePurpose = (typeof filePurposes)[number];

const common = { id: z.string(), owner: z.string() };
const named = {
  filename: z.string(),
  purpose: z.enum(filePurposes),
  bytes: z.number(),
  created_by: z.string(),
  created_at: z.string(),
};

const FileRecordSchema = z.object({
  ...common,
  ...named,
  kind: z.literal("file"),
  sha256: z.string(),
  /** Absent: until it is deleted. */
  expires_at: z.string().optional(),
  deleted: z.literal(true).optional(),
});
/** A collection that a file is attached to, written before the document. */
const LinkRecordSchema = z.object({
  ...common,
  kind: z.literal("link"),
  repository_id: z.string(),
  collection_id: z.string(),
  incarnation: z.string(),
});
const UploadRecordSchema = z.object({
  ...common,
  ...named,
  kind: z.literal("upload"),
  mime_type: z.string(),
  status: z.enum(["pending", "completed", "cancelled"]),
  /** Of the upload; what is not completed by then is removed. */
  expires_at: z.string(),
  /** Of the file that it becomes. */
  file_expires_seconds: z.number().optional(),
  file_id: z.string().optional(),
});
const PartRecordSchema = z.object({
  ...common,
  kind: z.literal("part"),
  upload_id: z.string(),
  bytes: z.number(),
  created_at: z.string(),
});
/** A file under a key of the user's choice, until it is ingested or expires (staging.ts). */
const StagedRecordSchema = z.object({
  ...common,
  kind: z.literal("staged"),
  key: z.string(),
  bytes: z.number(),
  sha256: z.string(),
  /** The last part of its object's key: each upload writes an object of its own. */
  object: z.string(),
  created_by: z.string(),
  created_at: z.string(),
  expires_at: z.string(),
});
/** What the user's files and pending uploads amount to (file-usage.ts). */
const UsageRecordSchema = z.object({ ...common, kind: z.literal("usage"), files: z.number(), bytes: z.number() });

export const filesContainer = defineContainer({
  name: "files",
  partitionKey: ["owner"],
  schema: z.discriminatedUnion("kind", [
    FileRecordSchema,
    LinkRecordSchema,
    UploadRecordSchema,
    PartRecordSchema,
    StagedRecordSchema,
    UsageRecordSchema,
  ]),
  // For audits, which read the files of all users.
  indexes: { byKind: { partition: ["kind"], sort: ["id"] } },
  feed: true,
});
export type FileRecords = Awaited<ReturnType<typeof filesContainer.open>>;
export type FileRecord = Stored<z.infer<typeof FileRecordSchema>>;
export type LinkRecord = Stored<z.infer<typeof LinkRecordSchema>>;
export type UploadRecord = Stored<z.infer<typeof UploadRecordSchema>>;
export type PartRecord = Stored<z.infer<typeof PartRecordSchema>>;
export type StagedRecord = Stored<z.infer<typeof StagedRecordSchema>>;
export type UsageRecord = Stored<z.infer<typeof UsageRecordSchema>>;

export const filePrefix = "file-";
export const uploadPrefix = "upload_";
const partPrefix = "part_";
export const stagedPrefix = "staged_";
export const usageId = "usage";

const hexOf = (id: string): string => id.replaceAll("-", "");
export const newFileId = (id: string): string => `${filePrefix}${hexOf(id)}`;
export const newUploadId = (id: string): string => `${uploadPrefix}${hexOf(id)}`;
export const newPartId = (id: string): string => `${partPrefix}${hexOf(id)}`;
/** The same key of the same user is the same staged file. Of the user, too: the registry of work knows ids only. */
export const stagedId = (owner: string, key: string): string =>
  `${stagedPrefix}${hash("sha256", `${owner}/${key}`, "hex").slice(0, 32)}`;
export const linksOf = (fileId: string): string => `link:${fileId}:`;
export const partsOf = (uploadId: string): string => `part:${uploadId}:`;

/** What can be the id of a file or an upload; everything else is the id of nothing. */
const idPattern = /^(?:file-|upload_)[0-9a-f]{32}$/;
export function isFileId(id: string): boolean {
  return idPattern.test(id);
}

/** The partition of a user: an id of fixed length, whatever a user is called. */
export function ownerOf(userId: string): string {
  return hash("sha256", userId, "hex").slice(0, 32);
}

export const filesRoot = "files/";
/** Everything of a file or an upload lies under it; the owner is part of it, so that an object names its record. */
export function objectPrefix(owner: string, id: string): string {
  return `${filesRoot}${owner}/${id}/`;
}
export function contentKey({ owner, id }: { readonly owner: string; readonly id: string }): string {
  return `${objectPrefix(owner, id)}content`;
}
export function partKey(owner: string, uploadId: string, partId: string): string {
  return `${objectPrefix(owner, uploadId)}${partId}`;
}
export function stagedObject({ owner, id, object }: Pick<StagedRecord, "owner" | "id" | "object">): string {
  return `${objectPrefix(owner, id)}${object}`;
}

/** The source of a document that is an attached file: unique in its collection. */
export function fileUri(fileId: string): string {
  return `file:${fileId}`;
}
