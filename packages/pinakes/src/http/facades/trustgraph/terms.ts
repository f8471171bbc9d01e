/** Terms and triples in the wire format: `{ v, e }` in the older version, `{ t, i | v | d }` in the newer. */
import { invalid, PinakesError, show } from "../../../domain/errors.ts";
import { readTriple, type StoredTerm, type StoredTriple } from "../../../knowledge/index.ts";
import type { Request } from "./call.ts";
import { records } from "./fields.ts";

const plainDatatype = "http://www.w3.org/2001/XMLSchema#string";
const xsd = "http://www.w3.org/2001/XMLSchema#";

export function readTerm(value: unknown, where: string): StoredTerm {
  if (typeof value !== "object" || value === null) throw invalid(`${where}: must be a term, got ${show(value)}.`);
  const term = value as Request;
  if (!("t" in term)) return readOldTerm(term, where);
  switch (term["t"]) {
    case "i":
      return { type: "iri", value: textOf(term, "i", where) };
    case "b":
      return { type: "blank", value: textOf(term, "d", where).replace(/^_:/, "") };
    case "l":
      return literalOf(term, where);
    case "t":
      throw new PinakesError("NOT_SUPPORTED", `${where}: quoted triples (t: "t") are not supported.`);
    default:
      throw invalid(`${where}: t must be i, l or b, got ${show(term["t"])}.`);
  }
}

function readOldTerm(term: Request, where: string): StoredTerm {
  const value = textOf(term, "v", where);
  if (term["e"] !== true) return { type: "literal", value };
  return value.startsWith("_:") ? { type: "blank", value: value.slice(2) } : { type: "iri", value };
}

function literalOf(term: Request, where: string): StoredTerm {
  const value = textOf(term, "v", where);
  const [language, datatype] = [term["ln"], term["dt"]];
  for (const one of [language, datatype])
    if (one !== undefined && one !== null && typeof one !== "string")
      throw invalid(`${where}: dt and ln must be strings.`);
  if (typeof language === "string" && language !== "") return { type: "literal", value, language };
  if (typeof datatype !== "string" || datatype === "" || datatype === plainDatatype) return { type: "literal", value };
  return { type: "literal", value, datatype: datatype.replace(/^xsd:/, xsd) };
}

function textOf(term: Request, name: string, where: string): string {
  const value = term[name];
  if (typeof value === "string") return value;
  throw invalid(`${where}: ${name} must be a string, got ${show(value)}.`);
}

export function writeTerm({ type, value, language, datatype }: StoredTerm, typed: boolean): object {
  if (!typed)
    return type === "literal" ? { v: value, e: false } : { v: type === "blank" ? `_:${value}` : value, e: true };
  if (type === "iri") return { t: "i", i: value };
  if (type === "blank") return { t: "b", d: value };
  return {
    t: "l",
    v: value,
    ...(datatype === undefined || datatype === plainDatatype || language !== undefined ? {} : { dt: datatype }),
    ...(language === undefined ? {} : { ln: language }),
  };
}

export function readTriples(request: Request, name: string): StoredTriple[] {
  return records(request, name).map((triple, i) => {
    const term = (place: "s" | "p" | "o") => readTerm(triple[place], `${name}[${i}].${place}`);
    const read = { s: term("s"), p: term("p"), o: term("o"), g: readGraph(triple["g"], `${name}[${i}].g`) };
    // Terms that the store would reject are rejected here, before anything is created for them.
    readTriple(read, i);
    return read;
  });
}

/** A graph is a plain IRI; if absent, it is the default graph. */
export function readGraph(value: unknown, where: string): StoredTerm | null {
  if (value === undefined || value === null || value === "") return null;
  if (typeof value === "string") return { type: "iri", value };
  throw invalid(`${where}: must be an IRI, got ${show(value)}.`);
}

interface ShownTriple {
  readonly s: StoredTerm;
  readonly p: StoredTerm;
  readonly o: StoredTerm;
  readonly g: StoredTerm | null;
}

export function writeTriple({ s, p, o, g }: ShownTriple, typed: boolean): object {
  return {
    s: writeTerm(s, typed),
    p: writeTerm(p, typed),
    o: writeTerm(o, typed),
    // The older version has no graphs.
    ...(typed && g !== null ? { g: g.value } : {}),
  };
}
