/** The fields a caller gives a document: they can be filtered by in searches, beside those every passage has. */
import { PinakesError, invalid } from "../../domain/errors.ts";
import { checkJson, isJsonObject, type JsonObject } from "../../domain/json.ts";
import { knowledgeLimits } from "../limits.ts";

/** What every passage has of its own. A document's metadata may not use these names. */
export const passageFields = [
  "document_id",
  "collection_id",
  "repository_id",
  "catalog_id",
  "user_id",
  "filename",
  "file_type",
  "version",
  "run",
  "chunk",
  "page",
  "section",
  "row_first",
  "row_last",
  "start",
  "end",
] as const;

export function checkDocumentMetadata(input: unknown, where = "metadata"): JsonObject {
  if (!isJsonObject(input)) throw invalid(`${where}: must be an object.`);
  checkJson(input, where);
  for (const name of passageFields) {
    if (Object.hasOwn(input, name))
      throw invalid(`${where}.${name}: is set by Pinakes for every passage; choose another name.`);
  }
  const bytes = Buffer.byteLength(JSON.stringify(input), "utf8");
  if (bytes > knowledgeLimits.documentMetadataBytesMax)
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `${where}: has ${bytes} bytes as JSON; at most ${knowledgeLimits.documentMetadataBytesMax} are allowed.`,
    );
  return input;
}
