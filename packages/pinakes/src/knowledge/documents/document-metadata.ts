import { PinakesError, invalid } from "../../domain/errors.ts";
import { checkJson, isJsonObject, type JsonObject } from "../../domain/json.ts";
import { knowledgeLimits } from "../limits.ts";

/** Fields that every chunk has. A document's metadata, which searches can filter by beside these, may not use their names. */
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
      throw invalid(`${where}.${name}: is reserved, Pinakes sets it on every chunk; choose another name.`);
  }
  const bytes = Buffer.byteLength(JSON.stringify(input), "utf8");
  if (bytes > knowledgeLimits.documentMetadataBytesMax)
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `${where}: has ${bytes} bytes as JSON; at most ${knowledgeLimits.documentMetadataBytesMax} are allowed.`,
    );
  return input;
}
