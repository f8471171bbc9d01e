/** Whom an erasure or an export is about, as routes and tools take it. */
import { erasureSubjectTypes } from "@pinakes/client";
import { z } from "zod";

export const ErasureSubject = z.strictObject({
  type: z.enum(erasureSubjectTypes),
  id: z.string().optional().describe("Of every subject but documents. Empty ids and wildcards are refused."),
  repository_id: z.string().optional().describe("Of documents."),
  collection_id: z.string().optional().describe("Of documents."),
  document_ids: z.array(z.string()).optional().describe("Of documents; at most 100."),
});
export const ErasurePaths = z
  .array(z.string())
  .optional()
  .describe("More paths that name the subject, such as `author.id`; in every container.");
