/**
 * The constraints of WHERE on single properties that an index can look up. The conditions joined by AND are considered one by one; a
 * condition that is not understood here yields no fact and is evaluated on the documents.
 *
 * Invariant: a document for which WHERE is true has every fact. `exact` conditions are also true for every document with their fact.
 */
import { withinUtf8Bytes, type JsonScalar } from "../../domain/json.ts";
import type { Range } from "../../ports/item-store.ts";
import { anyInside, documentPath, type BinaryOperator, type Expression } from "../ast.ts";
import { compileExpression, type EvaluationContext } from "../expressions/evaluate.ts";
import { likePrefix } from "../expressions/like.ts";
import { pathKey, type PathKey } from "./paths.ts";
import type { Value } from "../expressions/values.ts";

/** A condition of WHERE by its number, with the constraint. */
export type Fact = { readonly condition: number; readonly path: readonly string[]; readonly exact: boolean } & (
  | { readonly kind: "among"; readonly values: readonly JsonScalar[] }
  | { readonly kind: "range"; readonly range: Range }
);

export interface Facts {
  readonly conditions: readonly Expression[];
  /** By path, in the order of WHERE. */
  readonly of: ReadonlyMap<PathKey, readonly Fact[]>;
  /** WHERE can never be true. */
  readonly never: boolean;
}

/** Longer values are not looked up: no index contains a key of this length. */
const keyBytesMax = 1_024;

export function factsOf(where: Expression | undefined, context: EvaluationContext): Facts {
  const all = where === undefined ? [] : conditionsOf(where);
  const constant = all.map((condition) => constantOf(condition, context));
  const never = constant.some((found) => found !== undefined && found.value !== true);
  const conditions = all.filter((_, i) => constant[i] === undefined);
  const of = new Map<PathKey, Fact[]>();
  for (const [i, condition] of conditions.entries()) {
    for (const fact of factsOfCondition(condition, i, context)) {
      const key = pathKey(fact.path);
      of.set(key, [...(of.get(key) ?? []), fact]);
    }
  }
  return {
    conditions,
    of,
    never: never || [...of.values()].flat().some((fact) => fact.kind === "among" && fact.values.length === 0),
  };
}

export function conditionsOf(where: Expression): readonly Expression[] {
  return where.kind === "logical" && where.operator === "AND" ? where.parts.flatMap(conditionsOf) : [where];
}

/** The value of an expression that does not depend on the document. */
export function constantOf(expression: Expression, context: EvaluationContext): { readonly value: Value } | undefined {
  const depends = anyInside(
    expression,
    ({ kind }) => kind === "reference" || kind === "aggregate" || kind === "exists" || kind === "collect",
  );
  return depends ? undefined : { value: compileExpression(expression, context)([]) };
}

function factsOfCondition(condition: Expression, number: number, context: EvaluationContext): readonly Fact[] {
  switch (condition.kind) {
    case "binary":
      return comparisonFact(condition, number, context);
    case "in":
      return amongFact(condition.operand, condition.values, number, context);
    case "between": {
      const [low, high] = [constantOf(condition.low, context)?.value, constantOf(condition.high, context)?.value];
      const path = documentPath(condition.operand);
      if (path === undefined || !isBound(low) || !isBound(high) || typeof low !== typeof high) return [];
      return [{ kind: "range", condition: number, path, exact: true, range: { gte: low, lte: high } }];
    }
    case "like": {
      const pattern = constantOf(condition.pattern, context)?.value;
      return typeof pattern === "string"
        ? prefixFact(condition.operand, likePrefix(pattern, condition.escape), number, false)
        : [];
    }
    case "call":
      return callFact(condition.name, condition.arguments, number, context);
    case "logical":
      return orFact(condition.parts, number, context);
    default:
      return [];
  }
}

const flipped: Readonly<Partial<Record<BinaryOperator, BinaryOperator>>> = {
  "=": "=",
  "<": ">",
  "<=": ">=",
  ">": "<",
  ">=": "<=",
};
const bounds: Readonly<Partial<Record<BinaryOperator, keyof Range>>> = {
  "<": "lt",
  "<=": "lte",
  ">": "gt",
  ">=": "gte",
};

