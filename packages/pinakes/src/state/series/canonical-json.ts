/** One text for one value, whatever the order of its keys: for hashes and for "the same content". */
import { isJsonObject, type JsonValue } from "../../domain/json.ts";

export function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const parts = Object.keys(value)
    .toSorted()
    .flatMap((key) => (value[key] === undefined ? [] : [`${JSON.stringify(key)}:${canonicalJson(value[key])}`]));
  return `{${parts.join(",")}}`;
}
