/** Documents of a given JSON size, shaped like agent state: short fields, then messages. */
import type { JsonObject } from "../../packages/pinakes/src/domain/json.ts";

export function documentOf(id: string, p: string, bytes: number): JsonObject {
  const document: { [key: string]: JsonObject[string]; messages: JsonObject[] } = {
    id,
    p,
    status: "in_progress",
    at: 1_700_000_000_000,
    messages: [],
  };
  let size = JSON.stringify(document).length;
  for (let i = 0; size < bytes; i += 1) {
    const room = Math.max(1, Math.min(400, bytes - size - 80));
    const message = {
      role: i % 2 ? "assistant" : "user",
      n: i,
      content: "Lorem ipsum dolor sit amet, consectetur adipiscing elit. ".repeat(8).slice(0, room),
      tokens: 96,
    };
    document.messages.push(message);
    size += JSON.stringify(message).length + 1;
  }
  return document;
}
