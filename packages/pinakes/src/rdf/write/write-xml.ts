/**
 * RDF/XML: consecutive quads with the same subject share an `rdf:Description`. A predicate becomes an element name, which not every IRI
 * allows.
 */
import { invalid, show } from "../../domain/errors.ts";
import { termOf, type TermText } from "../../domain/rdf.ts";
import { rdfNamespace } from "../check-term.ts";
import { escapeXml } from "./xml-text.ts";
import type { QuadWriter } from "./write-rdf.ts";

const nameStart = /[A-Za-z_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff]/;
const nameRest = /[A-Za-z0-9_.\-\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff]/;
/** Names of the RDF namespace with a special meaning in RDF/XML, which cannot be predicates. */
const syntaxNames: ReadonlySet<string> = new Set([
  "RDF",
  "ID",
  "about",
  "parseType",
  "resource",
  "nodeID",
  "datatype",
  "Description",
  "aboutEach",
  "aboutEachPrefix",
  "bagID",
  "li",
  "version",
  "annotation",
  "annotationNodeID",
]);
/** XML forbids binding a prefix to it. */
const xmlnsNamespace = "http://www.w3.org/2000/xmlns/";
// oxlint-disable-next-line no-control-regex -- control characters are what XML cannot hold
const notInXml = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/;

export function xmlWriter(): QuadWriter {
  let subject: TermText | undefined;
  const endNode = () => (subject === undefined ? "" : "  </rdf:Description>\n");
  return {
    begin: () => `<?xml version="1.0" encoding="UTF-8"?>\n<rdf:RDF xmlns:rdf="${rdfNamespace}">\n`,
    quad({ s, p, o }) {
      const ended = subject === s ? "" : `${endNode()}  <rdf:Description ${reference("about", s)}>\n`;
      subject = s;
      return `${ended}    ${property(p.slice(1, -1), o)}\n`;
    },
    end: () => `${endNode()}</rdf:RDF>\n`,
  };
}

function property(predicate: string, object: TermText): string {
  const { name, declaration } = elementOf(predicate);
  const term = termOf(object);
  if (term.type !== "literal") return `<${name}${declaration} ${reference("resource", object)}/>`;
  const control = notInXml.exec(term.value)?.[0];
  if (control !== undefined) {
    throw invalid(
      `XML cannot hold the character U+${control.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")} in a literal of <${predicate}>; request Turtle, N-Quads or JSON-LD.`,
    );
  }
  const language = term.language === undefined ? "" : ` xml:lang="${term.language}"`;
  const datatype = term.datatype === undefined ? "" : ` rdf:datatype="${escapeXml(term.datatype)}"`;
  return `<${name}${declaration}${language}${datatype}>${escapeXml(term.value)}</${name}>`;
}

function elementOf(predicate: string): { readonly name: string; readonly declaration: string } {
  const start = startOfName(predicate);
  const local = predicate.slice(start);
  const namespace = predicate.slice(0, start);
  if (
    local === "" ||
    namespace === "" ||
    namespace === xmlnsNamespace ||
    (namespace === rdfNamespace && syntaxNames.has(local))
  ) {
    throw invalid(
      `RDF/XML cannot write the predicate ${show(`<${predicate}>`)}, because it does not end with a name that an XML element can have; request Turtle, N-Triples or JSON-LD.`,
    );
  }
  if (namespace === rdfNamespace) return { name: `rdf:${local}`, declaration: "" };
  return { name: `p:${local}`, declaration: ` xmlns:p="${escapeXml(namespace)}"` };
}

/** Start of the longest name (NCName) at the end of an IRI; the IRI's length if there is none. */
function startOfName(text: string): number {
  let start = text.length;
  while (start > 0 && nameRest.test(text[start - 1] as string)) start--;
  while (start < text.length && !nameStart.test(text[start] as string)) start++;
  return start;
}

/** A blank node label may begin with a digit, an XML name may not. */
function reference(attribute: "about" | "resource", text: TermText): string {
  return text.startsWith("_:")
    ? `rdf:nodeID="n${text.slice(2)}"`
    : `rdf:${attribute}="${escapeXml(text.slice(1, -1))}"`;
}
