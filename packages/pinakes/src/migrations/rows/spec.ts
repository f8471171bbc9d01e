/** Exports of vector stores: files of rows, and Chroma. */
import { z } from "zod";

const name = z.string().min(1).max(256);
const common = {
  /** Where the collections go: a repository, or a user's own. */
  repository: name.optional(),
  user: name.optional(),
  /** The field of the metadata that is the text of a row. */
  text_field: name.optional(),
  /** What has no place here, such as sparse vectors, may be lost. */
  lossy: z.boolean().optional(),
};

export const RowsSpec = z.strictObject({
  kind: z.literal("rows"),
  /** A file, or a folder of files: .jsonl, .ndjson, .parquet. */
  path: z.string().min(1),
  /** All files together make this collection; each makes its own, named as the file, when absent. */
  collection: name.optional(),
  ...common,
});
export type RowsSpec = z.infer<typeof RowsSpec>;

export const ChromaSpec = z.strictObject({
  kind: z.literal("chroma"),
  /** The folder in which Chroma keeps its data … */
  folder: z.string().min(1).optional(),
  /** … or the address of its server. */
  server: z.string().min(1).optional(),
  tenant: name.optional(),
  database: name.optional(),
  /** Which collections, and what they are called here; all of them when absent. */
  collections: z.record(z.string(), name).optional(),
  ...common,
});
export type ChromaSpec = z.infer<typeof ChromaSpec>;
