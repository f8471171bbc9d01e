/**
 * How entities are found by the words of a query, without a model: beside the triples, in a separate graph, are the folded name of each
 * entity (`label-key`) and the words of that name (`label-word`). Both are looked up exactly in the index of triples. They are supported by
 * the chunk that names the entity, and removed with it.
 */
import { iri, literal, termOf, type Quad, type TermText } from "../../domain/rdf.ts";
import { extractionLimits } from "./limits.ts";
import { foldName, rdfsLabel, skosAltLabel } from "./names.ts";
import { isStopword } from "./stopwords.ts";

export const labelsGraph = iri("urn:pinakes:labels");
export const labelKeyPredicate = iri("urn:pinakes:label-key");
export const labelWordPredicate = iri("urn:pinakes:label-word");

const labelPredicates: ReadonlySet<TermText> = new Set([
  rdfsLabel,
  skosAltLabel,
  ...[
    "http://www.w3.org/2004/02/skos/core#prefLabel",
    "http://schema.org/name",
    "https://schema.org/name",
    "http://xmlns.com/foaf/0.1/name",
  ].map(iri),
  ...["http://purl.org/dc/terms/title", "http://purl.org/dc/elements/1.1/title"].map(iri),
]);

export function isLabelPredicate(predicate: TermText): boolean {
  return labelPredicates.has(predicate);
}

/** Normalizes a name for comparison: no accents, signs or case. */
export function labelKey(label: string): string {
  return foldName(label.normalize("NFD").replaceAll(/\p{Diacritic}/gu, ""))
    .replaceAll(/['’]s\b/g, "")
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/** The quads that make an entity findable by this name. */
export function labelQuads(entity: TermText, label: string): readonly Quad[] {
  if (label.length > extractionLimits.labelCharsMax) return [];
  const key = labelKey(label);
  // "here" and "there" are link texts, not names.
  if (key === "" || key.split(" ").every(isStopword)) return [];
  const quads: Quad[] = [{ s: entity, p: labelKeyPredicate, o: literal(key), g: labelsGraph }];
  const words = [...new Set(key.split(" "))]
    .filter((word) => word.length > 1 && !isStopword(word))
    .slice(0, extractionLimits.labelWordsMax);
  if (words.length > 1 || (words.length === 1 && words[0] !== key))
    for (const word of words) quads.push({ s: entity, p: labelWordPredicate, o: literal(word), g: labelsGraph });
  return quads;
}

/**
 * A readable name from the last part of an IRI: "GraceHopper" and "grace_hopper" both give "Grace Hopper". Undefined if it is not a name.
 */
export function localName(subject: TermText): string | undefined {
  const term = termOf(subject);
  if (term.type !== "iri") return undefined;
  const last = /[^/#:]+$/.exec(term.value)?.[0];
  if (last === undefined) return undefined;
  const words = decoded(last)
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .replaceAll(/[_.+-]+/g, " ")
    .trim();
  // Nobody searches for a hash or a number.
  return /\p{L}{2}/u.test(words) && !/^[0-9a-f -]{16,}$/i.test(words) ? words : undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
