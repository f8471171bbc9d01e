/** A query with groups has one row for each group: what it selects must be the same in all rows of a group (19.8, note 12). */
import { invalid } from "../domain/errors.ts";
import type { Expression, Operation, RdfTerm } from "./algebra.ts";

export function checkGrouping(input: Operation, selected: readonly RdfTerm[]): void {
  const assigned: { readonly variable: RdfTerm; readonly expression: Expression }[] = [];
  let inner = input;
  for (;;) {
    if (inner.type === "extend") assigned.unshift(inner);
    if (inner.type === "group") break;
    if (inner.type === "extend" || inner.type === "orderby" || inner.type === "filter") inner = inner.input;
    // VALUES after the query stands between the groups and what is selected.
    else if (inner.type === "join" && inner.input.at(-1)?.type === "values") inner = inner.input[0] as Operation;
    else return;
  }
  const allowed = new Set(
    [...inner.variables, ...inner.aggregates.map(({ variable }) => variable)].map(({ value }) => value),
  );
  const check = (name: string): void => {
    if (!allowed.has(name))
      throw invalid(
        `SPARQL: ?${name} is selected, but it is neither in GROUP BY nor inside an aggregate; use SAMPLE(?${name}) to take any of its values.`,
      );
  };
  for (const { variable, expression } of assigned) {
    for (const name of variablesOf(expression)) check(name);
    allowed.add(variable.value);
  }
  for (const { value } of selected) check(value);
}

function variablesOf(expression: Expression): readonly string[] {
  if (expression.subType === "term") return expression.term.termType === "Variable" ? [expression.term.value] : [];
  return expression.subType === "operator" || expression.subType === "named"
    ? expression.args.flatMap(variablesOf)
    : [];
}
