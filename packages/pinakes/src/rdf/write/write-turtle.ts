/** Turtle and TriG: consecutive quads share their subject, and their predicate if that is the same too. */
import { invalid, show } from "../../domain/errors.ts";
import { defaultGraph, type Quad, termOf, type TermText } from "../../domain/rdf.ts";
import { checkedIri, rdfNamespace } from "../check-term.ts";
import { escapedTerm, escapedWords } from "./write-lines.ts";
import type { QuadWriter } from "./write-rdf.ts";

const rdfType = `<${rdfNamespace}type>`;
const prefixName = /^(?:[A-Za-z][A-Za-z0-9_-]*)?$/;
/** A subset of what Turtle allows; other names are written in full. */
const localName = /^[A-Za-z0-9_][A-Za-z0-9_-]*$/;

export function turtleWriter(prefixes: Readonly<Record<string, string>>): QuadWriter {
  const names = namespaces(prefixes);
  let last: Quad | undefined;
  const endGraph = () => (last === undefined ? "" : ` .\n${last.g === defaultGraph ? "" : "}\n"}`);
  return {
    begin: () =>
      [...names].map(([namespace, name]) => `@prefix ${name}: <${namespace}> .\n`).join("") +
      (names.size === 0 ? "" : "\n"),
    quad(quad) {
      const { s, p, o, g } = quad;
      const before = last;
      const indent = g === defaultGraph ? "" : "  ";
      const object = shortTerm(o, names);
      let text: string;
      if (before?.g !== g)
        text = `${endGraph()}${g === defaultGraph ? "" : `${shortTerm(g, names)} {\n`}${indent}${shortTerm(s, names)} ${verb(p, names)} ${object}`;
      else if (before.s !== s) text = ` .\n${indent}${shortTerm(s, names)} ${verb(p, names)} ${object}`;
      else if (before.p !== p) text = ` ;\n${indent}  ${verb(p, names)} ${object}`;
      else text = ` , ${object}`;
      last = quad;
      return text;
    },
    end: endGraph,
  };
}

function namespaces(prefixes: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const [name, namespace] of Object.entries(prefixes)) {
    if (!prefixName.test(name))
      throw invalid(`The prefix ${show(name)} must start with a letter and contain only letters, digits, "_" and "-".`);
    checkedIri(namespace);
    names.set(namespace, name);
  }
  return names;
}

function verb(p: TermText, names: ReadonlyMap<string, string>): string {
  return p === rdfType ? "a" : shortTerm(p, names);
}

function shortTerm(text: TermText, names: ReadonlyMap<string, string>): string {
  if (names.size === 0) return escapedTerm(text);
  if (text.startsWith("<")) return shortIri(text.slice(1, -1), names);
  if (!text.startsWith('"')) return text;
  const term = termOf(text);
  return term.type === "literal" && term.datatype !== undefined
    ? `"${escapedWords(text)}"^^${shortIri(term.datatype, names)}`
    : escapedTerm(text);
}

function shortIri(iri: string, names: ReadonlyMap<string, string>): string {
  const cut = Math.max(iri.lastIndexOf("#"), iri.lastIndexOf("/"), iri.lastIndexOf(":")) + 1;
  const name = names.get(iri.slice(0, cut));
  const local = iri.slice(cut);
  return name !== undefined && localName.test(local) ? `${name}:${local}` : `<${iri}>`;
}
