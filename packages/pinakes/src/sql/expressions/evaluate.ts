/**
 * Compiles expressions to functions of a row. The logic is three-valued, as in Cosmos DB: a comparison with undefined is undefined, AND and
 * OR return a value if one side alone decides it, and a filter keeps only rows for which it is true.
 */
import { invalid } from "../../domain/errors.ts";
import type { JsonObject, JsonValue } from "../../domain/json.ts";
import type { BinaryOperator, Expression, Join, Subquery } from "../ast.ts";
import { callFunction } from "./functions.ts";
import { compileLike, type LikeMatcher } from "./like.ts";
import { sqlLimits } from "../limits.ts";
import { compareSameType, equal, finite, memberOf, type Value } from "./values.ts";

/** Values of the aliases, by slot; slot 0 is the document. */
export type Row = Value[];
export type Evaluator = (row: Row) => Value;

export interface EvaluationContext {
  readonly parameters: ReadonlyMap<string, JsonValue>;
  readonly now: number;
  /** Number of rows that JOIN and subqueries produced from the current document; reset for each document. */
  readonly expanded: { rows: number };
  /** While a group is projected: the values of its aggregates and GROUP BY expressions. Undefined for any other expression. */
  readonly known?: (expression: Expression) => Evaluator | undefined;
}

export function compileExpression(expression: Expression, context: EvaluationContext): Evaluator {
  const known = context.known?.(expression);
  if (known !== undefined) return known;
  const compile = (part: Expression): Evaluator => compileExpression(part, context);
  switch (expression.kind) {
    case "literal":
      return () => expression.value;
    case "parameter":
      return parameter(expression.name, context);
    case "reference":
      return (row) => row[expression.slot];
    case "member": {
      const [of, key] = [compile(expression.of), compile(expression.key)];
      return (row) => memberOf(of(row), key(row));
    }
    case "array":
      return arrayOf(expression.items.map(compile));
    case "object":
      return objectOf(expression.properties.map(({ name, value }) => [name, compile(value)]));
    case "unary":
      return unary(expression.operator, compile(expression.operand));
    case "binary":
      return binary(expression.operator, compile(expression.left), compile(expression.right));
    case "logical":
      return logical(expression.operator, expression.parts.map(compile));
    case "in": {
      const [operand, values] = [compile(expression.operand), expression.values.map(compile)];
      return logical(
        "OR",
        values.map((value) => binary("=", operand, value)),
      );
    }
    case "between": {
      const operand = compile(expression.operand);
      return logical("AND", [
        binary(">=", operand, compile(expression.low)),
        binary("<=", operand, compile(expression.high)),
      ]);
    }
    case "like":
      return like(compile(expression.operand), compile(expression.pattern), expression.escape);
    case "conditional": {
      const [test, whenTrue, otherwise] = [
        compile(expression.test),
        compile(expression.whenTrue),
        compile(expression.otherwise),
      ];
      return (row) => (test(row) === true ? whenTrue(row) : otherwise(row));
    }
    case "call": {
      const values = expression.arguments.map(compile);
      return (row) =>
        callFunction(
          expression.name,
          values.map((value) => value(row)),
          context,
        );
    }
    case "aggregate":
      throw invalid(`query: ${expression.name} is only allowed in SELECT.`);
    case "exists": {
      const rows = subquery(expression.query, context);
      return (row) => !rows(row).next().done;
    }
    case "collect": {
      const rows = subquery(expression.query, context);
      return (row) => [...rows(row)];
    }
  }
}

function parameter(name: string, { parameters }: EvaluationContext): Evaluator {
  const value = parameters.get(name);
  if (value === undefined)
    throw invalid(
      `query: the parameter @${name} has no value; give it one in parameters: [{ "name": "@${name}", "value": … }].`,
    );
  return () => value;
}

/** An undefined element or property is omitted, as in the JSON that Cosmos DB returns. */
function arrayOf(items: readonly Evaluator[]): Evaluator {
  return (row) => items.map((item) => item(row)).filter((value) => value !== undefined);
}

export function objectOf(properties: readonly (readonly [string, Evaluator])[]): (row: Row) => JsonObject {
  return (row) =>
    Object.fromEntries(
      properties.map(([name, value]) => [name, value(row)] as const).filter(([, value]) => value !== undefined),
    );
}

