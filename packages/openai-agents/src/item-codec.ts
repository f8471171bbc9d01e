/** Items of a session as JSON and back. JSON has no bytes, so they become `{ "$bytes": "<base64>" }`; a property of that name gets another `$`. */
import type { AgentInputItem } from "@openai/agents-core";
import type { JsonObject, JsonValue } from "@pinakes/client";

const bytesKey = "$bytes";
const escapable = /^\$+bytes$/;

export function encodeItem(item: AgentInputItem): JsonObject {
  return encode(item) as JsonObject;
}

export function decodeItem(json: JsonValue | undefined): AgentInputItem {
  return decode(json) as AgentInputItem;
}

/** Text that is the same for the same content, whatever the order of its properties. */
export function canonicalJson(value: JsonValue | undefined): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

function encode(value: unknown): JsonValue | undefined {
  if (value instanceof Uint8Array) return { [bytesKey]: toBase64(value) };
  if (Array.isArray(value)) return value.map((part) => encode(part) ?? null);
  if (typeof value === "object" && value !== null) {
    if ("toJSON" in value && typeof value.toJSON === "function") return encode(value.toJSON());
    const entries = Object.entries(value).flatMap(([key, part]) => {
      const json = encode(part);
      return json === undefined ? [] : [[escapable.test(key) ? `$${key}` : key, json] as const];
    });
    return Object.fromEntries(entries);
  }
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  return undefined;
}

function decode(value: JsonValue | undefined): unknown {
  if (Array.isArray(value)) return value.map(decode);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value as JsonObject);
  const [only] = entries;
  if (entries.length === 1 && only?.[0] === bytesKey && typeof only[1] === "string") return fromBase64(only[1]);
  return Object.fromEntries(entries.map(([key, part]) => [escapable.test(key) ? key.slice(1) : key, decode(part)]));
}

function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

const fromBase64 = (text: string) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
