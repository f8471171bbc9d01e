/** Instantiates a template for a row: CONSTRUCT, DELETE and INSERT. */
import { blank, defaultGraph, type Quad, type TermText } from "../domain/rdf.ts";
import type { RdfTerm, TriplePattern } from "./algebra.ts";
import type { Row } from "./node.ts";
import { textOfTerm, type Variables } from "./variables.ts";

type Part = (row: Row, blanks: Map<string, TermText>) => TermText | undefined;

/**
 * Skips a quad that would be invalid, such as one with an unbound variable or a literal as its subject. Blank nodes of the template are new
 * for each row.
 */
export function compileTemplate(
  patterns: readonly TriplePattern[],
  variables: Variables,
  newBlank: () => string,
): (row: Row, blanks?: Map<string, TermText>) => readonly Quad[] {
  const partOf = (term: RdfTerm): Part => {
    if (term.termType === "DefaultGraph") return () => defaultGraph;
    if (term.termType === "BlankNode") return (_, blanks) => freshBlank(term.value, blanks);
    if (term.termType === "Variable") {
      const slot = variables.slotOf(term);
      return (row) => row[slot];
    }
    const text = textOfTerm(term);
    return () => text;
  };
  const freshBlank = (label: string, blanks: Map<string, TermText>): TermText => {
    const known = blanks.get(label) ?? blank(newBlank());
    blanks.set(label, known);
    return known;
  };
  const parts = patterns.map(({ subject, predicate, object, graph }) => ({
    s: partOf(subject),
    p: partOf(predicate),
    o: partOf(object),
    g: partOf(graph),
  }));
  return (row, blanks = new Map()) =>
    parts.flatMap((part) => {
      const [s, p, o, g] = [part.s(row, blanks), part.p(row, blanks), part.o(row, blanks), part.g(row, blanks)];
      if (s === undefined || p === undefined || o === undefined || g === undefined) return [];
      const legal =
        !s.startsWith('"') && p.startsWith("<") && (g === defaultGraph || g.startsWith("<") || g.startsWith("_:"));
      return legal ? [{ s, p, o, g }] : [];
    });
}
