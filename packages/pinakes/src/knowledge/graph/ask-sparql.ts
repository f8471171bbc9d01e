/** SPARQL requests: validation, and conversion to evaluator options. */
import { invalid, show } from "../../domain/errors.ts";
import type { SparqlOptions, SparqlResult } from "../../sparql/index.ts";
import type { CollectionName, QueryMore, QueryWishes } from "../collections/query-options.ts";
import { graphLimits } from "./graph-limits.ts";

export interface SparqlSettings {
  /** IRIs that override FROM and USING … */
  readonly default_graphs?: readonly string[] | undefined;
  /** … and FROM NAMED and USING NAMED. */
  readonly named_graphs?: readonly string[] | undefined;
  /** What a pattern outside GRAPH matches: triples in no named graph (default), or in any graph. */
  readonly default_graph?: "unnamed" | "union" | undefined;
  readonly timeout_ms?: number | undefined;
  /** More rows than this are an error, never a truncated answer. */
  readonly limit?: number | undefined;
  readonly base_iri?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface SparqlInput extends SparqlSettings {
  /** Adds the records of the collections to a query's answer. */
  readonly include_metadata?: boolean | undefined;
  readonly query?: string | undefined;
  readonly update?: string | undefined;
}

export interface SparqlAcross extends SparqlSettings, QueryWishes {
  readonly query: string;
  readonly collections: readonly CollectionName[];
  /** Receives the extra answer fields before the query runs; may throw to refuse the request. */
  readonly checkMore?: ((more: QueryMore<CollectionName>) => void) | undefined;
}

export type SparqlFound = SparqlResult & QueryMore<CollectionName>;
export type SparqlAnswer = SparqlFound | SparqlUpdated;

export interface SparqlUpdated {
  readonly kind: "updated";
  readonly inserted: number;
  readonly removed: number;
}

/** Exactly one of the two. */
export function readSparqlText({
  query,
  update,
}: SparqlInput): { readonly query: string } | { readonly update: string } {
  if ((query === undefined) === (update === undefined)) throw invalid(`Send either "query" or "update", not both.`);
  const text = query ?? update;
  if (typeof text !== "string" || text.trim() === "")
    throw invalid(
      `${query === undefined ? "update" : "query"}: is empty; write SPARQL such as SELECT * { ?s ?p ?o } LIMIT 10.`,
    );
  return query === undefined ? { update: text } : { query: text };
}

export function readSparqlSettings(input: SparqlSettings): SparqlOptions {
  const { default_graphs = [], named_graphs = [], default_graph, base_iri, signal } = input;
  if (default_graph !== undefined && default_graph !== "unnamed" && default_graph !== "union")
    throw invalid(`default_graph: must be "unnamed" or "union"; got ${show(default_graph)}.`);
  for (const iri of [...default_graphs, ...named_graphs])
    if (typeof iri !== "string" || !/^[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"{}|\\^`]*$/.test(iri))
      throw invalid(`A graph name must be an absolute IRI; got ${show(iri)}.`);
  return {
    signal,
    baseIri: base_iri,
    defaultGraph: default_graph,
    dataset: { default: default_graphs, named: named_graphs },
    limits: {
      timeoutMs: bounded(
        "timeout_ms",
        input.timeout_ms,
        graphLimits.sparqlTimeoutMsMax,
        graphLimits.sparqlTimeoutMsDefault,
      ),
      resultRowsMax: bounded("limit", input.limit, graphLimits.sparqlRowsMax, graphLimits.sparqlRowsMax),
    },
  };
}

export function bounded(name: string, value: number | undefined, max: number, otherwise: number): number {
  if (value === undefined) return otherwise;
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw invalid(`${name}: must be a whole number from 1 to ${max}; got ${show(value)}.`);
}