function unary(operator: "-" | "+" | "NOT", operand: Evaluator): Evaluator {
  if (operator === "NOT") {
    return (row) => {
      const value = operand(row);
      return typeof value === "boolean" ? !value : undefined;
    };
  }
  const sign = operator === "-" ? -1 : 1;
  return (row) => {
    const value = operand(row);
    return typeof value === "number" ? finite(sign * value) : undefined;
  };
}

const orders: Readonly<Record<string, (order: number) => boolean>> = {
  "<": (order) => order < 0,
  "<=": (order) => order <= 0,
  ">": (order) => order > 0,
  ">=": (order) => order >= 0,
};
const calculations: Readonly<Record<string, (a: number, b: number) => number>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "%": (a, b) => a % b,
};

function binary(operator: BinaryOperator, left: Evaluator, right: Evaluator): Evaluator {
  if (operator === "??") {
    return (row) => {
      // Only undefined falls through to the right side; null is a value.
      const value = left(row);
      return value === undefined ? right(row) : value;
    };
  }
  const of = operation(operator);
  return (row) => of(left(row), right(row));
}

function operation(operator: Exclude<BinaryOperator, "??">): (a: Value, b: Value) => Value {
  if (operator === "=" || operator === "!=") {
    const wanted = operator === "=";
    return (a, b) => (a === undefined || b === undefined ? undefined : equal(a, b) === wanted);
  }
  if (operator === "||") return (a, b) => (typeof a === "string" && typeof b === "string" ? a + b : undefined);
  const order = orders[operator];
  if (order !== undefined) {
    return (a, b) => {
      const compared = compareSameType(a, b);
      return compared === undefined ? undefined : order(compared);
    };
  }
  const calculate = calculations[operator] as (a: number, b: number) => number;
  return (a, b) => (typeof a === "number" && typeof b === "number" ? finite(calculate(a, b)) : undefined);
}

function logical(operator: "AND" | "OR", parts: readonly Evaluator[]): Evaluator {
  const deciding = operator === "OR";
  return (row) => {
    let answer: Value = !deciding;
    for (const part of parts) {
      const value = part(row);
      if (value === deciding) return deciding;
      if (value !== !deciding) answer = undefined;
    }
    return answer;
  };
}

function like(operand: Evaluator, pattern: Evaluator, escape: string | undefined): Evaluator {
  let last: { readonly pattern: string; readonly matches: LikeMatcher } | undefined;
  return (row) => {
    const [text, wanted] = [operand(row), pattern(row)];
    if (typeof text !== "string" || typeof wanted !== "string") return undefined;
    if (last?.pattern !== wanted) last = { pattern: wanted, matches: compileLike(wanted, escape) };
    return last.matches(text);
  };
}

/** The rows that a document expands to, one after another. The same object is yielded each time. */
export function expandJoins(joins: readonly Join[], context: EvaluationContext): (row: Row) => Iterable<Row> {
  const sources = joins.map(({ slot, source }) => ({ slot, source: compileExpression(source, context) }));
  function* expand(row: Row, from: number): Generator<Row> {
    const join = sources[from];
    if (join === undefined) {
      yield row;
      return;
    }
    const items = join.source(row);
    if (!Array.isArray(items)) return;
    for (const item of items as readonly JsonValue[]) {
      context.expanded.rows += 1;
      if (context.expanded.rows > sqlLimits.rowsPerDocumentMax)
        throw invalid(
          `query: one document becomes more than ${sqlLimits.rowsPerDocumentMax} rows by JOIN or subqueries; join fewer arrays, or filter in steps.`,
        );
      row[join.slot] = item;
      yield* expand(row, from + 1);
    }
  }
  return (row) => expand(row, 0);
}

function subquery({ value, joins, where }: Subquery, context: EvaluationContext): (row: Row) => Generator<JsonValue> {
  const rows = expandJoins(joins, context);
  const [of, keep] = [
    compileExpression(value, context),
    where === undefined ? undefined : compileExpression(where, context),
  ];
  return function* (row) {
    for (const inner of rows(row)) {
      const found = keep === undefined || keep(inner) === true ? of(inner) : undefined;
      if (found !== undefined) yield found;
    }
  };
}