/** `c.a < 5` as its path, operator and constant, whichever side they are on. */
export function comparisonOf(
  { operator, left, right }: Extract<Expression, { kind: "binary" }>,
  context: EvaluationContext,
): { readonly path: readonly string[]; readonly operator: BinaryOperator; readonly value: Value } | undefined {
  const [leftPath, rightPath] = [documentPath(left), documentPath(right)];
  if (leftPath !== undefined) {
    const constant = constantOf(right, context);
    return constant === undefined ? undefined : { path: leftPath, operator, value: constant.value };
  }
  const turned = operator === "!=" ? operator : flipped[operator];
  if (rightPath === undefined || turned === undefined) return undefined;
  const constant = constantOf(left, context);
  return constant === undefined ? undefined : { path: rightPath, operator: turned, value: constant.value };
}

function comparisonFact(
  condition: Extract<Expression, { kind: "binary" }>,
  number: number,
  context: EvaluationContext,
): readonly Fact[] {
  const found = comparisonOf(condition, context);
  if (found === undefined) return [];
  const { path, operator, value } = found;
  if (operator === "=") {
    if (value === undefined) return [{ kind: "among", condition: number, path, exact: true, values: [] }];
    return isKey(value) ? [{ kind: "among", condition: number, path, exact: true, values: [value] }] : [];
  }
  const bound = bounds[operator];
  return bound !== undefined && isBound(value)
    ? [{ kind: "range", condition: number, path, exact: true, range: { [bound]: value } }]
    : [];
}

function amongFact(
  operand: Expression,
  listed: readonly Expression[],
  number: number,
  context: EvaluationContext,
): readonly Fact[] {
  const path = documentPath(operand);
  const constants = listed.map((value) => constantOf(value, context));
  if (path === undefined || constants.includes(undefined)) return [];
  return among(
    path,
    constants.map((constant) => constant?.value),
    number,
  );
}

function among(path: readonly string[], listed: readonly Value[], number: number): readonly Fact[] {
  const values = listed.filter((value) => value !== undefined);
  return values.every(isKey)
    ? [{ kind: "among", condition: number, path, exact: true, values: [...new Set(values)] }]
    : [];
}

/** `c.a = 1 OR c.a = 2` is `c.a IN (1, 2)`. */
function orFact(parts: readonly Expression[], number: number, context: EvaluationContext): readonly Fact[] {
  const facts = parts.map((part) => factsOfCondition(part, number, context));
  const values: JsonScalar[] = [];
  let path: readonly string[] | undefined;
  for (const [fact, ...more] of facts) {
    if (fact?.kind !== "among" || more.length > 0 || (path !== undefined && pathKey(path) !== pathKey(fact.path)))
      return [];
    path = fact.path;
    values.push(...fact.values);
  }
  return path === undefined ? [] : among(path, values, number);
}

function callFact(
  name: string,
  given: readonly Expression[],
  number: number,
  context: EvaluationContext,
): readonly Fact[] {
  const [first, second, third] = given as [Expression, Expression?, Expression?];
  if (name === "STARTSWITH" && second !== undefined) {
    const prefix = constantOf(second, context)?.value;
    const cased = third === undefined || constantOf(third, context)?.value === false;
    return typeof prefix === "string" && cased ? prefixFact(first, prefix, number, true) : [];
  }
  if (name === "ARRAY_CONTAINS" && second !== undefined && third === undefined) {
    const [list, path] = [constantOf(first, context)?.value, documentPath(second)];
    return Array.isArray(list) && path !== undefined ? among(path, list, number) : [];
  }
  return [];
}

function prefixFact(operand: Expression, prefix: string, number: number, exact: boolean): readonly Fact[] {
  const path = documentPath(operand);
  return path === undefined || prefix === "" || !isBound(prefix)
    ? []
    : [{ kind: "range", condition: number, path, exact, range: { prefix } }];
}

function isBound(value: Value): value is string | number {
  return typeof value === "number" || (typeof value === "string" && isKey(value));
}

/** Whether an index can contain the value as a key. Other values are left to the evaluator. */
function isKey(value: Value): value is JsonScalar {
  if (typeof value === "string")
    return value.isWellFormed() && !value.includes("\0") && withinUtf8Bytes(value, keyBytesMax);
  return value === null || typeof value === "boolean" || typeof value === "number";
}
