/**
 * SPARQL 1.1 Query and Update over whatever can be asked for quads.
 *
 * Confined (R-TG-127): a request sees the quads of its source and nothing else; graphs that it names are looked for in there. Limited
 * (R-TG-125): time, rows and memory have bounds, and what passes one ends with an error that names it, also in the middle of a result.
 * Alone (R-TG-126): SERVICE and LOAD are refused, so no request makes the server call another.
 */
import type { SparqlLimits } from "./limits.ts";
import { runSparqlQuery } from "./query.ts";
import { newRequest, type SparqlClock } from "./request.ts";
import type { QuadSink, QuadSource, SparqlOptions, SparqlResult, UpdateCounts } from "./types.ts";
import { runSparqlUpdate } from "./update.ts";

export interface Sparql {
  /** Rows and quads come while they are found; an error may come in their middle. */
  query(source: QuadSource, text: string, options?: SparqlOptions): Promise<SparqlResult>;
  /** What was written before an error stays: an operation is all or nothing as far as one `write` of the sink is, a request is not. */
  update(source: QuadSource, sink: QuadSink, text: string, options?: SparqlOptions): Promise<UpdateCounts>;
}

/**
 * @example
 * const sparql = createSparql({ limits: { timeoutMs: 2_000 } });
 * const result = await sparql.query(source, "SELECT ?name { ?person <http://xmlns.com/foaf/0.1/name> ?name }");
 */
export function createSparql({
  limits = {},
  clock,
}: { readonly limits?: Partial<SparqlLimits>; readonly clock?: SparqlClock } = {}): Sparql {
  return {
    query: async (source, text, options = {}) => runSparqlQuery(source, text, newRequest(limits, options, clock)),
    update: async (source, sink, text, options = {}) =>
      runSparqlUpdate(source, sink, text, newRequest(limits, options, clock)),
  };
}
