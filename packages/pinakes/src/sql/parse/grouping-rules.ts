/** What SELECT may contain beside aggregates, and what ORDER BY may contain beside DISTINCT. */
import type { PinakesError } from "../../domain/errors.ts";
import { childrenOf, type Expression, type Query } from "../ast.ts";

/** Outside of aggregates, SELECT may only use the expressions of GROUP BY: a group has no other values. */
export function requireGrouped({ select, groupBy }: Query, refuse: (detail: string) => PinakesError): void {
  if (select.kind === "star")
    throw refuse("SELECT * is not allowed with GROUP BY; select the values of GROUP BY and aggregates");
  const keys = groupBy.map(expressionKey);
  const check = (expression: Expression): void => {
    if (expression.kind === "aggregate" || keys.includes(expressionKey(expression))) return;
    if (expression.kind === "reference")
      throw refuse(
        `"${expression.alias}" is selected beside aggregates but is not in GROUP BY; add the property to GROUP BY or aggregate it`,
      );
    for (const child of childrenOf(expression)) check(child);
  };
  if (select.kind === "value") check(select.expression);
  else for (const { expression } of select.items) check(expression);
  for (const key of groupBy) {
    const inner = (part: Expression): boolean => part.kind === "aggregate" || childrenOf(part).some(inner);
    if (inner(key)) throw refuse("GROUP BY cannot contain an aggregate");
  }
}

/** Documents that DISTINCT merges must not differ in their sort position. */
export function requireDistinctOrder({ select, orderBy }: Query, refuse: (detail: string) => PinakesError): void {
  if (select.kind === "star") return;
  const selected = select.kind === "value" ? [select.expression] : select.items.map(({ expression }) => expression);
  const keys = selected.map(expressionKey);
  const whole = selected.some(({ kind }) => kind === "reference");
  const lost = orderBy.some(({ expression }) => !whole && !keys.includes(expressionKey(expression)));
  if (lost) throw refuse("with DISTINCT, every value of ORDER BY must also be selected");
}

/** Equal for expressions that are written the same way. */
export function expressionKey(expression: Expression): string {
  return JSON.stringify(expression, (_, value: unknown) => (value === undefined ? "\u0000undefined" : value));
}
