/**
 * Derives a prefilter that an engine can evaluate early (domain/prefilter.ts) from a condition of WHERE.
 *
 * Invariant: where the condition is true, so is the prefilter. It ignores properties that the stored document lacks (_etag, _ts), and
 * everything but comparisons of a property with a constant.
 */
import { isSystemProperty } from "../../domain/system-properties.ts";
import { allOf, anyOf, type Prefilter } from "../../domain/prefilter.ts";
import { documentPath, type Expression, type Join } from "../ast.ts";
import type { EvaluationContext } from "../expressions/evaluate.ts";
import { comparisonOf, constantOf } from "./facts.ts";
import { likePrefix } from "../expressions/like.ts";
import type { Value } from "../expressions/values.ts";

export function prefilterOfConditions(
  conditions: readonly Expression[],
  joins: readonly Join[],
  context: EvaluationContext,
): Prefilter | undefined {
  // A JOIN over an absent value returns no rows.
  const joined = joins.map(({ source }) => ofPath(source, (path) => ({ kind: "exists", path })));
  return allOf([...conditions.map((condition) => prefilterOf(condition, context)), ...joined]);
}

function ofPath(
  expression: Expression | undefined,
  make: (path: readonly string[]) => Prefilter | undefined,
): Prefilter | undefined {
  const path = expression === undefined ? undefined : documentPath(expression);
  return path === undefined || isSystemProperty(path[0] as string) ? undefined : make(path);
}

function prefilterOf(condition: Expression, context: EvaluationContext): Prefilter | undefined {
  switch (condition.kind) {
    case "member":
      return ofPath(condition, (path) => ({ kind: "in", path, values: [true] }));
    case "unary":
      return condition.operator === "NOT"
        ? ofPath(condition.operand, (path) => ({ kind: "in", path, values: [false] }))
        : undefined;
    case "logical": {
      const parts = condition.parts.map((part) => prefilterOf(part, context));
      return condition.operator === "AND" ? allOf(parts) : anyOf(parts);
    }
    case "binary":
      return ofComparison(condition, context);
    case "in": {
      const values = condition.values.map((value) => constantOf(value, context));
      return values.includes(undefined)
        ? undefined
        : ofPath(condition.operand, (path) =>
            among(
              path,
              values.map((found) => found?.value),
            ),
          );
    }
    case "between": {
      const [low, high] = [constantOf(condition.low, context)?.value, constantOf(condition.high, context)?.value];
      return ofPath(condition.operand, (path) => allOf([range(path, "gte", low), range(path, "lte", high)]));
    }
    case "like": {
      const pattern = constantOf(condition.pattern, context)?.value;
      return ofPath(condition.operand, (path) =>
        prefixed(path, typeof pattern === "string" ? likePrefix(pattern, condition.escape) : ""),
      );
    }
    case "call":
      return ofCall(condition.name, condition.arguments, context);
    case "exists":
      return ofPath(condition.query.joins[0]?.source, (path) => ({ kind: "exists", path }));
    default:
      return undefined;
  }
}

const rangeOperators: Readonly<Record<string, "lt" | "lte" | "gt" | "gte">> = {
  "<": "lt",
  "<=": "lte",
  ">": "gt",
  ">=": "gte",
};

function ofComparison(
  condition: Extract<Expression, { kind: "binary" }>,
  context: EvaluationContext,
): Prefilter | undefined {
  const found = comparisonOf(condition, context);
  if (found === undefined || isSystemProperty(found.path[0] as string)) return undefined;
  const { path, operator, value } = found;
  if (operator === "=") return among(path, [value]);
  // An absent value does not satisfy "!=": the comparison is undefined.
  if (operator === "!=") return { kind: "exists", path };
  const sign = rangeOperators[operator];
  return sign === undefined ? undefined : range(path, sign, value);
}

function ofCall(name: string, given: readonly Expression[], context: EvaluationContext): Prefilter | undefined {
  const [first, second] = given;
  if (name === "STARTSWITH" && given.length === 2) {
    const prefix = constantOf(second as Expression, context)?.value;
    return ofPath(first, (path) => prefixed(path, typeof prefix === "string" ? prefix : ""));
  }
  if (name === "ARRAY_CONTAINS" && given.length === 2) {
    const list = constantOf(first as Expression, context)?.value;
    if (Array.isArray(list)) return ofPath(second, (path) => among(path, list));
  }
  // Every other function that can be true is true only for present values.
  return ofPath(first, (path) => ({ kind: "exists", path }));
}

function among(path: readonly string[], listed: readonly Value[]): Prefilter | undefined {
  const values = listed.filter((value) => value !== undefined);
  return values.every((value) => typeof value !== "object" || value === null)
    ? { kind: "in", path, values }
    : undefined;
}

function range(path: readonly string[], operator: "lt" | "lte" | "gt" | "gte", value: Value): Prefilter | undefined {
  return typeof value === "string" || typeof value === "number" ? { kind: "range", path, operator, value } : undefined;
}

function prefixed(path: readonly string[], prefix: string): Prefilter {
  return prefix === "" ? { kind: "exists", path } : { kind: "prefix", path, prefix };
}
