/** How good searches are: test sets, comparisons, and evaluations that are kept. */
export { readBeir, type BeirSet } from "./beir.ts";
export { nameOf, readConfiguration, type Configuration } from "./configuration.ts";
export { evaluationLimits, type NewEvaluation } from "./evaluation-input.ts";
export { Evaluations, type EvaluationRun, type EvaluationView } from "./evaluations.ts";
export { compareEvaluated, evaluateSet, type Evaluated, type NamedConfiguration } from "./run-evaluation.ts";
