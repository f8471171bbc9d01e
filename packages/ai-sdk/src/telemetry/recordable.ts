/** Prepares inputs and outputs of tools for the log: JSON of a bounded size. */
import type { JsonObject, JsonValue, ToolError } from "@pinakes/client";

/** Limit of one input or output. A log is not a file store; the beginning is kept to identify the value. */
export const recordedBytesMax = 65_536;
const previewChars = 1_024;
const utf8 = new TextEncoder();

export function recordable(value: unknown): JsonValue {
  let text: string | undefined;
  try {
    text = JSON.stringify(value, (_key, part: unknown) => (typeof part === "bigint" ? part.toString() : part));
  } catch {
    // Circular, or with a toJSON that throws: only its type can be recorded.
    return { unrecordable: typeof value };
  }
  if (text === undefined) return null;
  const bytes = utf8.encode(text).length;
  if (bytes > recordedBytesMax)
    return { truncated: true, bytes, beginning: text.slice(0, previewChars).toWellFormed() };
  return JSON.parse(text) as JsonValue;
}

/** Arguments are an object by contract; anything else is wrapped in one. */
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
