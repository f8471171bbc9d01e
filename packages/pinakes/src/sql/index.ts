/** The SQL subset of Cosmos DB over any item store: a parser, an evaluator and a planner. */
export { childrenOf, documentPath, type Expression } from "./ast.ts";
export { compileExpression } from "./expressions/evaluate.ts";
export { parseQuery } from "./parse/parse-query.ts";
export { queryDocuments } from "./query-documents.ts";
export { explainQuery, runQuery } from "./run-query.ts";
export type { CursorTokens, QueryDefinition, QueryOptions, QueryRequest, QueryResult } from "./types.ts";
