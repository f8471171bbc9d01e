/** All limits of a query, with the unit last. Tests cover each limit and one past it. */
export const sqlLimits = Object.freeze({
  textCharsMax: 65_536,
  /** Nested parentheses, functions and subqueries, and chains of one operator: evaluated by recursion. */
  depthMax: 64,
  /** Values of an IN, elements of a literal, conditions joined by AND or OR, arguments of a function. */
  listItemsMax: 1_000,
  selectItemsMax: 100,
  /** As in Cosmos DB. */
  joinsMax: 5,
  orderKeysMax: 8,
  groupKeysMax: 8,
  parametersMax: 1_000,
  regexCharsMax: 500,
  /** States of the compiled expression, with counted repetitions expanded. */
  regexStatesMax: 500,
  /** For a longer input the function returns undefined. */
  regexInputCharsMax: 16_384,
  /** Rows that JOIN may produce from one document, including those of its subqueries. */
  rowsPerDocumentMax: 10_000,
  /** Combinations of IN values that are looked up one by one. */
  partitionsMax: 100,
  /** Ordered lists that are merged as a stream; beyond that everything is sorted in memory. */
  mergedPartitionsMax: 16,
  pageItemsDefault: 100,
  pageItemsMax: 1_000,
  /** A page ends early, with a cursor, after reading this many rows … */
  pageRowsExaminedMax: 10_000,
  /** … or when its items have this many characters as JSON. */
  pageCharsMax: 4_194_304,
  /** A sort, group or count in memory reads at most this many rows … */
  rowsMaxDefault: 50_000,
  /** … or this many on an engine that fetches index rows one by one from the table … */
  rowsMaxEventualDefault: 10_000,
  rowsMaxMax: 1_000_000,
  /** … and holds at most this many characters. */
  keptCharsMax: 67_108_864,
  offsetMax: 1_000_000,
});
