/** application/sparql-results+json. */
import { termOf, type TermText } from "../../domain/rdf.ts";
import type { SparqlResult } from "../types.ts";

export async function* writeJson(
  result: Exclude<SparqlResult, { kind: "quads" }>,
  more: Readonly<Record<string, unknown>> = {},
): AsyncGenerator<string> {
  const beside = Object.entries(more).map(([name, value]) =>
    value === undefined ? "" : `${JSON.stringify(name)}:${JSON.stringify(value)},`,
  );
  if (result.kind === "boolean") {
    yield `{"head":{},${beside.join("")}"boolean":${result.value}}`;
    return;
  }
  yield `{"head":{"vars":${JSON.stringify(result.variables)}},${beside.join("")}"results":{"bindings":[`;
  let first = true;
  for await (const row of result.rows) {
    const members = result.variables.flatMap((name, at) => {
      const text = row[at];
      return text === undefined ? [] : [`${JSON.stringify(name)}:${termJson(text)}`];
    });
    yield `${first ? "" : ","}\n{${members.join()}}`;
    first = false;
  }
  yield "\n]}}\n";
}

function termJson(text: TermText): string {
  const term = termOf(text);
  if (term.type === "iri") return JSON.stringify({ type: "uri", value: term.value });
  if (term.type === "blank") return JSON.stringify({ type: "bnode", value: term.value });
  return JSON.stringify({ type: "literal", value: term.value, "xml:lang": term.language, datatype: term.datatype });
}
