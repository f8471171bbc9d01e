/** Every limit of a query, with its unit last. Tests stand at each and one past it. */
export const sqlLimits = Object.freeze({
  textCharsMax: 65_536,
  /** Nested parentheses, functions, subqueries and chains of one operator: what is evaluated by recursion. */
  depthMax: 64,
  /** Values of an IN, elements of a literal, conditions joined by AND or OR, arguments of a function. */
  listItemsMax: 1_000,
  selectItemsMax: 100,
  /** As Cosmos has it. */
  joinsMax: 5,
  orderKeysMax: 8,
  groupKeysMax: 8,
  parametersMax: 1_000,
  regexCharsMax: 500,
  /** States of the compiled expression, counted repetitions written out. */
  regexStatesMax: 500,
  /** A longer text is not looked at: the function then gives undefined. */
  regexInputCharsMax: 16_384,
  /** Rows that one document may become by JOIN, those of its subqueries included. */
  rowsPerDocumentMax: 10_000,
  /** Combinations of values given by IN that are looked up one by one. */
  partitionsMax: 100,
  /** Ordered lists that are merged while they are read; with more of them everything is sorted in memory. */
  mergedPartitionsMax: 16,
  pageItemsDefault: 100,
  pageItemsMax: 1_000,
  /** A page ends, short and with a cursor, when this many rows were looked at … */
  pageRowsExaminedMax: 10_000,
  /** … or when its items have this many characters as JSON. */
  pageCharsMax: 4_194_304,
  /** What is sorted, grouped or counted in memory looks at no more rows than this … */
  rowsMaxDefault: 50_000,
  /** … and on an engine whose index rows are fetched one by one from the table, at no more than this. */
  rowsMaxEventualDefault: 10_000,
  rowsMaxMax: 1_000_000,
  /** … and keeps no more than this of them. */
  keptCharsMax: 67_108_864,
  offsetMax: 1_000_000,
});
