/** SPARQL 1.1 over quads: a language, an evaluator, and the formats of its results. */
export { sparqlLimits, type SparqlLimits } from "./limits.ts";
export { sparqlResultFormats, writeSparqlResults, type SparqlResultFormat } from "./results/index.ts";
export { tripleStoreSink, tripleStoreSource } from "./sources.ts";
export { createSparql, type Sparql } from "./sparql.ts";
export type { QuadSink, QuadSource, SparqlOptions, SparqlResult, UpdateCounts } from "./types.ts";
