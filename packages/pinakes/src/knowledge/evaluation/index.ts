/** How good searches are: metrics, test sets, comparisons, and evaluations that are kept. */
export { beirLimits, readBeir, type BeirSet } from "./beir.ts";
export { compareEvaluated, evaluateSet, type Evaluated, type NamedConfiguration } from "./run-evaluation.ts";
export { nameOf, readConfiguration, type Configuration } from "./configuration.ts";
export { readChunkingStrategy } from "../chunking/index.ts";
