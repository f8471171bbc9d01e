/**
 * The IRIs of entities. They depend on the ids of the repository and the collection and on the document's contents, never on the run: the
 * same document always gives the same triples.
 *
 *   urn:pinakes:<repository>:<collection>:p/<name>   a property, named by a column, a key, or a relation
 *   urn:pinakes:<repository>:<collection>:e/<name>   an entity with a name
 *   urn:pinakes:<repository>:<collection>:r/<hash>   a record without a name
 *   urn:pinakes:<repository>:<collection>:t/<name>   a class: the file of a table, the kind of an entity
 */
import { createHash } from "node:crypto";
import { iri, type TermText } from "../../domain/rdf.ts";
import { extractionLimits } from "./limits.ts";

export const rdfType = iri("http://www.w3.org/1999/02/22-rdf-syntax-ns#type");
export const rdfsLabel = iri("http://www.w3.org/2000/01/rdf-schema#label");
export const skosAltLabel = iri("http://www.w3.org/2004/02/skos/core#altLabel");

const hashChars = 24;
// oxlint-disable-next-line no-control-regex -- an IRI may not contain control characters
const absoluteIri = /^[A-Za-z][A-Za-z0-9+.-]*:[^\u0000-\u0020<>"{}|\\^`\u007f-\u009f]+$/;

export class Names {
  readonly #base: string;
  readonly #documentId: string;

  constructor(collection: { readonly repository_id: string; readonly collection_id: string }, documentId: string) {
    this.#base = namesBase(collection);
    this.#documentId = documentId;
  }

  property(name: string): TermText {
    return iri(`${this.#base}p/${slug(name)}`);
  }

  entity(name: string): TermText {
    return iri(`${this.#base}e/${slug(name)}`);
  }

  kind(name: string): TermText {
    return iri(`${this.#base}t/${slug(name)}`);
  }

  /** A record of this document, by what identifies it there. */
  record(...what: readonly string[]): TermText {
    return iri(`${this.#base}r/${stableHash(this.#documentId, ...what)}`);
  }
}

/** The common prefix of a collection's IRIs. */
export function namesBase(collection: { readonly repository_id: string; readonly collection_id: string }): string {
  return `urn:pinakes:${encodeURIComponent(collection.repository_id)}:${encodeURIComponent(collection.collection_id)}:`;
}

export function stableHash(...parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, hashChars);
}

/** Different spellings of a name give the same slug; different names stay different, even if long. */
export function slug(name: string): string {
  const folded = foldName(name);
  const words = folded.replaceAll(/[^\p{L}\p{N}\p{M}._-]+/gu, "_").replaceAll(/^_+|_+$/g, "");
  if (words === "") return stableHash(name);
  return words.length <= extractionLimits.slugCharsMax
    ? words
    : `${words.slice(0, extractionLimits.slugCharsMax).toWellFormed()}.${stableHash(folded)}`;
}

/** Case, compatibility forms of letters and runs of blanks do not distinguish names. */
export function foldName(name: string): string {
  return name.normalize("NFKC").toLowerCase().replaceAll(/\s+/g, " ").trim();
}

export function isAbsoluteIri(text: string): boolean {
  return text.length <= extractionLimits.valueCharsMax && absoluteIri.test(text) && text.isWellFormed();
}

/** A file name without folders and extension. */
export function stemOf(fileName: string): string {
  const base = fileName.split(/[/\\]/).at(-1) as string;
  return base.replace(/\.[^.]+$/, "") || base;
}
