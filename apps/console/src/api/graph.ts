/** Triples of a collection: patterns, SPARQL and provenance. */
import type { LoadedTriples, Page, Provenance, Triple } from "@pinakes/client";
import { queryOptions } from "@tanstack/react-query";
import { collectionPath, type CollectionId } from "./collections.ts";
import { pagedOptions } from "./page.ts";
import { get, request, send } from "./request.ts";

/** Terms as query parameters; an absent one matches anything, g=default is the default graph. */
export interface TriplePattern {
  readonly s?: string | undefined;
  readonly p?: string | undefined;
  readonly o?: string | undefined;
  readonly g?: string | undefined;
}

export function triplesOptions(id: CollectionId, { s, p, o, g }: TriplePattern) {
  return pagedOptions<Triple>(["triples", id.rid, id.cid], `${collectionPath(id)}/triples`, { s, p, o, g });
}

export function triplePage(
  id: CollectionId,
  pattern: TriplePattern,
  limit: number,
  signal?: AbortSignal,
): Promise<Page<Triple>> {
  return get<Page<Triple>>(`${collectionPath(id)}/triples`, { query: { ...pattern, limit }, signal });
}

export function provenanceOptions(id: CollectionId, { s, p, o, g }: TriplePattern) {
  return queryOptions({
    queryKey: ["triples", id.rid, id.cid, "provenance", { s, p, o, g }],
    queryFn: ({ signal }) =>
      get<Provenance>(`${collectionPath(id)}/triples/provenance`, { query: { s, p, o, g }, signal }),
  });
}

/** A term of SPARQL JSON results. */
export interface BoundTerm {
  readonly type: "uri" | "literal" | "bnode" | "typed-literal";
  readonly value: string;
  readonly "xml:lang"?: string;
  readonly datatype?: string;
}

export type Binding = Readonly<Record<string, BoundTerm>>;

export type SparqlResult =
  | { readonly kind: "rows"; readonly vars: readonly string[]; readonly rows: readonly Binding[] }
  | { readonly kind: "boolean"; readonly value: boolean }
  | { readonly kind: "rdf"; readonly text: string };

interface SparqlSettings {
  /** Patterns outside GRAPH match the union of all graphs. */
  readonly union?: boolean | undefined;
  readonly limit?: number;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

const resultsType = "application/sparql-results+json";
/** Turtle for CONSTRUCT and DESCRIBE: readable, and their results have no named graphs. */
const accepted = `${resultsType}, text/turtle;q=0.9`;

interface ResultsBody {
  readonly head: { readonly vars?: readonly string[] };
  readonly boolean?: boolean;
  readonly results?: { readonly bindings: readonly Binding[] };
}

export async function askSparql(
  id: CollectionId,
  query: string,
  { union, limit, timeoutMs, signal }: SparqlSettings = {},
): Promise<SparqlResult> {
  const response = await send("POST", `${collectionPath(id)}/sparql`, {
    text: query,
    contentType: "application/sparql-query",
    accept: accepted,
    query: { default_graph: union === true ? "union" : undefined, limit, timeout_ms: timeoutMs },
    signal,
  });
  const text = await response.text();
  if (response.headers.get("content-type")?.startsWith(resultsType) !== true) return { kind: "rdf", text };
  const { head, boolean, results } = JSON.parse(text) as ResultsBody;
  if (boolean !== undefined) return { kind: "boolean", value: boolean };
  return { kind: "rows", vars: head.vars ?? [], rows: results?.bindings ?? [] };
}

/** All or nothing. An error names the line. */
export async function loadTriples(id: CollectionId, text: string, contentType: string): Promise<LoadedTriples> {
  return (
    await request<LoadedTriples>("POST", `${collectionPath(id)}/triples`, {
      text,
      contentType,
      query: { all_or_nothing: true },
    })
  ).body;
}
