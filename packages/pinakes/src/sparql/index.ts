/** SPARQL 1.1 over quads: a parser, an evaluator, and the result formats. */
export { hideGraphs } from "./hidden-graphs.ts";
export { sparqlLimits } from "./limits.ts";
export { sparqlResultFormats, writeSparqlResults, type SparqlResultFormat } from "./results/index.ts";
export { tripleStoreSource, type QuadReads } from "./sources.ts";
export { createSparql } from "./sparql.ts";
export type { QuadSource, SparqlOptions, SparqlResult } from "./types.ts";
