/** VALUES: rows that are part of the query. */
import { PinakesError } from "../../domain/errors.ts";
import type { TermText } from "../../domain/rdf.ts";
import type { RdfTerm } from "../algebra.ts";
import { textOfTerm, type Variables } from "../variables.ts";
import type { PatternNode, Row } from "../node.ts";

export function valuesNode(
  variables: readonly RdfTerm[],
  bindings: readonly Readonly<Record<string, RdfTerm>>[],
  numbers: Variables,
): PatternNode {
  // The parser stores values as object properties, which does not work for this name.
  if (variables.some(({ value }) => value === "__proto__"))
    throw new PinakesError(
      "NOT_SUPPORTED",
      "SPARQL: VALUES for a variable named ?__proto__ is not supported; use another name.",
    );
  const slots = variables.map((variable) => numbers.slotOf(variable));
  const values = bindings.map((binding) => variables.map((variable) => valueOf(binding, variable.value)));
  const certain = new Set(slots.filter((_, at) => values.every((row) => row[at] !== undefined)));
  return {
    certain,
    possible: new Set(slots),
    pushable: certain,
    mentioned: new Set(slots),
    async *run({ outer, variables: { width } }, seed) {
      const agrees = (row: Row) =>
        slots.every((slot) =>
          [seed[slot], outer?.[slot]].every(
            (known) => known === undefined || row[slot] === undefined || row[slot] === known,
          ),
        );
      const rows = values.map((list) => rowOf(list, width)).filter(agrees);
      if (rows.length > 0) yield rows;
    },
    estimate: () => Promise.resolve(values.length),
    withFilter: () => undefined,
  };

  function rowOf(list: readonly (TermText | undefined)[], width: number): Row {
    const row = Array.from<TermText | undefined>({ length: width });
    for (const [at, slot] of slots.entries()) row[slot] = list[at];
    return row;
  }
}

function valueOf(binding: Readonly<Record<string, RdfTerm>>, name: string): TermText | undefined {
  const term = Object.hasOwn(binding, name) ? binding[name] : undefined;
  return term === undefined ? undefined : textOfTerm(term);
}
