/**
 * The library of a user: documents apart from any collection, under ids that their owner chose, with what is known of them; which of them
 * are processed into which collection; uploads in chunks; cores, which are triples and vectors kept to be loaded into collections; flows.
 * All bytes are files of the user (knowledge/files), so quotas, audits and expiry are those of files.
 *
 *   library  (owner)   doc:, proc:, upload:, chunk:, core:, part:, flow:, each with the hash of the id that clients use
 *
 * Invariants
 * - a document's file is complete before its record is written; a process that dies in between leaves a file that its owner sees and can
 *   delete;
 * - of a removal the record goes last, so that a repetition finishes it.
 */
import { hash } from "node:crypto";
import { z } from "zod";
import { defineContainer, type Stored } from "../../containers/index.ts";

const common = { id: z.string(), owner: z.string() };

const StoredTerm = z.object({
  type: z.enum(["iri", "literal", "blank"]),
  value: z.string(),
  language: z.string().optional(),
  datatype: z.string().optional(),
});
export type StoredTerm = z.infer<typeof StoredTerm>;
const StoredTriple = z.object({ s: StoredTerm, p: StoredTerm, o: StoredTerm, g: StoredTerm.nullable() });
export type StoredTriple = z.infer<typeof StoredTriple>;

/** What is known of a document; all but the id can be changed. */
export const documentFields = {
  document_id: z.string(),
  /** Seconds since 1970, as the client gave it. */
  time: z.number(),
  media_type: z.string(),
  title: z.string(),
  comments: z.string(),
  tags: z.array(z.string()),
  metadata: z.array(StoredTriple),
  /** Of a page or a chunk: the document that it was made of. */
  parent_id: z.string().nullable(),
  document_type: z.string(),
};

const DocumentRecord = z.object({
  ...common,
  ...documentFields,
  kind: z.literal("document"),
  file_id: z.string(),
  bytes: z.number(),
  created_at: z.string(),
});
const ProcessingRecord = z.object({
  ...common,
  kind: z.literal("processing"),
  processing_id: z.string(),
  document_id: z.string(),
  time: z.number(),
  flow: z.string(),
  collection_id: z.string(),
  tags: z.array(z.string()),
});
const UploadRecord = z.object({
  ...common,
  kind: z.literal("upload"),
  upload_id: z.string(),
  document: z.object(documentFields),
  total_bytes: z.number(),
  chunk_bytes: z.number(),
  chunks: z.number(),
  state: z.enum(["in-progress", "completed"]),
  created_at: z.string(),
  expires_at: z.string(),
  ttl: z.number(),
});
const ChunkRecord = z.object({
  ...common,
  kind: z.literal("chunk"),
  upload_id: z.string(),
  index: z.number(),
  part_id: z.string(),
  bytes: z.number(),
  ttl: z.number(),
});
export const coreKinds = ["kg", "de"] as const;
export type CoreKind = (typeof coreKinds)[number];
const CoreRecord = z.object({
  ...common,
  kind: z.literal("core"),
  core_kind: z.enum(coreKinds),
  core_id: z.string(),
  created_at: z.string(),
});
/** One message of a core, as a file. */
const PartRecord = z.object({ ...common, kind: z.literal("part"), core_id: z.string(), file_id: z.string() });
const FlowRecord = z.object({
  ...common,
  kind: z.literal("flow"),
  flow_id: z.string(),
  blueprint: z.string(),
  description: z.string(),
  created_at: z.string(),
});

export const libraryContainer = defineContainer({
  name: "library",
  partitionKey: ["owner"],
  schema: z.discriminatedUnion("kind", [
    DocumentRecord,
    ProcessingRecord,
    UploadRecord,
    ChunkRecord,
    CoreRecord,
    PartRecord,
    FlowRecord,
  ]),
  ttl: -1,
});
export type LibraryRecords = Awaited<ReturnType<typeof libraryContainer.open>>;
export type LibraryDocument = Stored<z.infer<typeof DocumentRecord>>;
export type LibraryProcessing = Stored<z.infer<typeof ProcessingRecord>>;
export type LibraryUpload = Stored<z.infer<typeof UploadRecord>>;
export type LibraryChunk = Stored<z.infer<typeof ChunkRecord>>;
export type LibraryCore = Stored<z.infer<typeof CoreRecord>>;
export type LibraryPart = Stored<z.infer<typeof PartRecord>>;
export type LibraryFlow = Stored<z.infer<typeof FlowRecord>>;
export type DocumentFields = Pick<LibraryDocument, keyof typeof documentFields>;

type AnyRecord =
  | LibraryDocument
  | LibraryProcessing
  | LibraryUpload
  | LibraryChunk
  | LibraryCore
  | LibraryPart
  | LibraryFlow;
export type RecordOf<Kind extends AnyRecord["kind"]> = Extract<AnyRecord, { readonly kind: Kind }>;

/** Clients choose ids freely, IRIs with slashes included; items have ids of fixed length. */
const hashed = (id: string): string => hash("sha256", id, "hex").slice(0, 40);
export const itemId = {
  document: (id: string) => `doc:${hashed(id)}`,
  processing: (id: string) => `proc:${hashed(id)}`,
  upload: (id: string) => `upload:${id}`,
  chunks: (uploadId: string) => `chunk:${uploadId}:`,
  chunk: (uploadId: string, index: number) => `chunk:${uploadId}:${String(index).padStart(6, "0")}`,
  core: (kind: CoreKind, id: string) => `core:${kind}:${hashed(id)}`,
  parts: (kind: CoreKind, id: string) => `part:${kind}:${hashed(id)}:`,
  flow: (id: string) => `flow:${hashed(id)}`,
};
export const prefixes = { document: "doc:", processing: "proc:", upload: "upload:", flow: "flow:" } as const;
