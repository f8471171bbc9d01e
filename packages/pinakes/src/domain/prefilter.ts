/**
 * A prefilter: what an engine may use to leave out documents early. It is a hint and never decides. A document for which it is false
 * surely does not match; one for which it is true may or may not, and is still judged by whoever asked. So an engine may ignore it, or
 * any part of it that it cannot tell exactly, and the tree holds nothing that a mistake could turn around: no "not".
 *
 * Paths go through objects only (domain/path.ts). A comparison holds between values of one type; strings compare by UTF-8 bytes.
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

/** Joined by "and". A part that is not known says nothing and is left out; undefined when nothing is left. */
export function allOf(parts: readonly (Prefilter | undefined)[]): Prefilter | undefined {
  const known = parts.filter((part) => part !== undefined);
  return known.length > 1 ? { kind: "all", parts: known } : known[0];
}

/** Joined by "or". One part that is not known makes the whole unknown. */
export function anyOf(parts: readonly (Prefilter | undefined)[]): Prefilter | undefined {
  const known = parts.filter((part) => part !== undefined);
  if (known.length < parts.length) return undefined;
  return known.length > 1 ? { kind: "any", parts: known } : known[0];
}

/** Without what is too large to be worth its cost. */
export function boundedPrefilter(prefilter: Prefilter | undefined): Prefilter | undefined {
  return prefilter === undefined ? undefined : within(prefilter, { left: comparisonsMax });
}

function within(prefilter: Prefilter, budget: { left: number }): Prefilter | undefined {
  if (prefilter.kind === "all") return allOf(prefilter.parts.map((part) => within(part, budget)));
  if (prefilter.kind === "any") return anyOf(prefilter.parts.map((part) => within(part, budget)));
  budget.left -= 1;
  return budget.left < 0 || (prefilter.kind === "in" && prefilter.values.length > valuesMax) ? undefined : prefilter;
}

/** What a checked filter (domain/filter.ts) says for sure. */
export function prefilterOf(filter: Filter): Prefilter | undefined {
  return allOf(
    Object.entries(filter).map(([key, value]) => (value === undefined ? undefined : partOf(key, value as JsonValue))),
  );
}

function partOf(key: string, value: JsonValue): Prefilter | undefined {
  if (key === "not") return undefined;
  if (key === "and" || key === "or") {
    const parts = (value as readonly Filter[]).map(prefilterOf);
    // An empty "or" matches nothing, which this tree cannot say.
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
