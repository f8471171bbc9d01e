/** RDF terms as text: for the API, and for display. */
import type { Term } from "@pinakes/client";
import type { BoundTerm } from "./graph.ts";

/** `<iri>`, `"words"@en`, `"1"^^<datatype>` or `_:label`. Without escapes: a literal ends at its last quote. */
export function termText(term: Term): string {
  const { type, value } = term;
  if (type === "iri") return `<${value}>`;
  if (type === "blank") return `_:${value}`;
  const { language, datatype } = term;
  if (language !== undefined) return `"${value}"@${language}`;
  return datatype === undefined ? `"${value}"` : `"${value}"^^<${datatype}>`;
}

/** Undefined for an invalid term. */
export function readTerm(text: string): Term | undefined {
  if (text.startsWith("<") && text.endsWith(">")) return { type: "iri", value: text.slice(1, -1) };
  if (text.startsWith("_:")) return { type: "blank", value: text.slice(2) };
  if (!text.startsWith('"')) return /^[a-z][a-z0-9+.-]*:/i.test(text) ? { type: "iri", value: text } : undefined;
  const end = text.lastIndexOf('"');
  if (end === 0) return undefined;
  const value = text.slice(1, end);
  const rest = text.slice(end + 1);
  if (rest.startsWith("@")) return { type: "literal", value, language: rest.slice(1) };
  return rest.startsWith("^^<") ? { type: "literal", value, datatype: rest.slice(3, -1) } : { type: "literal", value };
}

export function termOfBound({ type, value, "xml:lang": language, datatype }: BoundTerm): Term {
  if (type === "uri") return { type: "iri", value };
  if (type === "bnode") return { type: "blank", value };
  return {
    type: "literal",
    value,
    ...(language === undefined ? {} : { language }),
    ...(datatype === undefined ? {} : { datatype }),
  };
}

/** The last segment of an IRI, or the text of a literal. */
export function shortTerm({ type, value }: Term): string {
  if (type === "blank") return `_:${value}`;
  if (type === "literal") return value;
  const last = /[^/#:]+(?=[/#]?$)/.exec(value)?.[0];
  if (last === undefined) return value;
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}
