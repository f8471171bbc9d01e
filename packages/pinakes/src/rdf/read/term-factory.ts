/**
 * Creates the terms for the parsers (RDF/JS), each with its text in Pinakes, and validates it at once, while the parser's line is known.
 * Triple terms (RDF 1.2) can be created, since parsers do so on the way to an error, but are never emitted.
 */
import { invalid } from "../../domain/errors.ts";
import { defaultGraph, type Quad, type TermText, xsd } from "../../domain/rdf.ts";
import type { BlankLabels } from "../blank-labels.ts";
import { checkedBlank, checkedIri, checkedLiteral, rdfNamespace } from "../check-term.ts";

export interface FactoryTerm {
  readonly termType: "NamedNode" | "BlankNode" | "Literal" | "DefaultGraph" | "Variable" | "Quad";
  readonly value: string;
  readonly text: TermText;
  readonly language?: string;
  readonly direction?: string;
  readonly datatype?: FactoryTerm;
  equals(other: FactoryTerm | null | undefined): boolean;
}

export interface FactoryQuad extends FactoryTerm {
  readonly subject: FactoryTerm;
  readonly predicate: FactoryTerm;
  readonly object: FactoryTerm;
  readonly graph: FactoryTerm;
}

type LanguageOrDatatype = string | FactoryTerm | { readonly language: string; readonly direction?: string | undefined };

export interface TermFactory {
  namedNode(value: string): FactoryTerm;
  blankNode(label?: string): FactoryTerm;
  literal(value: string, kind?: LanguageOrDatatype | null): FactoryTerm;
  variable(value: string): FactoryTerm;
  defaultGraph(): FactoryTerm;
  quad(subject: FactoryTerm, predicate: FactoryTerm, object: FactoryTerm, graph?: FactoryTerm): FactoryQuad;
  fromTerm(term: FactoryTerm): FactoryTerm;
  fromQuad(quad: FactoryQuad): FactoryQuad;
}

export function termFactory(labels: BlankLabels, termBytesMax: number): TermFactory {
  const noGraph = term("DefaultGraph", "", defaultGraph);
  const datatype = (iri: string) => term("NamedNode", iri, `<${iri}>`);
  const string = datatype(`${xsd}string`);
  const words = datatype(`${rdfNamespace}langString`);
  return {
    namedNode: (value) => term("NamedNode", value, checkedIri(value, termBytesMax)),
    blankNode(label) {
      // The label is checked as written in the file, so that an error shows what the user can find there.
      if (label !== undefined) checkedBlank(label, termBytesMax);
      const value = label === undefined ? labels.next() : labels.named(label);
      return term("BlankNode", value, checkedBlank(value, termBytesMax));
    },
    literal(value, kind) {
      if (kind === undefined || kind === null || kind === "")
        return { ...term("Literal", value, checkedLiteral(value, {}, termBytesMax)), language: "", datatype: string };
      if (typeof kind === "object" && "termType" in kind) {
        return {
          ...term("Literal", value, checkedLiteral(value, { datatype: kind.value }, termBytesMax)),
          language: "",
          datatype: kind,
        };
      }
      const { language, direction = "" } = typeof kind === "string" ? { language: kind } : kind;
      if (direction !== "" || language.includes("--"))
        throw invalid(`The direction of a literal ("${language}") cannot be stored; omit it.`);
      return {
        ...term("Literal", value, checkedLiteral(value, { language }, termBytesMax)),
        language,
        datatype: words,
      };
    },
    variable(value) {
      throw invalid(`The variable ?${value} is not a term of RDF; write an IRI, a literal or a blank node.`);
    },
    defaultGraph: () => noGraph,
    quad: (subject, predicate, object, graph = noGraph) => ({
      ...term("Quad", "", ""),
      subject,
      predicate,
      object,
      graph,
    }),
    fromTerm: (given) => given,
    fromQuad: (given) => given,
  };
}

/** Parsers check most of this; what goes into a store is checked again. */
export function quadOf({ subject, predicate, object, graph }: FactoryQuad): Quad {
  for (const part of [subject, predicate, object, graph]) {
    if (part.termType === "Quad")
      throw invalid("A triple inside a triple (RDF 1.2) cannot be stored; state it as triples of its own.");
  }
  if (subject.termType !== "NamedNode" && subject.termType !== "BlankNode")
    throw invalid(`A subject is an IRI or a blank node, not ${subject.text}.`);
  if (predicate.termType !== "NamedNode") throw invalid(`A predicate is an IRI, not ${predicate.text}.`);
  if (graph.termType === "Literal") throw invalid(`A graph is named by an IRI or a blank node, not ${graph.text}.`);
  return { s: subject.text, p: predicate.text, o: object.text, g: graph.text };
}

function term(termType: FactoryTerm["termType"], value: string, text: TermText): FactoryTerm {
  return {
    termType,
    value,
    text,
    equals: (other) => other?.termType === termType && other.text === text && termType !== "Quad",
  };
}
