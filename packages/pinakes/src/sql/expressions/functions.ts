/** The functions of the subset. Each returns undefined for unsuitable arguments, as in Cosmos DB. */
import { invalid } from "../../domain/errors.ts";
import type { JsonValue } from "../../domain/json.ts";
import { matches } from "../../runtime/regex/match.ts";
import { compileProgram } from "../../runtime/regex/program.ts";
import { sqlLimits } from "../limits.ts";
import { arrayFunctions } from "./array-functions.ts";
import { dateTimeAdd, formatMs } from "./date-functions.ts";
import { dateParts } from "./date-parts.ts";
import { parseRegex } from "./regex-parse.ts";
import { textFunctions } from "./text-functions.ts";
import { equal, finite, isObject, type Value } from "./values.ts";

/** Numeric functions. A result that is not a finite number is undefined. */
const one = (of: (value: number) => number): SqlFunction => ({
  min: 1,
  max: 1,
  of: ([value]) => (typeof value === "number" ? finite(of(value)) : undefined),
});

const two = (of: (a: number, b: number) => number): SqlFunction => ({
  min: 2,
  max: 2,
  of: ([a, b]) => (typeof a === "number" && typeof b === "number" ? finite(of(a, b)) : undefined),
});

const numberFunctions: Readonly<Record<string, SqlFunction>> = {
  ACOS: one(Math.acos),
  ASIN: one(Math.asin),
  ATAN: one(Math.atan),
  ATN2: two(Math.atan2),
  COS: one(Math.cos),
  COT: one((value) => 1 / Math.tan(value)),
  DEGREES: one((value) => (value * 180) / Math.PI),
  EXP: one(Math.exp),
  LOG: {
    min: 1,
    max: 2,
    of: ([value, base]) =>
      typeof value === "number" && (base === undefined || typeof base === "number")
        ? finite(base === undefined ? Math.log(value) : Math.log(value) / Math.log(base))
        : undefined,
  },
  LOG10: one(Math.log10),
  PI: { min: 0, max: 0, of: () => Math.PI },
  POWER: two((value, exponent) => value ** exponent),
  RADIANS: one((value) => (value * Math.PI) / 180),
  SIGN: one(Math.sign),
  SIN: one(Math.sin),
  SQRT: one(Math.sqrt),
  SQUARE: one((value) => value * value),
  TAN: one(Math.tan),
  TRUNC: one(Math.trunc),
  IS_FINITE_NUMBER: { min: 1, max: 1, of: ([value]) => typeof value === "number" },
  IS_INTEGER: { min: 1, max: 1, of: ([value]) => Number.isInteger(value) },
  IS_PRIMITIVE: {
    min: 1,
    max: 1,
    of: ([value]) => value === null || (value !== undefined && typeof value !== "object"),
  },
};

export interface FunctionContext {
  /** Epoch milliseconds, constant for a whole query including all its pages. */
  readonly now: number;
}

export interface SqlFunction {
  readonly min: number;
  readonly max: number;
  readonly of: (values: readonly Value[], context: FunctionContext) => Value;
}

const typeTest = (of: (value: Value) => boolean): SqlFunction => ({ min: 1, max: 1, of: ([value]) => of(value) });
const ofString = (of: (text: string) => Value): SqlFunction => ({
  min: 1,
  max: 1,
  of: ([text]) => (typeof text === "string" ? of(text) : undefined),
});
const ofNumber = (of: (value: number) => number): SqlFunction => ({
  min: 1,
  max: 1,
  of: ([value]) => (typeof value === "number" ? finite(of(value)) : undefined),
});

/** Two strings and, as an optional third argument, whether to ignore case. */
function textTest(test: (text: string, part: string) => boolean): SqlFunction {
  const of = ([text, part, ignoreCase]: readonly Value[], count: number): Value => {
    if (typeof text !== "string" || typeof part !== "string" || (count > 2 && typeof ignoreCase !== "boolean"))
      return undefined;
    return ignoreCase === true ? test(text.toLowerCase(), part.toLowerCase()) : test(text, part);
  };
  return { min: 2, max: 3, of: (values) => of(values, values.length) };
}

