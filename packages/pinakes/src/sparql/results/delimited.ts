/** text/csv and text/tab-separated-values (SPARQL 1.1 Query Results CSV and TSV Formats). CSV contains plain values, TSV contains terms. */
import { termOf, type TermText } from "../../domain/rdf.ts";
import type { SparqlResult } from "../types.ts";

type Bindings = Extract<SparqlResult, { kind: "bindings" }>;

export async function* writeCsv({ variables, rows }: Bindings): AsyncGenerator<string> {
  yield `${variables.map(csvField).join()}\r\n`;
  for await (const row of rows)
    yield `${row.map((text) => (text === undefined ? "" : csvField(csvValue(text)))).join()}\r\n`;
}

function csvValue(text: TermText): string {
  const term = termOf(text);
  return term.type === "blank" ? text : term.value;
}

function csvField(value: string): string {
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

export async function* writeTsv({ variables, rows }: Bindings): AsyncGenerator<string> {
  yield `${variables.map((name) => `?${name}`).join("\t")}\n`;
  for await (const row of rows) yield `${row.map((text) => (text === undefined ? "" : tsvTerm(text))).join("\t")}\n`;
}

const escapes: Readonly<Record<string, string>> = { "\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function tsvTerm(text: TermText): string {
  const term = termOf(text);
  if (term.type !== "literal") return text;
  const quoted = `"${term.value.replace(/[\\"\n\r\t]/g, (char) => escapes[char] as string)}"`;
  if (term.language !== undefined) return `${quoted}@${term.language}`;
  return term.datatype === undefined ? quoted : `${quoted}^^<${term.datatype}>`;
}
