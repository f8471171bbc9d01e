/** Converts the client's input to a conversation: instructions, earlier messages, and the user's last message. */
import { invalid, show } from "../../../../domain/errors.ts";
import { isJsonObject, type JsonValue } from "../../../../domain/json.ts";

export interface Turn {
  readonly role: "user" | "assistant";
  readonly text: string;
}

export interface Conversation {
  readonly instructions: string | undefined;
  readonly history: readonly Turn[];
  readonly question: string;
}

/** Tool calls that this server made, and reasoning of a model: clients send them back with the messages around them. */
const passedOver: ReadonlySet<string> = new Set(["file_search_call", "reasoning"]);
const textOf: Readonly<Record<string, string>> = {
  text: "text",
  input_text: "text",
  output_text: "text",
  refusal: "refusal",
};

/** `where` names the parameter in errors. */
export function readConversation(
  items: readonly { readonly [field: string]: JsonValue | undefined }[],
  instructions: string | null | undefined,
  where: string,
): Conversation {
  const system: string[] = instructions === null || instructions === undefined ? [] : [instructions];
  const turns: Turn[] = [];
  for (const [i, item] of items.entries()) {
    const { type = "message", role } = item;
    if (typeof type === "string" && passedOver.has(type)) continue;
    if (type !== "message") throw invalid(`${where}[${i}].type: ${show(type)} is not supported; send messages.`);
    const text = messageText(item["content"] ?? null, `${where}[${i}].content`);
    if (role === "system" || role === "developer") system.push(text);
    else if (role === "user" || role === "assistant") turns.push({ role, text });
    else throw invalid(`${where}[${i}].role: must be system, developer, user or assistant, got ${show(role)}.`);
  }
  const last = turns.pop();
  if (last?.role !== "user") throw invalid(`${where}: the last message must have the role user.`);
  return { instructions: system.length === 0 ? undefined : system.join("\n"), history: turns, question: last.text };
}

function messageText(content: JsonValue, where: string): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content) || content.length === 0) throw invalid(`${where}: must be a string or a list of parts.`);
  return content
    .map((part: JsonValue, i) => {
      const type = isJsonObject(part) ? part["type"] : undefined;
      const field = typeof type === "string" ? textOf[type] : undefined;
      const text = isJsonObject(part) && field !== undefined ? part[field] : undefined;
      if (field === undefined) throw invalid(`${where}[${i}].type: only text is supported, got ${show(type)}.`);
      if (typeof text !== "string") throw invalid(`${where}[${i}].${field}: must be a string.`);
      return text;
    })
    .join("\n");
}
