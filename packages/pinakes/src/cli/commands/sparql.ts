/** `pinakes sparql`: queries or updates a collection in SPARQL. */
import { graphLimits, type SparqlAnswer } from "../../knowledge/index.ts";
import { rdfFormats, writeRdf, type RdfWriteFormat } from "../../rdf/index.ts";
import { sparqlResultFormats, writeSparqlResults, type SparqlResultFormat } from "../../sparql/index.ts";
import { defineCommand, UsageError, type Call, type Group, type Outcome } from "../terminal/command.ts";
import { grid } from "../terminal/layout.ts";
import { actorOptions, readAddress, withStores } from "../session.ts";
import { printable } from "../terminal/terminal.ts";
import { openInput } from "./triples-input.ts";

const resultFormats: Readonly<Record<string, SparqlResultFormat>> = {
  json: sparqlResultFormats[0],
  xml: sparqlResultFormats[1],
  csv: sparqlResultFormats[2],
  tsv: sparqlResultFormats[3],
};
const graphFormats = Object.keys(rdfFormats).filter((format) => format !== "json") as RdfWriteFormat[];
const formats = ["table", ...Object.keys(resultFormats), ...graphFormats];

const command = defineCommand({
  usage: "<repository/collection> <query | ->",
  words: [1, 2],
  summary: "query or update a collection in SPARQL 1.1",
  details: `
The query is the second argument, or read from a file (--file) or stdin (-). It sees only this collection. A query that takes longer
than --timeout, or has more rows than --limit, is an error, never a truncated result.`,
  options: {
    update: { type: "boolean", help: "the text is an update, such as INSERT DATA or DELETE WHERE" },
    file: { type: "string", value: "FILE", help: "read the query from a file; - reads stdin" },
    format: {
      type: "string",
      value: "NAME",
      help: `rows as ${["table", ...Object.keys(resultFormats)].join(", ")}; triples as ${graphFormats.join(", ")}`,
    },
    union: { type: "boolean", help: "patterns outside GRAPH match the triples of all graphs" },
    timeout: { type: "string", value: "MS", help: `milliseconds (${graphLimits.sparqlTimeoutMsDefault})` },
    limit: { type: "string", value: "N", help: "maximum number of rows" },
    ...actorOptions,
  },
  examples: [
    `pinakes sparql kb/papers 'SELECT ?name { ?person <http://xmlns.com/foaf/0.1/name> ?name } ORDER BY ?name'`,
    `pinakes sparql kb/papers --update 'INSERT DATA { <https://example.org/ada> <http://xmlns.com/foaf/0.1/name> "Ada" }'`,
    "pinakes sparql kb/papers --file question.rq --format csv > answer.csv",
  ],
  localOnly: "results are written as a stream",
  run: async (call) => {
    const { given, words, terminal } = call;
    const { repository, collection } = readAddress(words[0] as string);
    const format = given.oneOf("format", formats);
    const settings = {
      default_graph: given.has("union") ? ("union" as const) : undefined,
      timeout_ms: given.whole("timeout", 1, graphLimits.sparqlTimeoutMsMax),
      limit: given.whole("limit", 1, graphLimits.sparqlRowsMax),
      signal: terminal.signal,
    };
    const text = await textOf(call);
    return withStores(
      call,
      given.has("update") ? { action: "sparql.update", verb: "update", resource: "triples" } : "reads",
      async ({ knowledge, caller }) => {
        const asked = given.has("update") ? { update: text } : { query: text };
        return outcome(
          call,
          await knowledge.graph.sparql(caller, repository, collection, { ...asked, ...settings }),
          format,
        );
      },
    );
  },
});

export const sparql: Group = { command };

async function textOf({ given, words, terminal }: Call<"file">): Promise<string> {
  const [, word] = words;
  const file = given.text("file") ?? (word === "-" ? "-" : undefined);
  if (file === undefined && word === undefined)
    throw new UsageError("the query is missing: give it as the second word, or a file with --file.");
  if (given.text("file") !== undefined && word !== undefined)
    throw new UsageError("--file: the query is already on the command line; omit one of them.");
  if (file === undefined) return word as string;
  const { stream } = await openInput(file, terminal);
  return Buffer.concat(await Array.fromAsync(stream as AsyncIterable<Buffer>)).toString("utf8");
}

/** All rows are read before anything is printed: partial output followed by an error would be mistaken for a result. */
async function outcome(call: Call, answer: SparqlAnswer, format: string | undefined): Promise<Outcome> {
  const { terminal } = call;
  switch (answer.kind) {
    case "updated": {
      const { inserted, removed } = answer;
      return { answer: { inserted, removed }, show: () => `${inserted} inserted, ${removed} removed.` };
    }
    case "quads": {
      if (format !== undefined && !(graphFormats as readonly string[]).includes(format))
        throw new UsageError(`--format: CONSTRUCT and DESCRIBE return triples; use ${graphFormats.join(", ")}.`);
      const quads = await Array.fromAsync(answer.quads);
      const written = async (as: RdfWriteFormat) =>
        (await Array.fromAsync(writeRdf(asStream(quads), { format: as }))).join("").trimEnd();
      const text = await written((format ?? "turtle") as RdfWriteFormat);
      return { answer: JSON.parse(await written("jsonld")) as unknown, show: () => text };
    }
    case "boolean":
      if (format === undefined || format === "table")
        return { answer: { head: {}, boolean: answer.value }, show: () => String(answer.value) };
      return resultText({ kind: "boolean", value: answer.value }, format);
    case "bindings": {
      const rows = await Array.fromAsync(answer.rows);
      const again = () => ({ ...answer, rows: asStream(rows) });
      if (format !== undefined && format !== "table") return resultText(again(), format);
      const json = await joined(again(), sparqlResultFormats[0]);
      const cells = rows.map((row) =>
        Object.fromEntries(answer.variables.map((name, i) => [name, printable(row[i] ?? "")])),
      );
      return {
        answer: JSON.parse(json) as unknown,
        show: () => (rows.length === 0 ? "Nothing was found." : grid(terminal, cells)),
      };
    }
  }
}

type Rows = Exclude<SparqlAnswer, { kind: "quads" | "updated" }>;

async function resultText(result: Rows, format: string): Promise<Outcome> {
  const type = resultFormats[format];
  if (type === undefined)
    throw new UsageError(`--format: SELECT and ASK return rows; use table, ${Object.keys(resultFormats).join(", ")}.`);
  const text = await joined(result, type);
  return { answer: text, show: () => text.trimEnd() };
}

async function joined(result: Rows, type: SparqlResultFormat): Promise<string> {
  return (await Array.fromAsync(writeSparqlResults(result, type))).join("");
}

async function* asStream<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values;
}
