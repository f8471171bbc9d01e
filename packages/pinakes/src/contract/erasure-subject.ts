/** The subject of an erasure or an export, as routes and tools accept it. */
import { erasureSubjectTypes } from "@pinakes/client";
import { z } from "zod";

export const ErasureSubject = z.strictObject({
  type: z.enum(erasureSubjectTypes),
  id: z.string().optional().describe("For every subject except documents. Empty ids and wildcards are refused."),
  repository_id: z.string().optional().describe("Of documents."),
  collection_id: z.string().optional().describe("Of documents."),
  document_ids: z.array(z.string()).optional().describe("For documents; at most 100."),
});
export const ErasurePaths = z
  .array(z.string())
  .optional()
  .describe("More paths that name the subject, such as `author.id`; in every container.");
