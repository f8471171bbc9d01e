/** `SELECT *`: its columns stand in the order in which the query names the variables first, which is how its reader thinks of them. */
import type { Operation, RdfTerm } from "./algebra.ts";

/** Strings, IRIs, comments and escapes in names are passed over; what stands alone is a variable. */
const variableOrText =
  /"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|<[^<>"{}|^`\\\s]*>|#[^\n\r]*|\\.|[?$]([\p{L}\p{N}\p{M}_\u00B7\u203F\u2040]+)/gu;

export function inOrderOfText(operation: Operation, text: string): Operation {
  switch (operation.type) {
    case "from":
    case "slice":
    case "distinct":
    case "reduced":
      return { ...operation, input: inOrderOfText(operation.input, text) };
    case "project":
      return { ...operation, variables: ordered(operation.variables, text) };
    default:
      return operation;
  }
}

function ordered(variables: readonly RdfTerm[], text: string): readonly RdfTerm[] {
  const places = new Map<string, number>();
  for (const { 1: name, index } of text.matchAll(variableOrText))
    if (name !== undefined && !places.has(name)) places.set(name, index);
  const placeOf = ({ value }: RdfTerm) => places.get(value) ?? text.length;
  return variables.toSorted((a, b) => placeOf(a) - placeOf(b));
}
