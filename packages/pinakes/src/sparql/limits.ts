/** All limits of a SPARQL request, with the unit last. Tests cover each limit and one past it. */
export const sparqlLimits = Object.freeze({
  queryCharsMax: 65_536,
  /** An update may contain data. Parsing blocks the event loop, so large data should be imported instead. */
  updateCharsMax: 262_144,
  /** Nested brackets: parsed by recursion. */
  bracketsMax: 64,
  /** Nested operators, including chains such as `a || b || c`: compiled and evaluated by recursion. */
  depthMax: 250,
  /** Triples and groups that one group joins; each waits for the one before. */
  joinPartsMax: 250,
  timeoutMsDefault: 10_000,
  timeoutMsMax: 300_000,
  /** Rows that a query returns. */
  resultRowsMax: 1_000_000,
  /** Rows that joins, sorts, groups, DISTINCT and paths hold in memory at the same time … */
  heldRowsMax: 500_000,
  /** … and their estimated memory … */
  heldBytesMax: 134_217_728,
  /** … and quads that one operation of an update changes after its WHERE was evaluated. */
  updateQuadsMax: 100_000,
  /** Length of a string that CONCAT, REPLACE, GROUP_CONCAT and the like produce. */
  madeCharsMax: 1_048_576,
  /** Digits of a number in arithmetic. */
  numberCharsMax: 1_000,
  regexCharsMax: 500,
  regexStatesMax: 1_000,
  regexInputCharsMax: 32_768,
  /** Quads read from the source per call. */
  pageQuadsMax: 1_000,
  /** Quads of hidden graphs that a page skips before it ends early. */
  hiddenRowsMax: 10_000,
  /** Estimates count up to this many quads; more is "many". */
  estimateQuadsMax: 20_000,
  /** Time after which the evaluator yields to the event loop. */
  sliceMs: 12,
});

/** Limits that a caller may lower or raise. */
export interface SparqlLimits {
  readonly timeoutMs: number;
  readonly resultRowsMax: number;
  readonly heldRowsMax: number;
  readonly heldBytesMax: number;
  readonly updateQuadsMax: number;
  readonly queryCharsMax: number;
  readonly updateCharsMax: number;
}

export const defaultSparqlLimits: SparqlLimits = Object.freeze({
  timeoutMs: sparqlLimits.timeoutMsDefault,
  resultRowsMax: sparqlLimits.resultRowsMax,
  heldRowsMax: sparqlLimits.heldRowsMax,
  heldBytesMax: sparqlLimits.heldBytesMax,
  updateQuadsMax: sparqlLimits.updateQuadsMax,
  queryCharsMax: sparqlLimits.queryCharsMax,
  updateCharsMax: sparqlLimits.updateCharsMax,
});
