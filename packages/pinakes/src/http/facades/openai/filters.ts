/** Filters on attributes: converts OpenAI's format to ours. */
import { invalid, show } from "../../../domain/errors.ts";
import type { Comparison, Filter } from "../../../domain/filter.ts";
import { isJsonObject, type JsonScalar } from "../../../domain/json.ts";
import { attributePath } from "./metadata.ts";

const depthMax = 8;
const conditionsMax = 100;
const listMax = 100;

interface Condition {
  readonly path: string;
  readonly comparison: Comparison;
  /** Whether it matches a file without the attribute. */
  readonly absent: boolean;
}
export type ParsedFilter = Condition | { readonly join: "and" | "or"; readonly parts: readonly ParsedFilter[] };

export function parseFilter(input: unknown): ParsedFilter {
  return parse(input, "filters", 1, { left: conditionsMax });
}

function parse(input: unknown, where: string, depth: number, budget: { left: number }): ParsedFilter {
  if (depth > depthMax) throw invalid(`filters: are nested more than ${depthMax} levels deep; flatten them.`);
  if (!isJsonObject(input))
    throw invalid(`${where}: must be an object with type and, for a comparison, key and value.`);
  budget.left -= 1;
  if (budget.left < 0) throw invalid(`filters: have more than ${conditionsMax} conditions.`);
  const { type, ...fields } = input;
  if (type === "and" || type === "or") {
    const { filters, ...stray } = fields;
    refuseStray(stray, where);
    if (!Array.isArray(filters) || filters.length === 0)
      throw invalid(`${where}.filters: must be a list of at least one filter.`);
    return { join: type, parts: filters.map((part, i) => parse(part, `${where}.filters[${i}]`, depth + 1, budget)) };
  }
  const { key, value, ...stray } = fields;
  refuseStray(stray, where);
  if (typeof key !== "string" || key === "") throw invalid(`${where}.key: must be the name of an attribute.`);
  return {
    path: attributePath(key),
    comparison: comparisonOf(type, value, where),
    absent: type === "ne" || type === "nin",
  };
}

function comparisonOf(type: unknown, value: unknown, where: string): Comparison {
  switch (type) {
    case "eq":
    case "ne":
      return { [type]: scalar(value, `${where}.value`) };
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      if (typeof value !== "number" && typeof value !== "string")
        throw invalid(`${where}.value: ${type} requires a number or a string, got ${show(value)}.`);
      return { [type]: value };
    case "in":
    case "nin":
      if (!Array.isArray(value) || value.length === 0 || value.length > listMax)
        throw invalid(`${where}.value: ${type} requires a list of 1–${listMax} values.`);
      return { [type]: value.map((one, i) => scalar(one, `${where}.value[${i}]`)) };
    default:
      throw invalid(`${where}.type: must be eq, ne, gt, gte, lt, lte, in, nin, and or or, got ${show(type)}.`);
  }
}

function scalar(value: unknown, where: string): JsonScalar {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  throw invalid(`${where}: must be a string, a number, true or false, got ${show(value)}.`);
}

function refuseStray(stray: object, where: string): void {
  const [name] = Object.keys(stray);
  if (name !== undefined)
    throw invalid(`${where}.${name}: is unknown; remove it or correct its name.`, { reason: "unknown_field" });
}

/**
 * Converts to our filter. Conditions on attributes that no file of the store has are evaluated here, since a search rejects such fields:
 * the result is true or false if no condition remains.
 */
export function toFilter(parsed: ParsedFilter, unknown: ReadonlySet<string>): Filter | boolean {
  if (!("join" in parsed)) return unknown.has(parsed.path) ? parsed.absent : { [parsed.path]: parsed.comparison };
  const decides = parsed.join === "or";
  const parts = parsed.parts.map((part) => toFilter(part, unknown));
  if (parts.includes(decides)) return decides;
  const open = parts.filter((part) => typeof part !== "boolean");
  return open.length === 0 ? !decides : { [parsed.join]: open };
}
