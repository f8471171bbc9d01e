/**
 * Filters in the language of Pinakes, also with `$` before its words, as in MongoDB, Pinecone, Chroma, LangGraph's store and the output of
 * LangChain's `BasicTranslator`: `{ year: { $gte: 2024 }, $or: [{ lang: "en" }, { lang: "de" }] }`.
 */
import { invalidInput, toJsonObject, type JsonObject } from "@pinakes/client";

/** See docs/reference.md#filters. */
export type PinakesFilter = Readonly<Record<string, unknown>>;

const words = ["eq", "ne", "in", "nin", "lt", "lte", "gt", "gte", "exists", "contains"];
const joins = ["and", "or", "not"];

/** A value that is undefined is refused: leaving the condition out would find more than the caller may have meant. */
export function toFilter(filter: unknown, where = "filter"): JsonObject {
  if (!isObject(filter))
    throw invalidInput(
      `${where}: must be an object such as { "status": "open" }; functions and strings are not supported as filters.`,
    );
  return toJsonObject(Object.fromEntries(Object.entries(filter).map((entry) => condition(entry, where))), where);
}

function condition([key, value]: readonly [string, unknown], where: string): readonly [string, unknown] {
  const here = `${where}.${key}`;
  if (value === undefined) throw invalidInput(`${here}: is undefined. Give a value, or leave the condition out.`);
  const word = key.startsWith("$") ? key.slice(1) : key;
  if (!joins.includes(word)) {
    if (word !== key) throw invalidInput(`${here}: there is no such operator; use $${joins.join(", $")} here.`);
    return [key, isObject(value) ? comparison(value, here) : value];
  }
  const parts = Array.isArray(value) ? value.map((part, i) => toFilter(part, `${here}[${i}]`)) : undefined;
  // A structured query has a list of one in its "not".
  if (word === "not") return [word, parts === undefined ? toFilter(value, here) : { and: parts }];
  if (parts === undefined) throw invalidInput(`${here}: must be a list of filters.`);
  return [word, parts];
}

function comparison(operators: Readonly<Record<string, unknown>>, where: string): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(operators).map(([name, operand]) => {
      const word = name.startsWith("$") ? name.slice(1) : name;
      if (!words.includes(word))
        throw invalidInput(`${where}: there is no operator "${name}"; use ${words.join(", ")}, with or without "$".`);
      if (operand === undefined) throw invalidInput(`${where}.${name}: is undefined.`);
      return [word, operand];
    }),
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
