/** Results of SELECT and ASK in the formats of the suites: XML, JSON, CSV, TSV, and the older vocabulary in RDF. */
import { blank, iri, literal, termOf, type TermText } from "../../../src/domain/rdf.ts";
import { readByOxigraph } from "../../../src/rdf/test-rdf.ts";
import type { Results, Table } from "./compare.ts";
import { Facts } from "./manifest.ts";

const rs = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#";

/** By the ends of their files' names. */
export type ResultFormat = "srx" | "srj" | "csv" | "tsv" | "ttl" | "rdf" | "nt";

export const mediaTypes = {
  srx: "application/sparql-results+xml",
  srj: "application/sparql-results+json",
  csv: "text/csv",
  tsv: "text/tab-separated-values",
} as const;

export function readResults(text: string, format: ResultFormat, base: string): Results {
  switch (format) {
    case "srx":
      return readXml(text);
    case "srj":
      return readJson(text);
    case "csv":
      return readCsv(text);
    case "tsv":
      return readTsv(text);
    default:
      return readVocabulary(new Facts(readByOxigraph(format === "ttl" ? "turtle" : "rdfxml", text, base)));
  }
}

interface JsonTerm {
  readonly type: string;
  readonly value: string;
  readonly "xml:lang"?: string;
  readonly datatype?: string;
}

function readJson(text: string): Results {
  const { head, results, boolean } = JSON.parse(text) as {
    readonly head: { readonly vars?: readonly string[] };
    readonly results?: { readonly bindings: readonly Readonly<Record<string, JsonTerm>>[] };
    readonly boolean?: boolean;
  };
  if (boolean !== undefined) return boolean;
  const variables = head.vars ?? [];
  const rows = (results?.bindings ?? []).map((binding) =>
    variables.map((name) => (binding[name] === undefined ? undefined : jsonTerm(binding[name]))),
  );
  return { variables, rows, ordered: false };
}

function jsonTerm({ type, value, "xml:lang": language, datatype }: JsonTerm): TermText {
  if (type === "uri") return iri(value);
  return type === "bnode" ? blank(label(value)) : literal(value, { language, datatype });
}

/** Labels are compared by their place alone, so any form of them will do. */
function label(text: string): string {
  return `b${Buffer.from(text).toString("hex")}`;
}

function readXml(text: string): Results {
  const plain = text.replace(/<!--[\s\S]*?-->/g, "");
  const boolean = /<boolean>\s*(true|false)\s*<\/boolean>/.exec(plain);
  if (boolean !== null) return boolean[1] === "true";
  const variables = [...plain.matchAll(/<variable\s+name\s*=\s*["']([^"']*)["']/g)].map(([, name]) => name as string);
  const rows = [...plain.matchAll(/<result(?:\s[^>]*)?(?:\/>|>([\s\S]*?)<\/result>)/g)].map(([, inside = ""]) => {
    const bound = new Map(
      [...inside.matchAll(/<binding\s+name\s*=\s*["']([^"']*)["']\s*>([\s\S]*?)<\/binding>/g)].map(([, name, term]) => [
        name as string,
        xmlTerm(term as string),
      ]),
    );
    return variables.map((name) => bound.get(name));
  });
  return { variables, rows, ordered: false };
}

function xmlTerm(text: string): TermText {
  const [, kind = "", attributes = "", inside = ""] =
    /<(uri|bnode|literal)((?:\s[^>]*?)?)(?:\/>|>([\s\S]*?)<\/\1>)/.exec(text) ?? [];
  const value = unescaped(inside);
  if (kind === "uri") return iri(value.trim());
  if (kind === "bnode") return blank(label(value));
  const attribute = (name: string) => {
    const found = new RegExp(`${name}\\s*=\\s*["']([^"']*)["']`).exec(attributes)?.[1];
    return found === undefined ? undefined : unescaped(found);
  };
  return literal(value, { language: attribute("xml:lang"), datatype: attribute("datatype") });
}

const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replace(
    /&(?:#x([0-9a-fA-F]+)|#(\d+)|(\w+));/g,
    (whole, hex?: string, decimal?: string, name?: string) => {
      if (name !== undefined) return entities[name] ?? whole;
      return String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16));
    },
  );
}

/** CSV does not tell what kind a value is: everything is taken for words, blank nodes apart. */
function readCsv(text: string): Table {
  const [head = [], ...lines] = text
    .trimEnd()
    .split(/\r?\n/)
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, bare]) =>
        quoted === undefined ? (bare as string) : quoted.replaceAll('""', '"'),
      ),
    );
  const rows = lines.map((cells) =>
    cells.map((cell) =>
      cell === "" ? undefined : cell.startsWith("_:") ? blank(label(cell.slice(2))) : literal(cell),
    ),
  );
  return { variables: head, rows, ordered: false };
}

function readTsv(text: string): Table {
  const [head = [], ...lines] = text
    .replace(/\r?\n$/, "")
    .split(/\r?\n/)
    .map((line) => line.split("\t"));
  const rows = lines.map((cells) => head.map((_, at) => tsvTerm(cells[at] ?? "")));
  return { variables: head.map((name) => name.slice(1)), rows, ordered: false };
}

function tsvTerm(cell: string): TermText | undefined {
  if (cell === "") return undefined;
  if (cell.startsWith("_:")) return blank(label(cell.slice(2)));
  return readByOxigraph("turtle", `<a:a> <a:a> ${cell} .`)[0]?.o;
}

function readVocabulary(facts: Facts): Results {
  const type = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
  const [set] = facts.subjects(type, iri(`${rs}ResultSet`));
  const boolean = set === undefined ? undefined : facts.value(set, `${rs}boolean`);
  if (set === undefined || boolean !== undefined) return boolean === "true" || boolean === "1";
  const variables = facts.all(set, `${rs}resultVariable`).map((text) => termOf(text).value);
  const solutions = facts.all(set, `${rs}solution`).map((node) => {
    const bound = new Map(
      facts
        .all(node, `${rs}binding`)
        .map((pair) => [facts.value(pair, `${rs}variable`), facts.one(pair, `${rs}value`)]),
    );
    const index = facts.value(node, `${rs}index`);
    return { index: index === undefined ? undefined : Number(index), row: variables.map((name) => bound.get(name)) };
  });
  const ordered = solutions.length > 0 && solutions.every(({ index }) => index !== undefined);
  const rows = (ordered ? solutions.toSorted((a, b) => (a.index as number) - (b.index as number)) : solutions).map(
    ({ row }) => row,
  );
  return { variables, rows, ordered };
}
