/** Exports of vector stores: files of rows, Chroma, Qdrant and Milvus. */
import { z } from "zod";

const name = z.string().min(1).max(256);
const common = {
  /** The target of the collections: a repository, or a user's personal one. */
  repository: name.optional(),
  user: name.optional(),
  /** The metadata field that contains the text of a row. */
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
  /** Collections to migrate, with their new names; all if absent. */
  collections: z.record(z.string(), name).optional(),
  ...common,
});
export type ChromaSpec = z.infer<typeof ChromaSpec>;

const vectorStore = {
  /** The address of its server. */
  server: z.string().min(1),
  /** Collections to migrate, with their new names; all if absent. */
  collections: z.record(z.string(), name).optional(),
  /** Collections to omit. */
  skip: z.array(name).max(10_000).optional(),
  /** TrustGraph named the collections: those of each user and collection are combined into one collection of that user. */
  trustgraph: z
    .strictObject({
      /** The users or workspaces that the collection names start with. */
      users: z.array(name).min(1).max(1_000),
      /** Collection names of 2.8 (since 1.6) end with the vector dimension. */
      version: z.enum(["1.4", "2.8"]),
    })
    .optional(),
  ...common,
};
export const QdrantSpec = z.strictObject({ kind: z.literal("qdrant"), ...vectorStore });
export const MilvusSpec = z.strictObject({ kind: z.literal("milvus"), ...vectorStore });
export type VectorStoreSpec = z.infer<typeof QdrantSpec> | z.infer<typeof MilvusSpec>;
