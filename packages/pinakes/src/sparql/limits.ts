/** Every limit of a SPARQL request, with its unit last. Tests stand at each and one past it. */
export const sparqlLimits = Object.freeze({
  queryCharsMax: 65_536,
  /** An update may carry its data with it. Nobody else is served while it is parsed, so much of it belongs into an import. */
  updateCharsMax: 262_144,
  /** Brackets inside brackets: what is parsed by recursion. */
  bracketsMax: 64,
  /** Operators inside operators, chains such as `a || b || c` included: what is compiled and evaluated by recursion. */
  depthMax: 250,
  /** Triples and groups that one group joins: each waits for the one before. */
  joinPartsMax: 250,
  timeoutMsDefault: 10_000,
  timeoutMsMax: 300_000,
  /** Rows that a query hands out. */
  resultRowsMax: 1_000_000,
  /** Rows that joins, sorts, groups, DISTINCT and paths keep in memory at the same time … */
  heldRowsMax: 500_000,
  /** … and the memory of these, as estimated … */
  heldBytesMax: 134_217_728,
  /** … and quads that one operation of an update changes after its WHERE was evaluated. */
  updateQuadsMax: 100_000,
  /** Of a text that CONCAT, REPLACE, GROUP_CONCAT and the like make. */
  madeCharsMax: 1_048_576,
  /** Digits of a number that is computed with. */
  numberCharsMax: 1_000,
  regexCharsMax: 500,
  regexStatesMax: 1_000,
  regexInputCharsMax: 32_768,
  /** Of the source, in one call. */
  pageQuadsMax: 1_000,
  /** Quads of hidden graphs that a page passes over before it ends early. */
  hiddenRowsMax: 10_000,
  /** How far the index is asked to count for an estimate: more is "many". */
  estimateQuadsMax: 20_000,
  /** The event loop gets a turn after this long. */
  sliceMs: 12,
});

/** Those that a caller may lower or raise. */
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
