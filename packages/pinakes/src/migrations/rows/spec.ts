/** Exports of vector stores: files of rows, and Chroma. */
import { z } from "zod";

const name = z.string().min(1).max(256);
const common = {
  /** The target of the collections: a repository, or a user's personal one. */
  repository: name.optional(),
  user: name.optional(),
  /** The metadata field with the text of a row. */
  text_field: name.optional(),
  /** Drop what cannot be stored, such as sparse vectors. */
  lossy: z.boolean().optional(),
};

export const RowsSpec = z.strictObject({
  kind: z.literal("rows"),
  /** A file, or a folder of files: .jsonl, .ndjson, .parquet. */
  path: z.string().min(1),
  /** All files together make this collection; each makes its own, named after the file, when absent. */
  collection: name.optional(),
  ...common,
});
export type RowsSpec = z.infer<typeof RowsSpec>;

export const ChromaSpec = z.strictObject({
  kind: z.literal("chroma"),
  /** Chroma's data folder … */
  folder: z.string().min(1).optional(),
  /** … or the address of its server. */
  server: z.string().min(1).optional(),
  tenant: name.optional(),
  database: name.optional(),
  /** Which collections, with their new names; all when absent. */
  collections: z.record(z.string(), name).optional(),
  ...common,
});
export type ChromaSpec = z.infer<typeof ChromaSpec>;
