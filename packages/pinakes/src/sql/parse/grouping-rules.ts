/** What SELECT may hold beside aggregates, and what ORDER BY may hold beside DISTINCT. */
import type { PinakesError } from "../../domain/errors.ts";
import { childrenOf, type Expression, type Query } from "../ast.ts";

/** Outside of its aggregates, SELECT may only speak of what GROUP BY lists: a group has no other value of its own. */
export function requireGrouped({ select, groupBy }: Query, refuse: (detail: string) => PinakesError): void {
  if (select.kind === "star")
    throw refuse("SELECT * cannot stand with GROUP BY; select the values of GROUP BY and aggregates");
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
    if (inner(key)) throw refuse("GROUP BY cannot hold an aggregate");
  }
}

/** Two documents that DISTINCT makes one must not differ in their place. */
export function requireDistinctOrder({ select, orderBy }: Query, refuse: (detail: string) => PinakesError): void {
  if (select.kind === "star") return;
  const selected = select.kind === "value" ? [select.expression] : select.items.map(({ expression }) => expression);
  const keys = selected.map(expressionKey);
  const whole = selected.some(({ kind }) => kind === "reference");
  const lost = orderBy.some(({ expression }) => !whole && !keys.includes(expressionKey(expression)));
  if (lost) throw refuse("with DISTINCT, every value of ORDER BY must also be selected");
}

/** Equal for expressions that are written alike. */
export function expressionKey(expression: Expression): string {
  return JSON.stringify(expression, (_, value: unknown) => (value === undefined ? "\u0000undefined" : value));
}
