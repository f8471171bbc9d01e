/** The parser's output. Names are resolved: a reference holds the slot of its alias in the row, not the name. */
import type { JsonScalar } from "../domain/json.ts";

export interface Query {
  readonly text: string;
  readonly select: Select;
  readonly distinct: boolean;
  readonly top: Count | undefined;
  /** The alias of the document: slot 0 of a row. */
  readonly root: string;
  readonly joins: readonly Join[];
  readonly where: Expression | undefined;
  readonly groupBy: readonly Expression[];
  readonly orderBy: readonly OrderKey[];
  readonly offset: Count | undefined;
  readonly limit: Count | undefined;
  /** Whether SELECT contains an aggregate. */
  readonly aggregates: boolean;
}

export type Select =
  | { readonly kind: "star" }
  | { readonly kind: "value"; readonly expression: Expression }
  | { readonly kind: "list"; readonly items: readonly { readonly name: string; readonly expression: Expression }[] };

export interface Join {
  readonly alias: string;
  readonly slot: number;
  readonly source: Expression;
}

export interface OrderKey {
  readonly expression: Expression;
  readonly descending: boolean;
}

/** A whole number, or the parameter that supplies it. */
export type Count = { readonly value: number } | { readonly parameter: string };

export interface Subquery {
  readonly value: Expression;
  readonly joins: readonly Join[];
  readonly where: Expression | undefined;
}

export type BinaryOperator = "=" | "!=" | "<" | "<=" | ">" | ">=" | "+" | "-" | "*" | "/" | "%" | "||" | "??";
export type AggregateName = "COUNT" | "COUNTIF" | "SUM" | "AVG" | "MIN" | "MAX" | "MAKELIST" | "MAKESET";

export type Expression =
  | { readonly kind: "literal"; readonly value: JsonScalar | undefined }
  | { readonly kind: "parameter"; readonly name: string }
  | { readonly kind: "reference"; readonly slot: number; readonly alias: string }
  /** `c.name` and `c["name"]`; `key` may be computed. */
  | { readonly kind: "member"; readonly of: Expression; readonly key: Expression }
  | { readonly kind: "array"; readonly items: readonly Expression[] }
  | { readonly kind: "object"; readonly properties: readonly { readonly name: string; readonly value: Expression }[] }
  | { readonly kind: "unary"; readonly operator: "-" | "+" | "NOT"; readonly operand: Expression }
  | {
      readonly kind: "binary";
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly kind: "logical"; readonly operator: "AND" | "OR"; readonly parts: readonly Expression[] }
  | { readonly kind: "in"; readonly operand: Expression; readonly values: readonly Expression[] }
  | { readonly kind: "between"; readonly operand: Expression; readonly low: Expression; readonly high: Expression }
  | {
      readonly kind: "like";
      readonly operand: Expression;
      readonly pattern: Expression;
      readonly escape: string | undefined;
    }
  | {
      readonly kind: "conditional";
      readonly test: Expression;
      readonly whenTrue: Expression;
      readonly otherwise: Expression;
    }
  | { readonly kind: "call"; readonly name: string; readonly arguments: readonly Expression[] }
  | { readonly kind: "aggregate"; readonly name: AggregateName; readonly argument: Expression }
  | { readonly kind: "exists"; readonly query: Subquery }
  | { readonly kind: "collect"; readonly query: Subquery };

/** The direct subexpressions of an expression, including subqueries. */
export function childrenOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case "literal":
    case "parameter":
    case "reference":
      return [];
    case "member":
      return [expression.of, expression.key];
    case "array":
      return expression.items;
    case "object":
      return expression.properties.map(({ value }) => value);
    case "unary":
      return [expression.operand];
    case "binary":
      return [expression.left, expression.right];
    case "logical":
      return expression.parts;
    case "in":
      return [expression.operand, ...expression.values];
    case "between":
      return [expression.operand, expression.low, expression.high];
    case "like":
      return [expression.operand, expression.pattern];
    case "conditional":
      return [expression.test, expression.whenTrue, expression.otherwise];
    case "call":
      return expression.arguments;
    case "aggregate":
      return [expression.argument];
    case "exists":
    case "collect":
      return [
        ...expression.query.joins.map(({ source }) => source),
        ...(expression.query.where === undefined ? [] : [expression.query.where]),
        expression.query.value,
      ];
  }
}

/** True if `test` holds for the expression or any subexpression. */
export function anyInside(expression: Expression, test: (part: Expression) => boolean): boolean {
  return test(expression) || childrenOf(expression).some((child) => anyInside(child, test));
}

/** `c.a.b` as ["a", "b"]; undefined unless the expression is a path of named properties of the document. */
export function documentPath(expression: Expression): readonly string[] | undefined {
  const path: string[] = [];
  let at = expression;
  while (at.kind === "member") {
    if (at.key.kind !== "literal" || typeof at.key.value !== "string") return undefined;
    path.unshift(at.key.value);
    at = at.of;
  }
  return at.kind === "reference" && at.slot === 0 && path.length > 0 ? path : undefined;
}
