/** Properties that belong to the system: values from clients are ignored, and patching them is rejected (R-AGT-04). */
import type { JsonObject } from "./json.ts";

const systemProperties: ReadonlySet<string> = new Set(["_etag", "_ts", "_rid", "_self", "_attachments", "_lsn"]);

export function isSystemProperty(name: string): boolean {
  return systemProperties.has(name);
}

export function withoutSystemProperties(document: JsonObject): JsonObject {
  for (const name of systemProperties) {
    if (!Object.hasOwn(document, name)) continue;
    return Object.fromEntries(Object.entries(document).filter(([key]) => !systemProperties.has(key)));
  }
  return document;
}
