/**
 * Parses a term written by a person, in a query string or in the JSON of the API: `<iri>`, `iri`, `"words"`, `"words"@en`,
 * `"1"^^<datatype>`, `"1"^^xsd:integer`, `_:label`. Responses use the same form (domain/rdf.ts). There are no escapes: a literal extends to
 * its last quote.
 */
import { invalid, PinakesError, show } from "../../domain/errors.ts";
import { type TermText, xsd } from "../../domain/rdf.ts";
import { checkedBlank, checkedIri, checkedLiteral } from "../check-term.ts";

/**
 * @example parseTermParameter("o", '"chat"@FR') // → '"chat"@fr'
 */
export function parseTermParameter(name: string, text: string): TermText {
  try {
    return parseTerm(text);
  } catch (error) {
    if (!PinakesError.isInstance(error)) throw error;
    throw invalid(`"${name}": ${error.detail}`, { cause: error });
  }
}

export function parseTerm(text: string, termBytesMax?: number): TermText {
  if (text.startsWith("<")) {
    if (!text.endsWith(">")) throw invalid(`The IRI ${show(text)} starts with "<" and must end with ">".`);
    return checkedIri(text.slice(1, -1), termBytesMax);
  }
  if (text.startsWith("_:")) return checkedBlank(text.slice(2), termBytesMax);
  if (text.startsWith('"')) return parseLiteral(text, termBytesMax);
  if (text === "") throw invalid(`A term is empty; write <iri>, "words", "words"@en, "1"^^<datatype> or _:label.`);
  return checkedIri(text, termBytesMax);
}

function parseLiteral(text: string, termBytesMax: number | undefined): TermText {
  const end = text.lastIndexOf('"');
  const rest = text.slice(end + 1);
  if (end === 0) throw invalid(`The literal ${show(text)} has no closing quote.`);
  const value = text.slice(1, end);
  if (rest === "") return checkedLiteral(value, {}, termBytesMax);
  if (rest.startsWith("@") && rest.length > 1) return checkedLiteral(value, { language: rest.slice(1) }, termBytesMax);
  if (rest.startsWith("^^<") && rest.endsWith(">"))
    return checkedLiteral(value, { datatype: rest.slice(3, -1) }, termBytesMax);
  if (rest.startsWith("^^xsd:"))
    return checkedLiteral(value, { datatype: `${xsd}${rest.slice("^^xsd:".length)}` }, termBytesMax);
  throw invalid(
    `After the literal's last quote only a language such as @en or a datatype such as ^^<iri> is allowed, got ${show(rest)}.`,
  );
}
