/**
 * A prefilter: a condition that lets an engine skip documents early. It is only a hint. A document for which it is false certainly does not
 * match; one for which it is true may or may not match, and the caller still checks it. So an engine may ignore it, or any part that it
 * cannot evaluate exactly, and the tree has no "not" that could turn an approximation into a wrong answer.
 *
 * Paths go through objects only (domain/path.ts). A comparison is true only between values of one type; strings compare by UTF-8 bytes.
 */
import type { Filter } from "./filter.ts";
import { isJsonObject, type JsonScalar, type JsonValue } from "./json.ts";
import { parsePath, type Path } from "./path.ts";

export type Prefilter =
  | { readonly kind: "all"; readonly parts: readonly Prefilter[] }
  | { readonly kind: "any"; readonly parts: readonly Prefilter[] }
  | { readonly kind: "in"; readonly path: Path; readonly values: readonly JsonScalar[] }
  | {
      readonly kind: "range";
      readonly path: Path;
      readonly operator: "lt" | "lte" | "gt" | "gte";
      readonly value: string | number;
    }
  | { readonly kind: "prefix"; readonly path: Path; readonly prefix: string }
  | { readonly kind: "exists"; readonly path: Path };

/** A prefilter is compiled for every page: beyond this many comparisons and values it costs more than it saves. */
const comparisonsMax = 32;
const valuesMax = 100;

/** Joined by "and". An unknown part is omitted; undefined if no part remains. */
export function allOf(parts: readonly (Prefilter | undefined)[]): Prefilter | undefined {
  const known = parts.filter((part) => part !== undefined);
  return known.length > 1 ? { kind: "all", parts: known } : known[0];
}

/** Joined by "or". One unknown part makes the whole unknown. */
export function anyOf(parts: readonly (Prefilter | undefined)[]): Prefilter | undefined {
  const known = parts.filter((part) => part !== undefined);
  if (known.length < parts.length) return undefined;
  return known.length > 1 ? { kind: "any", parts: known } : known[0];
}

/** Without the parts that are too large to pay off. */
export function boundedPrefilter(prefilter: Prefilter | undefined): Prefilter | undefined {
  return prefilter === undefined ? undefined : within(prefilter, { left: comparisonsMax });
}

function within(prefilter: Prefilter, budget: { left: number }): Prefilter | undefined {
  if (prefilter.kind === "all") return allOf(prefilter.parts.map((part) => within(part, budget)));
  if (prefilter.kind === "any") return anyOf(prefilter.parts.map((part) => within(part, budget)));
  budget.left -= 1;
  return budget.left < 0 || (prefilter.kind === "in" && prefilter.values.length > valuesMax) ? undefined : prefilter;
}

/** The part of a validated filter (domain/filter.ts) that is exact. */
export function prefilterOf(filter: Filter): Prefilter | undefined {
  return allOf(
    Object.entries(filter).map(([key, value]) => (value === undefined ? undefined : partOf(key, value as JsonValue))),
  );
}

function partOf(key: string, value: JsonValue): Prefilter | undefined {
  if (key === "not") return undefined;
  if (key === "and" || key === "or") {
    const parts = (value as readonly Filter[]).map(prefilterOf);
    // An empty "or" matches nothing, which this tree cannot express.
    return key === "and" ? allOf(parts) : anyOf(parts);
  }
  const path = parsePath(key);
  if (!isJsonObject(value)) return { kind: "in", path, values: [value as JsonScalar] };
  return allOf(
    Object.entries(value).map(([operator, operand]) =>
      operand === undefined ? undefined : comparisonOf(path, operator, operand),
    ),
  );
}

function comparisonOf(path: Path, operator: string, operand: JsonValue): Prefilter | undefined {
  switch (operator) {
    case "eq":
      return { kind: "in", path, values: [operand as JsonScalar] };
    case "in":
      return { kind: "in", path, values: operand as readonly JsonScalar[] };
    case "lt":
    case "lte":
    case "gt":
    case "gte":
      return { kind: "range", path, operator, value: operand as string | number };
    case "exists":
      return operand === true ? { kind: "exists", path } : undefined;
    default:
      return undefined;
  }
}
