/** Triples and SPARQL over HTTP. */
import type { GraphApi, SparqlOptions } from "../api/knowledge-api.ts";
import { collectionOf } from "../collection-ref.ts";
import { rdfMediaTypes, type SparqlAnswer, type Term, type TermInput } from "../contract/graph.ts";
import { readNQuads } from "./nquads.ts";
import { path, type Query, type Requester } from "./request.ts";

export function httpGraph(http: Requester): GraphApi {
  const of = (at: Parameters<GraphApi["match"]>[0], what: "triples" | "sparql"): string => {
    const { repository, collection } = collectionOf(at);
    return `${path`/v1/repositories/${repository}/collections/${collection}`}/${what}`;
  };
  return {
    // The same triples sent again change nothing, so a load may be repeated.
    add: (at, triples) => http.json("POST", of(at, "triples"), { body: triples, repeatable: true }),
    load: (at, body, { format, allOrNothing, baseIri, graph }) =>
      http.json("POST", of(at, "triples"), {
        text: { type: rdfMediaTypes[format], content: body },
        query: { all_or_nothing: allOrNothing, base_iri: baseIri, graph },
      }),
    match: (at, { s, p, o, g, limit, cursor } = {}) =>
      http.json("GET", of(at, "triples"), { query: { ...patternQuery({ s, p, o, g }), limit, cursor } }),
    remove: (at, { confirm, ...pattern }) =>
      http.json("DELETE", of(at, "triples"), { query: { ...patternQuery(pattern), confirm }, repeatable: true }),
    query: async (at, sparql, options = {}) => {
      const { type, text } = await http.typed("POST", of(at, "sparql"), {
        text: { type: "application/sparql-query", content: sparql },
        accept: "application/sparql-results+json, application/n-quads",
        query: {
          ...settingsOf(options),
          "default-graph-uri": options.defaultGraphs,
          "named-graph-uri": options.namedGraphs,
        },
        repeatable: true,
        signal: options.signal,
      });
      return type.startsWith("application/n-quads")
        ? { kind: "quads", quads: readNQuads(text) }
        : readResults(JSON.parse(text) as SparqlJson);
    },
    update: (at, sparql, options = {}) =>
      http.json("POST", of(at, "sparql"), {
        text: { type: "application/sparql-update", content: sparql },
        query: {
          ...settingsOf(options),
          "using-graph-uri": options.defaultGraphs,
          "using-named-graph-uri": options.namedGraphs,
        },
        signal: options.signal,
      }),
  };
}

function settingsOf({ defaultGraph, timeoutMs, limit }: SparqlOptions): Query {
  return { default_graph: defaultGraph, timeout_ms: timeoutMs, limit };
}

interface Pattern {
  readonly s?: TermInput | undefined;
  readonly p?: TermInput | undefined;
  readonly o?: TermInput | undefined;
  readonly g?: TermInput | null | undefined;
}

function patternQuery({ s, p, o, g }: Pattern): Query {
  return { s: termText(s), p: termText(p), o: termText(o), g: g === null ? "default" : termText(g) };
}

/** In the notation that routes accept in a query string. */
function termText(term: TermInput | undefined): string | undefined {
  if (term === undefined || typeof term === "string") return term;
  if (term.type === "iri") return `<${term.value}>`;
  if (term.type === "blank") return `_:${term.value}`;
  // Without escapes: a literal ends with its last quote.
  const words = `"${term.value}"`;
  if (term.language !== undefined) return `${words}@${term.language}`;
  return term.datatype === undefined ? words : `${words}^^<${term.datatype}>`;
}

/** SPARQL 1.1 Query Results JSON. */
interface SparqlJson {
  readonly head?: { readonly vars?: readonly string[] };
  readonly boolean?: boolean;
  readonly results?: { readonly bindings: readonly Readonly<Record<string, JsonTerm>>[] };
}
interface JsonTerm {
  readonly type: string;
  readonly value: string;
  readonly "xml:lang"?: string;
  readonly datatype?: string;
}

function readResults(answer: SparqlJson): SparqlAnswer {
  if (answer.boolean !== undefined) return { kind: "boolean", value: answer.boolean };
  const rows = (answer.results?.bindings ?? []).map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, term]) => [name, termOf(term)])),
  );
  return { kind: "bindings", variables: answer.head?.vars ?? [], rows };
}

function termOf({ type, value, "xml:lang": language, datatype }: JsonTerm): Term {
  if (type === "uri") return { type: "iri", value };
  if (type === "bnode") return { type: "blank", value };
  if (language !== undefined) return { type: "literal", value, language };
  return datatype === undefined ? { type: "literal", value } : { type: "literal", value, datatype };
}
