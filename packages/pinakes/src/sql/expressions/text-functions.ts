/** String functions and conversions. Lengths and positions count UTF-16 code units, as SUBSTRING and LENGTH do. */
import type { JsonValue } from "../../domain/json.ts";
import type { SqlFunction } from "./functions.ts";
import { isObject, type Value } from "./values.ts";

/** Maximum length of the result of REPLICATE and REPLACE. */
const madeCharsMax = 1_048_576;

const oneText = (of: (text: string) => Value): SqlFunction => ({
  min: 1,
  max: 1,
  of: ([text]) => (typeof text === "string" ? of(text) : undefined),
});

/** A string that contains JSON of this type, ignoring surrounding whitespace. */
const parsed = (fits: (value: JsonValue) => boolean): SqlFunction =>
  oneText((text) => {
    try {
      const value = JSON.parse(text) as JsonValue;
      return fits(value) ? value : undefined;
    } catch {
      return undefined;
    }
  });

const part = (of: (text: string, count: number) => string): SqlFunction => ({
  min: 2,
  max: 2,
  of: ([text, count]) =>
    typeof text === "string" && typeof count === "number" && Number.isInteger(count)
      ? of(text, Math.max(0, count))
      : undefined,
});

export const textFunctions: Readonly<Record<string, SqlFunction>> = {
  TOSTRING: {
    min: 1,
    max: 1,
    of: ([value]) => (typeof value === "string" || value === undefined ? value : JSON.stringify(value)),
  },
  STRINGTOARRAY: parsed(Array.isArray),
  STRINGTOBOOLEAN: parsed((value) => typeof value === "boolean"),
  STRINGTONULL: parsed((value) => value === null),
  STRINGTONUMBER: parsed((value) => typeof value === "number"),
  STRINGTOOBJECT: parsed(isObject),
  STRINGEQUALS: { min: 2, max: 3, of: stringEquals },
  STRINGJOIN: {
    min: 2,
    max: 2,
    of: ([texts, between]) =>
      Array.isArray(texts) && texts.every((text) => typeof text === "string") && typeof between === "string"
        ? texts.join(between)
        : undefined,
  },
  STRINGSPLIT: {
    min: 2,
    max: 2,
    of: ([text, between]) =>
      typeof text === "string" && typeof between === "string" && between !== "" ? text.split(between) : undefined,
  },
  REPLACE: { min: 3, max: 3, of: replace },
  REPLICATE: part((text, count) => (text.length * count <= madeCharsMax ? text.repeat(count) : "")),
  REVERSE: oneText((text) => Array.from(text).toReversed().join("")),
  LEFT: part((text, count) => text.slice(0, count)),
  RIGHT: part((text, count) => (count === 0 ? "" : text.slice(-count))),
  TRIM: oneText((text) => text.trim()),
  LTRIM: oneText((text) => text.trimStart()),
  RTRIM: oneText((text) => text.trimEnd()),
  INDEX_OF: {
    min: 2,
    max: 3,
    of: ([text, wanted, from]) =>
      typeof text === "string" && typeof wanted === "string" && (from === undefined || Number.isInteger(from))
        ? text.indexOf(wanted, from as number | undefined)
        : undefined,
  },
};

function stringEquals([a, b, ignoreCase]: readonly Value[]): Value {
  if (typeof a !== "string" || typeof b !== "string") return undefined;
  return ignoreCase === true ? a.toLowerCase() === b.toLowerCase() : a === b;
}

function replace([text, wanted, by]: readonly Value[]): Value {
  if (typeof text !== "string" || typeof wanted !== "string" || typeof by !== "string") return undefined;
  if (wanted === "") return text;
  const parts = text.split(wanted);
  return text.length + (parts.length - 1) * by.length <= madeCharsMax ? parts.join(by) : undefined;
}