const functions: Readonly<Record<string, SqlFunction>> = {
  IS_DEFINED: typeTest((value) => value !== undefined),
  IS_NULL: typeTest((value) => value === null),
  IS_STRING: typeTest((value) => typeof value === "string"),
  IS_NUMBER: typeTest((value) => typeof value === "number"),
  IS_BOOL: typeTest((value) => typeof value === "boolean"),
  IS_ARRAY: typeTest((value) => Array.isArray(value)),
  IS_OBJECT: typeTest(isObject),
  CONTAINS: textTest((text, part) => text.includes(part)),
  STARTSWITH: textTest((text, part) => text.startsWith(part)),
  ENDSWITH: textTest((text, part) => text.endsWith(part)),
  LOWER: ofString((text) => text.toLowerCase()),
  UPPER: ofString((text) => text.toUpperCase()),
  LENGTH: ofString((text) => text.length),
  SUBSTRING: { min: 3, max: 3, of: substring },
  CONCAT: {
    min: 2,
    max: Infinity,
    of: (values) => (values.every((value) => typeof value === "string") ? values.join("") : undefined),
  },
  REGEXMATCH: { min: 2, max: 3, of: regexMatch },
  ARRAY_CONTAINS: { min: 2, max: 3, of: arrayContains },
  ARRAY_LENGTH: { min: 1, max: 1, of: ([value]) => (Array.isArray(value) ? value.length : undefined) },
  ABS: ofNumber(Math.abs),
  FLOOR: ofNumber(Math.floor),
  CEILING: ofNumber(Math.ceil),
  // Rounds half away from zero; Math.round would round -2.5 to -2.
  ROUND: ofNumber((value) => Math.sign(value) * Math.round(Math.abs(value))),
  GETCURRENTDATETIME: { min: 0, max: 0, of: (_, { now }) => formatMs(now) },
  GETCURRENTTIMESTAMP: { min: 0, max: 0, of: (_, { now }) => now },
  DATETIMEADD: { min: 3, max: 3, of: ([part, amount, start]) => dateTimeAdd(part, amount, start) },
  ...dateParts,
  ...textFunctions,
  ...arrayFunctions,
  ...numberFunctions,
};

export const functionNames: readonly string[] = Object.keys(functions);

export function isFunctionName(name: string): boolean {
  return Object.hasOwn(functions, name);
}

/** An error message if the number of arguments is wrong. */
export function requireArguments(name: string, count: number): string | undefined {
  const { min, max } = functions[name] as SqlFunction;
  if (count >= min && count <= max) return undefined;
  const wanted = min === max ? String(min) : max === Infinity ? `${min} or more` : `${min} to ${max}`;
  return `${name} takes ${wanted} argument${wanted === "1" ? "" : "s"}, got ${count}`;
}

export function callFunction(name: string, values: readonly Value[], context: FunctionContext): Value {
  return (functions[name] as SqlFunction).of(values, context);
}

function substring([text, start, length]: readonly Value[]): Value {
  if (typeof text !== "string" || !Number.isInteger(start) || !Number.isInteger(length)) return undefined;
  const from = Math.max(0, start as number);
  return text.slice(from, from + Math.max(0, length as number));
}

function arrayContains([array, wanted, partial]: readonly Value[]): Value {
  if (!Array.isArray(array) || wanted === undefined) return undefined;
  if (partial === true && isObject(wanted)) {
    const entries = Object.entries(wanted) as [string, JsonValue][];
    return array.some(
      (item: JsonValue) =>
        isObject(item) &&
        entries.every(([name, value]) => Object.hasOwn(item, name) && equal(item[name] as JsonValue, value)),
    );
  }
  return array.some((item: JsonValue) => equal(item, wanted));
}

/** Patterns are nearly always the same for every document. The cache is bounded, so patterns computed from documents cannot fill memory. */
const matchers = new Map<string, RegexMatcher>();
const matchersMax = 50;

function regexMatch([text, pattern, modifiers]: readonly Value[]): Value {
  if (
    typeof text !== "string" ||
    typeof pattern !== "string" ||
    (modifiers !== undefined && typeof modifiers !== "string")
  )
    return undefined;
  const key = `${modifiers ?? ""}/${pattern}`;
  let matcher = matchers.get(key);
  if (matcher === undefined) {
    matcher = compileRegex(pattern, modifiers ?? "");
    if (matchers.size >= matchersMax) matchers.clear();
    matchers.set(key, matcher);
  }
  return matcher(text);
}

/** REGEXMATCH, in time proportional to the input (runtime/regex). */
type RegexMatcher = (text: string) => boolean | undefined;

export function compileRegex(pattern: string, modifiers: string): RegexMatcher {
  if (pattern.length > sqlLimits.regexCharsMax)
    throw invalid(
      `query: REGEXMATCH: the pattern has ${pattern.length} characters; at most ${sqlLimits.regexCharsMax} are allowed.`,
    );
  if (!/^[imsx]*$/.test(modifiers))
    throw invalid(`query: REGEXMATCH: modifiers are i, m, s and x; got ${JSON.stringify(modifiers.slice(0, 20))}.`);
  const flags = {
    ignoreCase: modifiers.includes("i"),
    multiline: modifiers.includes("m"),
    dotAll: modifiers.includes("s"),
    extended: modifiers.includes("x"),
  };
  const program = compileProgram(parseRegex(pattern, flags), {
    statesMax: sqlLimits.regexStatesMax,
    tooManyStates: () =>
      invalid(
        `query: REGEXMATCH: the pattern needs more than ${sqlLimits.regexStatesMax} states; write smaller repetitions.`,
      ),
  });
  return (text) =>
    text.length > sqlLimits.regexInputCharsMax
      ? undefined
      : matches(
          program,
          Array.from(text, (char) => char.codePointAt(0) as number),
        );
}
