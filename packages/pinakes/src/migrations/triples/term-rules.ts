/**
 * Maps the text columns of a table to terms by explicit rules, never by guessing. Every rule is reversible, which is checked for each row,
 * so that the table can be restored from the terms.
 */
import { invalid, PinakesError, show } from "../../domain/errors.ts";
import { defaultGraph, iri, literal, termOf, type Quad, type TermText } from "../../domain/rdf.ts";
import type { MoreColumn, TriplesSpec } from "./spec.ts";

export interface TextRow {
  readonly s: unknown;
  readonly p: unknown;
  readonly o: unknown;
  /** Determines the object's type from another column. */
  readonly more?: Readonly<Partial<Record<MoreColumn["is"], unknown>>> | undefined;
}

/** Syntax of IRIs; the store checks the details. */
const absolute = /^[A-Za-z][A-Za-z0-9+.-]*:[^\p{Cc} <>"{}|^`\\]+$/u;
const blankLabel = /^_:[\p{L}\p{N}_](?:[\p{L}\p{N}._-]*[\p{L}\p{N}_-])?$/u;
const termBytesMax = 32_768;
const xsd = "http://www.w3.org/2001/XMLSchema#";

export class TermRules {
  readonly #objects: TriplesSpec["objects"];
  readonly #schemes: ReadonlySet<string>;
  readonly #words: ReadonlySet<string>;
  readonly #base: string | undefined;

  constructor({ objects, iri_schemes = ["http", "https", "urn"], literal_predicates = [], iri_base }: TriplesSpec) {
    if (iri_base !== undefined && !absolute.test(iri_base))
      throw invalid(`iri_base: ${show(iri_base)} is not an absolute IRI, such as urn:legacy:.`);
    this.#objects = objects;
    this.#schemes = new Set(iri_schemes.map((scheme) => scheme.toLowerCase()));
    this.#words = new Set(literal_predicates);
    this.#base = iri_base;
  }

  /** INVALID names the wrong column and the reason. */
  quadOf(row: TextRow): Quad {
    const [s, p, o] = [textOf(row.s, "s"), textOf(row.p, "p"), textOf(row.o, "o")];
    if (row.more !== undefined) return this.#fullQuad({ s, p, o }, row.more);
    if (p.startsWith("_:")) throw invalid(`p: ${show(p)} is a blank node, which cannot be a predicate.`);
    const quad = { s: this.#node(s, "s"), p: this.#node(p, "p"), o: this.#object(o, p), g: defaultGraph };
    const back = this.rowOf(quad);
    if (back.s !== s || back.p !== p || back.o !== o)
      throw invalid(
        `${show([s, p, o])} would be restored as ${show([back.s, back.p, back.o])}; change iri_base or the rule for objects.`,
      );
    return quad;
  }

  /** A row that declares its object's type; such tables are never written back. */
  #fullQuad(
    { s, p, o }: { readonly s: string; readonly p: string; readonly o: string },
    { g = "", otype, dtype = "", lang = "" }: NonNullable<TextRow["more"]>,
  ): Quad {
    if (p.startsWith("_:")) throw invalid(`p: ${show(p)} is a blank node, which cannot be a predicate.`);
    const graph = textOf(g, "graph");
    return {
      s: this.#node(s, "s"),
      p: this.#node(p, "p"),
      o:
        otype === undefined
          ? this.#object(o, p)
          : this.#typedObject(o, otype, textOf(dtype, "dtype"), textOf(lang, "lang")),
      g: graph === "" ? defaultGraph : this.#node(graph, "graph"),
    };
  }

  #typedObject(text: string, otype: unknown, datatype: string, language: string): TermText {
    switch (otype) {
      case "u":
      case "i":
        return this.#node(text, "o");
      case "l":
        if (language !== "") return literal(text, { language });
        return datatype === "" ? literal(text) : literal(text, { datatype: datatype.replace(/^xsd:/, xsd) });
      default:
        throw invalid(`otype: ${show(otype)} must be u, i or l; quoted triples are not supported.`);
    }
  }

  /** CONFLICT for a triple that the table cannot represent or would read differently. */
  rowOf(quad: Quad): { readonly s: string; readonly p: string; readonly o: string } {
    if (quad.g !== defaultGraph) throw this.#cannotHold(quad, "it is in a named graph");
    const p = this.#nodeText(quad.p);
    const row = { s: this.#nodeText(quad.s), p, o: this.#objectText(quad) };
    if (this.#object(row.o, p) !== quad.o)
      throw this.#cannotHold(quad, `its object would be read as ${this.#object(row.o, p)}`);
    return row;
  }

  #node(text: string, column: string): TermText {
    if (absolute.test(text)) return iri(text);
    if (blankLabel.test(text)) return text;
    if (this.#base !== undefined && text !== "") return iri(this.#base + encodeURIComponent(text));
    throw invalid(
      `${column}: ${show(text)} is neither an absolute IRI nor a blank node; set "iri_base" to turn such text into IRIs.`,
    );
  }

  #object(text: string, predicate: string): TermText {
    if (this.#objects === "iri") return this.#node(text, "o");
    if (this.#objects === "literal" || this.#words.has(predicate)) return literal(text);
    if (blankLabel.test(text)) return text;
    const scheme = absolute.test(text) ? text.slice(0, text.indexOf(":")).toLowerCase() : undefined;
    return scheme !== undefined && this.#schemes.has(scheme) ? iri(text) : literal(text);
  }

  #nodeText(term: TermText): string {
    const { type, value } = termOf(term);
    if (type !== "iri") return term;
    return this.#base !== undefined && value.startsWith(this.#base)
      ? decodeURIComponent(value.slice(this.#base.length))
      : value;
  }

  #objectText(quad: Quad): string {
    const term = termOf(quad.o);
    if (term.type === "literal") {
      if (term.language !== undefined || term.datatype !== undefined)
        throw this.#cannotHold(quad, "its object has a language or a datatype");
      return term.value;
    }
    return this.#objects === "iri" ? this.#nodeText(quad.o) : term.type === "iri" ? term.value : quad.o;
  }

  #cannotHold({ s, p, o }: Quad, why: string): PinakesError {
    return new PinakesError(
      "CONFLICT",
      `A text table cannot represent ${show([s, p, o])}: ${why}. Remove that triple, or keep the new form.`,
    );
  }
}

function textOf(value: unknown, column: string): string {
  if (typeof value !== "string")
    throw invalid(
      `${column}: is ${value === null || value === undefined ? "empty (NULL)" : `a ${typeof value}`}, not a string.`,
    );
  if (value.includes("\0")) throw invalid(`${column}: contains a NUL character.`);
  if (!value.isWellFormed()) throw invalid(`${column}: is not well-formed Unicode.`);
  if (Buffer.byteLength(value, "utf8") > termBytesMax - 2)
    throw invalid(`${column}: is longer than ${termBytesMax - 2} bytes.`);
  return value;
}
