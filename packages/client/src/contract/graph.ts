/** RDF triples and SPARQL results. */
import type { JsonObject } from "../json.ts";

export type Term =
  | { readonly type: "iri"; readonly value: string }
  | { readonly type: "literal"; readonly value: string; readonly language?: string; readonly datatype?: string }
  | { readonly type: "blank"; readonly value: string };

export interface Triple {
  readonly s: Term;
  readonly p: Term;
  readonly o: Term;
  /** Null in the default graph. */
  readonly g: Term | null;
}

/** A passage that states a triple, with its position in the text of a version. */
export interface TripleSource {
  readonly document_id: string;
  readonly chunk_id: string;
  readonly filename: string;
  readonly version: number;
  readonly page?: number;
  /** UTF-16 code units into the document's text. */
  readonly start: number;
  readonly end: number;
}

/** The provenance of a triple. */
export interface Provenance {
  readonly triple: Triple;
  /** It was stated without a document, and stays until it is removed. */
  readonly asserted: boolean;
  /** At most 1,000. */
  readonly sources: readonly (TripleSource & { readonly quote: string })[];
  /** The same as PROV-O, in JSON-LD. */
  readonly prov: JsonObject;
}

/** A triple that a document states, with the passages of the document that state it. */
export interface DocumentTriple extends Triple {
  readonly passages: readonly { readonly chunk_id: string; readonly index: number }[];
}

/** A term, or its text: `<iri>`, `"words"@en`, `"1"^^xsd:integer`, `_:label`. */
export type TermInput = string | Term;

export interface TripleInput {
  readonly s: TermInput;
  readonly p: TermInput;
  readonly o: TermInput;
  readonly g?: TermInput | null | undefined;
}

/** An absent position matches anything; `g: null` is the default graph. */
export interface TriplePattern {
  readonly s?: TermInput | undefined;
  readonly p?: TermInput | undefined;
  readonly o?: TermInput | undefined;
  readonly g?: TermInput | null | undefined;
}

export const rdfMediaTypes = {
  turtle: "text/turtle",
  trig: "application/trig",
  ntriples: "application/n-triples",
  nquads: "application/n-quads",
  jsonld: "application/ld+json",
  rdfxml: "application/rdf+xml",
} as const;
export type RdfFormat = keyof typeof rdfMediaTypes;

export interface LoadedTriples {
  /** Triples in the body. */
  readonly read: number;
  /** Triples that were not stored before. */
  readonly inserted: number;
  /** With `allOrNothing`: whether one transaction stored all of them. */
  readonly atomic?: boolean;
}

export type SparqlAnswer =
  | {
      readonly kind: "bindings";
      readonly variables: readonly string[];
      readonly rows: readonly Readonly<Record<string, Term>>[];
    }
  | { readonly kind: "boolean"; readonly value: boolean }
  | { readonly kind: "quads"; readonly quads: readonly Triple[] };

export interface SparqlUpdated {
  readonly inserted: number;
  readonly removed: number;
}
