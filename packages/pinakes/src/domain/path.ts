/**
 * A path to a property of a document: `status`, `metadata.user_id`, or an RFC 6901 pointer such as `/metadata/user~1id` for names that
 * contain dots or slashes.
 */
import { invalid, show } from "./errors.ts";
import type { JsonObject, JsonValue } from "./json.ts";

export type Path = readonly string[];

export function parsePath(text: string): Path {
  if (typeof text !== "string" || text === "") throw invalid(`A path must be a non-empty string, got ${show(text)}.`);
  const segments = text.startsWith("/") ? parsePointer(text) : text.split(".");
  if (segments.some((segment) => segment === "" || segment.includes("\0"))) {
    throw invalid(`Path "${text}" has an empty segment; write it as "a.b" or "/a/b".`);
  }
  return segments;
}

/** RFC 6901: `~1` is a slash, `~0` a tilde; any other `~` is an error. */
export function parsePointer(text: string): string[] {
  if (!text.startsWith("/")) throw invalid(`Path "${text}" must start with "/" (RFC 6901).`);
  return text
    .slice(1)
    .split("/")
    .map((segment) => {
      if (/~(?![01])/.test(segment)) throw invalid(`Path "${text}": "~" must be followed by 0 or 1 (RFC 6901).`);
      return segment.replaceAll("~1", "/").replaceAll("~0", "~");
    });
}

/** The value at a path through objects (never through prototypes or arrays), or undefined. */
export function valueAt(document: JsonObject, path: Path): JsonValue | undefined {
  let value: JsonValue | undefined = document;
  for (const segment of path) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    if (!Object.hasOwn(value, segment)) return undefined;
    value = (value as JsonObject)[segment];
  }
  return value;
}
