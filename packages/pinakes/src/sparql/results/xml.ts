/** application/sparql-results+xml. */
import { PinakesError } from "../../domain/errors.ts";
import { termOf, type TermText } from "../../domain/rdf.ts";
import type { SparqlResult } from "../types.ts";

const head = '<?xml version="1.0" encoding="UTF-8"?>\n<sparql xmlns="http://www.w3.org/2005/sparql-results#">\n';

export async function* writeXml(result: Exclude<SparqlResult, { kind: "quads" }>): AsyncGenerator<string> {
  if (result.kind === "boolean") {
    yield `${head}<head></head>\n<boolean>${result.value}</boolean>\n</sparql>\n`;
    return;
  }
  yield `${head}<head>${result.variables.map((name) => `<variable name="${escaped(name)}"/>`).join("")}</head>\n<results>\n`;
  for await (const row of result.rows) {
    const bindings = result.variables.flatMap((name, at) => {
      const text = row[at];
      return text === undefined ? [] : [`<binding name="${escaped(name)}">${termXml(text)}</binding>`];
    });
    yield `<result>${bindings.join("")}</result>\n`;
  }
  yield "</results>\n</sparql>\n";
}

function termXml(text: TermText): string {
  const term = termOf(text);
  if (term.type === "iri") return `<uri>${escaped(term.value)}</uri>`;
  if (term.type === "blank") return `<bnode>${escaped(term.value)}</bnode>`;
  if (term.language !== undefined)
    return `<literal xml:lang="${escaped(term.language)}">${escaped(term.value)}</literal>`;
  const datatype = term.datatype === undefined ? "" : ` datatype="${escaped(term.datatype)}"`;
  return `<literal${datatype}>${escaped(term.value)}</literal>`;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\r": "&#xD;",
};

function escaped(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what XML cannot hold
  const bad = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/.exec(text);
  if (bad !== null || !text.isWellFormed())
    throw new PinakesError(
      "NOT_SUPPORTED",
      "A value contains a character that XML 1.0 cannot represent; request application/sparql-results+json instead.",
    );
  return text.replace(/[&<>"\r]/g, (char) => entities[char] as string);
}
