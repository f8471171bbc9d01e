/**
 * SPARQL 1.1 Query and Update over any quad source.
 *
 * Confined (R-TG-127): a request sees the quads of its source and nothing else; named graphs are resolved within it. Limited (R-TG-125):
 * time, rows and memory are bounded; a request that exceeds a limit fails with an error that names it, even in the middle of a result.
 * Isolated (R-TG-126): SERVICE and LOAD are refused, so no request makes the server call another.
 */
import type { SparqlLimits } from "./limits.ts";
import { runSparqlQuery } from "./query.ts";
import { newRequest, type SparqlClock } from "./request.ts";
import type { QuadSink, QuadSource, SparqlOptions, SparqlResult, UpdateCounts } from "./types.ts";
import { runSparqlUpdate } from "./update.ts";

export interface Sparql {
  /** Rows and quads are streamed as they are found; an error may occur in the middle of the stream. */
  query(source: QuadSource, text: string, options?: SparqlOptions): Promise<SparqlResult>;
  /** Changes made before an error are kept: an operation is atomic only within one `write` of the sink, and a request is not atomic. */
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
