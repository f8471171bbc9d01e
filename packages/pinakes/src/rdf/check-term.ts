/** Validates terms from any input. Each function returns the term's text, or throws INVALID with what is wrong. */
import { invalid, show } from "../domain/errors.ts";
import { blank, blankLabelRest, blankLabelStart, iri, isLanguage, literal, type TermText } from "../domain/rdf.ts";
import { rdfLimits } from "./limits.ts";

export const rdfNamespace = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";

/** Datatypes of literals with a language (or a direction); without one, such a literal is invalid. */
const languageDatatypes: ReadonlySet<string> = new Set([`${rdfNamespace}langString`, `${rdfNamespace}dirLangString`]);
const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:/;
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const forbiddenInIri = /[\u0000-\u0020<>"{}|\\^`\u007f-\u009f]/;
/** BLANK_NODE_LABEL of N-Triples, without `_:`. */
const label = new RegExp(`^[${blankLabelStart}](?:[${blankLabelRest}.]*[${blankLabelRest}])?$`, "u");

export function checkedIri(value: string, termBytesMax: number = rdfLimits.termBytesMax): TermText {
  if (!scheme.test(value)) {
    throw invalid(
      `The IRI ${show(value)} is not absolute. Write it in full, with its scheme ("https:", "urn:"), or give the document a base IRI.`,
    );
  }
  const forbidden = forbiddenInIri.exec(value)?.[0];
  if (forbidden !== undefined) {
    throw invalid(
      `The IRI ${show(value)} contains ${characterName(forbidden)}, which IRIs must not contain. Percent-encode it.`,
    );
  }
  checkText("IRI", value, termBytesMax);
  return iri(value);
}

export function checkedBlank(value: string, termBytesMax: number = rdfLimits.termBytesMax): TermText {
  if (!label.test(value))
    throw invalid(
      `The blank node label ${show(value)} may contain letters, digits, "_", "-" and, inside, "."; rename it.`,
    );
  checkText("blank node label", value, termBytesMax);
  return blank(value);
}

interface LiteralKind {
  readonly language?: string | undefined;
  readonly datatype?: string | undefined;
}

export function checkedLiteral(
  value: string,
  { language, datatype }: LiteralKind = {},
  termBytesMax: number = rdfLimits.termBytesMax,
): TermText {
  checkText("literal", value, termBytesMax);
  if (language !== undefined && language !== "") {
    if (!isLanguage(language))
      throw invalid(
        `The language ${show(language)} of a literal is not a language tag; write a tag such as "en" or "de-AT".`,
      );
    if (datatype !== undefined && datatype !== `${rdfNamespace}langString`) {
      throw invalid(
        `A literal with the language ${show(language)} cannot also have the datatype ${show(datatype)}; omit one of them.`,
      );
    }
    return literal(value, { language });
  }
  if (datatype === undefined) return literal(value);
  checkedIri(datatype, termBytesMax);
  if (languageDatatypes.has(datatype))
    throw invalid(`A literal with the datatype <${datatype}> needs a language, as in "words"@en.`);
  return literal(value, { datatype });
}

/** No store accepts half of a surrogate pair. */
export function checkText(kind: string, value: string, termBytesMax: number): void {
  if (value.length > termBytesMax || (value.length * 3 > termBytesMax && Buffer.byteLength(value) > termBytesMax)) {
    throw invalid(
      `The ${kind} ${show(value.slice(0, 60))} is longer than ${termBytesMax} bytes; store long text as documents and refer to them.`,
    );
  }
  if (!value.isWellFormed())
    throw invalid(`The ${kind} ${show(value)} contains an unpaired surrogate; write the whole character.`);
}

function characterName(character: string): string {
  const code = character.charCodeAt(0);
  if (character === " ") return "a space";
  return code < 0x20 || code >= 0x7f
    ? `the control character U+${code.toString(16).toUpperCase().padStart(4, "0")}`
    : `"${character}"`;
}
