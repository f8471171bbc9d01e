/** Fields that several tools have in common. */
import { z } from "zod";

export const listLimitMax = 100;

export const paging = {
  limit: z.number().int().min(1).max(listLimitMax).optional().describe(`1–${listLimitMax}; 20 when absent.`),
  cursor: z.string().max(8_192).optional().describe("next_cursor of the previous answer."),
};

export const nextCursor = z.string().nullable().describe("Pass it in the next call to get more; null at the end.");

export const collection = z
  .string()
  .min(3)
  .max(257)
  .describe('"repository/collection"; "me" is your own repository, as in "me/notes".');

const id = (what: string) => z.string().min(1).max(1_024).describe(what);
export const workflowId = id("workflow_id of the workflow.");
export const agentId = id("Id of the agent.");
export const sessionId = id("Id of the session.");

export const ifMatch = z
  .string()
  .min(1)
  .max(256)
  .optional()
  .describe("_etag from the last read: the call fails if the document has changed since.");

/** A document of the state store, as its contract defines it; only the properties a model reads first are listed. */
export function document<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.looseObject({ ...shape, _etag: z.string().describe("Version; for if_match.") });
}
