/** What SPARQL reads from and writes to, and what it answers. */
import type { Quad, TermText } from "../domain/rdf.ts";
import type { QuerySlot } from "../domain/query-slots.ts";
import type { QuadPage, QuadPattern } from "../ports/triple-store.ts";
import type { SparqlLimits } from "./limits.ts";

/** Everything that a query can see: what is not in here does not exist for it, whatever graph the query names. */
export interface QuadSource {
  /** No quad comes twice. Where it does (several collections) the evaluator takes care of it. */
  readonly distinct: boolean;
  /** Graphs that it leaves out, and the source with them: for requests that name one, and for those that remove everything. */
  readonly hidden?: { readonly graphs: readonly TermText[]; readonly all: QuadSource };
  match(
    pattern: QuadPattern,
    options: { readonly limit: number; readonly cursor?: string | undefined },
  ): Promise<Pick<QuadPage, "quads" | "cursor">>;
  /** May stop at `max`. A guess that is too high is allowed, one of zero only where there is nothing. */
  count(pattern: QuadPattern, options: { readonly max: number }): Promise<number>;
  /** The names of its graphs, without the one that has none. */
  graphs(options: {
    readonly limit: number;
    readonly cursor?: string | undefined;
  }): Promise<{ readonly graphs: readonly TermText[]; readonly cursor?: string | undefined }>;
}

export interface QuadSink {
  /** The removals first. A quad is never in both lists. */
  write(change: { readonly remove: readonly Quad[]; readonly insert: readonly Quad[] }): Promise<UpdateCounts>;
}

export interface UpdateCounts {
  readonly inserted: number;
  readonly removed: number;
}

export interface SparqlOptions {
  readonly signal?: AbortSignal | undefined;
  readonly limits?: Partial<SparqlLimits> | undefined;
  /** Takes a place among all requests, to be given back; without it a request runs at once. */
  readonly enter?: (() => Promise<QuerySlot>) | undefined;
  /** Relative IRIs of the text are resolved against it; without it they are INVALID. */
  readonly baseIri?: string | undefined;
  /**
   * What a pattern outside GRAPH sees when the request names no graphs: quads in no named graph ("unnamed", as the specification says),
   * or those of all graphs together ("union").
   */
  readonly defaultGraph?: "unnamed" | "union" | undefined;
  /** IRIs of `default-graph-uri` and `named-graph-uri`: they take the place of FROM and USING (SPARQL 1.1 Protocol, 2.1.4). */
  readonly dataset?: { readonly default: readonly string[]; readonly named: readonly string[] } | undefined;
}

/** A value for each variable, in the order of `variables`; undefined where it has none. */
export type Binding = readonly (TermText | undefined)[];

export type SparqlResult =
  | { readonly kind: "bindings"; readonly variables: readonly string[]; readonly rows: AsyncIterable<Binding> }
  | { readonly kind: "boolean"; readonly value: boolean }
  | { readonly kind: "quads"; readonly quads: AsyncIterable<Quad> };
