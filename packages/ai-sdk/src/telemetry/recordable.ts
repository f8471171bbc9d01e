/** What tools got and gave, made fit to be kept: JSON, of a bounded size. */
import type { JsonObject, JsonValue, ToolError } from "@pinakes/client";

/** Of one argument list or one result. A log is no place for files; the beginning is kept to recognise it by. */
export const recordedBytesMax = 65_536;
const previewChars = 1_024;
const utf8 = new TextEncoder();

export function recordable(value: unknown): JsonValue {
  let text: string | undefined;
  try {
    text = JSON.stringify(value, (_key, part: unknown) => (typeof part === "bigint" ? part.toString() : part));
  } catch {
    // Circular, or a toJSON that throws: what kind of thing it was is all there is to say.
    return { unrecordable: typeof value };
  }
  if (text === undefined) return null;
  const bytes = utf8.encode(text).length;
  if (bytes > recordedBytesMax)
    return { truncated: true, bytes, beginning: text.slice(0, previewChars).toWellFormed() };
  return JSON.parse(text) as JsonValue;
}

/** Arguments are an object by contract; anything else is kept as its only property. */
export function recordableObject(value: unknown): JsonObject {
  const json = recordable(value);
  if (json === null) return {};
  return typeof json === "object" && !Array.isArray(json) ? (json as JsonObject) : { value: json };
}

export function recordableError(error: unknown): ToolError {
  if (error instanceof Error) {
    return { error_type: error.name, error_message: cut(error.message), stack_trace: cut(error.stack ?? "") };
  }
  const json = recordable(error);
  return {
    error_type: "Error",
    error_message: cut(typeof json === "string" ? json : JSON.stringify(json)),
    stack_trace: "",
  };
}

const errorCharsMax = 8_192;
const cut = (text: string) => text.slice(0, errorCharsMax).toWellFormed();
