/** The source and sink of SPARQL, and the results. */
import type { Quad, TermText } from "../domain/rdf.ts";
import type { QuerySlot } from "../domain/query-slots.ts";
import type { QuadPage, QuadPattern } from "../ports/triple-store.ts";
import type { SparqlLimits } from "./limits.ts";

/** Everything that a query can see: other data does not exist for it, whatever graph the query names. */
export interface QuadSource {
  /** Returns no quad twice. If it does (several collections), the evaluator removes duplicates. */
  readonly distinct: boolean;
  /** The hidden graphs, and the source including them: for requests that name one, and for those that remove everything. */
  readonly hidden?: { readonly graphs: readonly TermText[]; readonly all: QuadSource };
  match(
    pattern: QuadPattern,
    options: { readonly limit: number; readonly cursor?: string | undefined },
  ): Promise<Pick<QuadPage, "quads" | "cursor">>;
  /** May stop counting at `max`. The estimate may be too high; zero only if there are none. */
  count(pattern: QuadPattern, options: { readonly max: number }): Promise<number>;
  /** The names of its graphs, without the default graph. */
  graphs(options: {
    readonly limit: number;
    readonly cursor?: string | undefined;
  }): Promise<{ readonly graphs: readonly TermText[]; readonly cursor?: string | undefined }>;
}

export interface QuadSink {
  /** Removals are applied first. A quad is never in both lists. */
  write(change: { readonly remove: readonly Quad[]; readonly insert: readonly Quad[] }): Promise<UpdateCounts>;
}

export interface UpdateCounts {
  readonly inserted: number;
  readonly removed: number;
}

export interface SparqlOptions {
  readonly signal?: AbortSignal | undefined;
  readonly limits?: Partial<SparqlLimits> | undefined;
  /** Acquires a slot among all requests, to be released; without it a request runs at once. */
  readonly enter?: (() => Promise<QuerySlot>) | undefined;
  /** Base IRI for relative IRIs; without it they are INVALID. */
  readonly baseIri?: string | undefined;
  /**
   * What a pattern outside GRAPH matches if the request names no graphs: only quads in no named graph ("unnamed", as in the specification),
   * or those of all graphs merged ("union").
   */
  readonly defaultGraph?: "unnamed" | "union" | undefined;
  /** IRIs of `default-graph-uri` and `named-graph-uri`: they replace FROM and USING (SPARQL 1.1 Protocol, 2.1.4). */
  readonly dataset?: { readonly default: readonly string[]; readonly named: readonly string[] } | undefined;
}

/** A value per variable, in the order of `variables`; undefined if unbound. */
export type Binding = readonly (TermText | undefined)[];

export type SparqlResult =
  | { readonly kind: "bindings"; readonly variables: readonly string[]; readonly rows: AsyncIterable<Binding> }
  | { readonly kind: "boolean"; readonly value: boolean }
  | { readonly kind: "quads"; readonly quads: AsyncIterable<Quad> };
