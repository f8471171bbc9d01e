/** Variables are numbered, and a row has a slot for each. A blank node of a pattern is an anonymous variable. */
import { blank, iri, literal, type TermText } from "../domain/rdf.ts";
import type { RdfTerm } from "./algebra.ts";

export class Variables {
  readonly #slots = new Map<string, number>();

  slotOf(term: RdfTerm): number {
    const name = term.termType === "BlankNode" ? `_:${term.value}` : term.value;
    const known = this.#slots.get(name);
    if (known !== undefined) return known;
    this.#slots.set(name, this.#slots.size);
    return this.#slots.size - 1;
  }

  /** The number of variables. Final once everything is compiled. */
  get width(): number {
    return this.#slots.size;
  }
}

export function isVariable(term: RdfTerm): boolean {
  return term.termType === "Variable" || term.termType === "BlankNode";
}

export function textOfTerm(term: RdfTerm): TermText {
  if (term.termType === "NamedNode") return iri(term.value);
  if (term.termType === "BlankNode") return blank(term.value);
  return literal(term.value, { language: term.language, datatype: term.datatype?.value });
}
