/**
 * Filters: one language for residual query filters, write conditions and vector metadata.
 *
 *   { status: "open", year: { gte: 2020, lt: 2030 }, or: [{ lang: "en" }, { lang: { exists: false } }] }
 *
 * Properties are joined by "and". A comparison is true only between values of one type; `ne` and `nin` are the exact opposites of
 * `eq` and `in`, so they are true for a missing property. `contains`: the array contains the value, or the string contains the text.
 */
import { invalid, show } from "./errors.ts";
import { compareUtf8, isJsonObject, type JsonObject, type JsonScalar, type JsonValue } from "./json.ts";
import { limits } from "./limits.ts";
import { parsePath, valueAt } from "./path.ts";

export interface Comparison {
  readonly eq?: JsonScalar;
  readonly ne?: JsonScalar;
  readonly in?: readonly JsonScalar[];
  readonly nin?: readonly JsonScalar[];
  readonly lt?: string | number;
  readonly lte?: string | number;
  readonly gt?: string | number;
  readonly gte?: string | number;
  readonly exists?: boolean;
  readonly contains?: JsonScalar;
}

export interface Filter {
  readonly and?: readonly Filter[];
  readonly or?: readonly Filter[];
  readonly not?: Filter;
  readonly [path: string]: JsonScalar | Comparison | Filter | readonly Filter[] | undefined;
}

export type Predicate = (document: JsonObject) => boolean;

/** Validates a filter once and returns the function that evaluates it. */
export function compileFilter(filter: unknown, where = "filter"): Predicate {
  return compile(filter, where, { nodes: 0 });
}

function compile(filter: unknown, where: string, budget: { nodes: number }): Predicate {
  if (!isJsonObject(filter)) throw invalid(`${where}: must be an object such as { "status": "open" }.`);
  const parts: Predicate[] = [];
  for (const [key, value] of Object.entries(filter)) {
    if (value === undefined) continue;
    budget.nodes += 1;
    if (budget.nodes > limits.filterNodesMax)
      throw invalid(`${where}: more than ${limits.filterNodesMax} conditions; split the query.`);
    parts.push(compilePart(key, value, `${where}.${key}`, budget));
  }
  return (document) => parts.every((part) => part(document));
}

function compilePart(key: string, value: JsonValue, where: string, budget: { nodes: number }): Predicate {
  if (key === "and" || key === "or") {
    if (!Array.isArray(value)) throw invalid(`${where}: must be a list of filters.`);
    const parts = value.map((part, i) => compile(part, `${where}[${i}]`, budget));
    return key === "and" ? (d) => parts.every((part) => part(d)) : (d) => parts.some((part) => part(d));
  }
  if (key === "not") {
    const part = compile(value, where, budget);
    return (document) => !part(document);
  }
  const path = parsePath(key);
  const test = isJsonObject(value) ? compileComparison(value, where) : equalTo(scalar(value, where));
  return (document) => test(valueAt(document, path));
}

type Test = (value: JsonValue | undefined) => boolean;

function compileComparison(comparison: JsonObject, where: string): Test {
  const tests = Object.entries(comparison)
    .filter(([, operand]) => operand !== undefined)
    .map(([operator, operand]) => compileOperator(operator, operand, `${where}.${operator}`));
  if (tests.length === 0) throw invalid(`${where}: an empty comparison; give one of ${operators}.`);
  return (value) => tests.every((test) => test(value));
}

const operators = "eq, ne, in, nin, lt, lte, gt, gte, exists, contains";

function compileOperator(operator: string, operand: JsonValue | undefined, where: string): Test {
  switch (operator) {
    case "eq":
      return equalTo(scalar(operand, where));
    case "ne":
      return negate(equalTo(scalar(operand, where)));
    case "in":
      return oneOf(operand, where);
    case "nin":
      return negate(oneOf(operand, where));
    case "lt":
    case "lte":
    case "gt":
    case "gte":
      return ordered(operator, operand, where);
    case "exists":
      if (typeof operand !== "boolean") throw invalid(`${where}: must be true or false.`);
      return (value) => (value !== undefined) === operand;
    case "contains":
      return containing(scalar(operand, where));
    default:
      throw invalid(`${where}: unknown operator; use one of ${operators}, or and, or, not around filters.`);
  }
}

function scalar(value: JsonValue | undefined, where: string): JsonScalar {
  if (
    value === null ||
    typeof value === "string" ||
    typeof value === "boolean" ||
    (typeof value === "number" && Number.isFinite(value))
  )
    return value;
  throw invalid(`${where}: must be a string, finite number, boolean or null.`);
}

function equalTo(operand: JsonScalar): Test {
  return (value) => value === operand;
}

function negate(test: Test): Test {
  return (value) => !test(value);
}

function oneOf(operand: JsonValue | undefined, where: string): Test {
  if (!Array.isArray(operand) || operand.length > limits.filterNodesMax) {
    throw invalid(`${where}: must be a list of at most ${limits.filterNodesMax} values.`);
  }
  const values = new Set(operand.map((entry: JsonValue, i) => scalar(entry, `${where}[${i}]`)));
  return (value) => value !== undefined && values.has(value as JsonScalar);
}

function ordered(operator: "lt" | "lte" | "gt" | "gte", operand: JsonValue | undefined, where: string): Test {
  if (typeof operand !== "string" && !(typeof operand === "number" && Number.isFinite(operand)))
    throw invalid(`${where}: needs a number or a string, got ${show(operand)}.`);
  return (value) => {
    if (typeof value !== typeof operand) return false;
    const order = typeof operand === "string" ? compareUtf8(value as string, operand) : (value as number) - operand;
    if (operator === "lt") return order < 0;
    if (operator === "lte") return order <= 0;
    if (operator === "gt") return order > 0;
    return order >= 0;
  };
}

function containing(operand: JsonScalar): Test {
  return (value) => {
    if (Array.isArray(value)) return value.includes(operand);
    return typeof value === "string" && typeof operand === "string" && value.includes(operand);
  };
}
