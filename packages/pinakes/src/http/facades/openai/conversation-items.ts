/** Items of conversations: what is accepted, how it is stored, and what is returned. */
import { z } from "zod";
import { invalid, show } from "../../../domain/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../domain/json.ts";

export const itemsMax = 20;
const idPattern = /^[A-Za-z0-9_-]{1,128}$/;

/** By type: the prefix of ids, and the required text fields of an item. */
const types: Readonly<Record<string, { readonly prefix: string; readonly texts?: readonly string[] }>> = {
  message: { prefix: "msg" },
  function_call: { prefix: "fc", texts: ["call_id", "name", "arguments"] },
  function_call_output: { prefix: "fco", texts: ["call_id"] },
  custom_tool_call: { prefix: "ctc", texts: ["call_id", "name", "input"] },
  custom_tool_call_output: { prefix: "ctco", texts: ["call_id"] },
  file_search_call: { prefix: "fs" },
  web_search_call: { prefix: "ws" },
  computer_call: { prefix: "cu", texts: ["call_id"] },
  computer_call_output: { prefix: "cuo", texts: ["call_id"] },
  reasoning: { prefix: "rs" },
  compaction: { prefix: "cmp", texts: ["encrypted_content"] },
  image_generation_call: { prefix: "ig" },
  code_interpreter_call: { prefix: "ci" },
  local_shell_call: { prefix: "lsh", texts: ["call_id"] },
  local_shell_call_output: { prefix: "lsho", texts: ["output"] },
  shell_call: { prefix: "sh", texts: ["call_id"] },
  shell_call_output: { prefix: "sho", texts: ["call_id"] },
  apply_patch_call: { prefix: "apc", texts: ["call_id"] },
  apply_patch_call_output: { prefix: "apco", texts: ["call_id"] },
  mcp_list_tools: { prefix: "mcpl", texts: ["server_label"] },
  mcp_approval_request: { prefix: "mcpr", texts: ["arguments", "name", "server_label"] },
  mcp_approval_response: { prefix: "mcpa", texts: ["approval_request_id"] },
  mcp_call: { prefix: "mcp", texts: ["arguments", "name", "server_label"] },
  tool_search_call: { prefix: "tsc" },
  tool_search_output: { prefix: "tso" },
  additional_tools: { prefix: "at" },
  program: { prefix: "prg", texts: ["call_id", "code"] },
  program_output: { prefix: "prgo", texts: ["call_id", "result"] },
};

const roles = ["unknown", "user", "assistant", "system", "critic", "discriminator", "developer", "tool"];
/** Parts of a message, with the required text field of each. */
const parts: Readonly<Record<string, string | undefined>> = {
  input_text: "text",
  output_text: "text",
  text: "text",
  summary_text: "text",
  reasoning_text: "text",
  refusal: "refusal",
  input_image: undefined,
  input_file: undefined,
  computer_screenshot: undefined,
};

/** Fields returned only on request. */
const includable = {
  "file_search_call.results": ["file_search_call", ["results"]],
  "web_search_call.results": ["web_search_call", ["results"]],
  "web_search_call.action.sources": ["web_search_call", ["action", "sources"]],
  "computer_call_output.output.image_url": ["computer_call_output", ["output", "image_url"]],
  "code_interpreter_call.outputs": ["code_interpreter_call", ["outputs"]],
  "reasoning.encrypted_content": ["reasoning", ["encrypted_content"]],
  "message.input_image.image_url": ["input_image", ["image_url"]],
  "message.output_text.logprobs": ["output_text", ["logprobs"]],
} as const;
type Includable = keyof typeof includable;
const includables = Object.keys(includable) as [Includable, ...Includable[]];

/** As clients encode lists in a query: `include[]=…`. */
export const includeQuery = {
  "include[]": z.array(z.enum(includables)).optional(),
  include: z.array(z.enum(includables)).optional(),
};
export function included(query: {
  readonly include?: readonly Includable[] | undefined;
  readonly "include[]"?: readonly Includable[] | undefined;
}): ReadonlySet<Includable> {
  return new Set([...(query.include ?? []), ...(query["include[]"] ?? [])]);
}

export type ConversationItem = JsonObject & { readonly id: string; readonly type: string };

/** An item as stored; `newId` generates the part of an id after its prefix. */
export function readItem(input: unknown, where: string, newId: () => string): ConversationItem {
  if (!isJsonObject(input)) throw invalid(`${where}: must be an object.`);
  const { type = "message", id, ...fields } = input;
  const known = typeof type === "string" && Object.hasOwn(types, type) ? types[type] : undefined;
  if (known === undefined || typeof type !== "string")
    throw invalid(
      `${where}.type: ${show(type)} cannot be stored; supported types are ${Object.keys(types).join(", ")}.`,
    );
  if (id !== undefined && id !== null && !(typeof id === "string" && idPattern.test(id)))
    throw invalid(`${where}.id: must have 1–128 letters, digits, "_" or "-", got ${show(id)}.`);
  for (const name of known.texts ?? [])
    if (fields[name] === undefined || fields[name] === null || fields[name] === "")
      throw invalid(`${where}.${name}: is missing.`);
  return {
    id: typeof id === "string" ? id : `${known.prefix}_${newId()}`,
    type,
    ...(type === "message" ? messageOf(fields, where) : fields),
  };
}

function messageOf(fields: JsonObject, where: string): JsonObject {
  const { role, content, status = "completed", ...rest } = fields;
  if (typeof role !== "string" || !roles.includes(role))
    throw invalid(`${where}.role: must be one of ${roles.join(", ")}, got ${show(role)}.`);
  return { status, role, content: contentOf(role, content, where), ...rest };
}

function contentOf(role: string, content: JsonValue | undefined, where: string): JsonValue {
  if (typeof content === "string")
    return role === "assistant"
      ? [{ type: "output_text", text: content, annotations: [], logprobs: [] }]
      : [{ type: "input_text", text: content }];
  if (!Array.isArray(content)) throw invalid(`${where}.content: must be a string or a list of parts.`);
  return content.map((part: JsonValue, i) => {
    const type = isJsonObject(part) ? part["type"] : undefined;
    if (!isJsonObject(part) || typeof type !== "string" || !Object.hasOwn(parts, type))
      throw invalid(`${where}.content[${i}].type: must be one of ${Object.keys(parts).join(", ")}, got ${show(type)}.`);
    const text = parts[type];
    if (text !== undefined && typeof part[text] !== "string")
      throw invalid(`${where}.content[${i}].${text}: must be a string.`);
    return part;
  });
}

/** Omits the fields that were not requested. */
export function shownItem(item: ConversationItem, wanted: ReadonlySet<Includable>): ConversationItem {
  const hidden = includables.filter((name) => !wanted.has(name)).map((name) => includable[name]);
  const without = (value: JsonObject): JsonObject =>
    hidden.reduce((left, [type, path]) => (left["type"] === type ? cut(left, path) : left), value);
  const shown = without(item);
  const { content } = shown;
  const shownParts = Array.isArray(content)
    ? { content: content.map((part: JsonValue) => (isJsonObject(part) ? without(part) : part)) }
    : {};
  return { ...shown, ...shownParts } as ConversationItem;
}

function cut(value: JsonObject, [name, ...deeper]: readonly string[]): JsonObject {
  const inner = value[name as string];
  if (inner === undefined) return value;
  if (deeper.length > 0) return isJsonObject(inner) ? { ...value, [name as string]: cut(inner, deeper) } : value;
  const { [name as string]: _, ...rest } = value;
  return rest;
}
