/** A document against its container's schema: errors name the path, unknown properties are kept, defaults are filled in. */
import type { z } from "zod";
import { invalid } from "../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../domain/json.ts";
import { plainIssue } from "./plain-issue.ts";

export function validateDocument(container: string, schema: z.ZodType, document: unknown): JsonObject {
  const result = schema.safeParse(document, { error: plainIssue });
  if (result.success) return keepUnknown(document, result.data) as JsonObject;
  const issues = result.error.issues
    .slice(0, 5)
    .map(({ path, message }) => `${path.length === 0 ? "document" : path.map(String).join(".")}: ${message}`);
  throw invalid(`The document does not match the schema of container "${container}": ${issues.join("; ")}.`);
}

/** Parsing drops properties that a schema does not name; a container keeps them (R-AGT-10). A strict schema has rejected them before. */
function keepUnknown(input: unknown, parsed: unknown): unknown {
  if (Array.isArray(input) && Array.isArray(parsed) && input.length === parsed.length) {
    return parsed.map((element, i) => keepUnknown(input[i], element));
  }
  if (!isJsonObject(input) || !isJsonObject(parsed)) return parsed;
  const merged: Record<string, unknown> = { ...input };
  for (const [key, value] of Object.entries(parsed))
    merged[key] = Object.hasOwn(input, key) ? keepUnknown(input[key], value) : value;
  return merged;
}
