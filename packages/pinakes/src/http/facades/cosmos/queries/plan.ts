/**
 * The plan of a query, for clients that want one before they ask: pass it on as it is, once, to the first range. Every clause is answered
 * here, so a client has nothing to put together. The rewritten query is marked, so that it is answered for the whole container although
 * it goes to one range.
 */
import type { JsonObject } from "../../../../domain/json.ts";
import { answer, type CosmosAnswer } from "../context.ts";

export const wholeMark = "\n-- all ranges";
const firstRangeEnd = "01";

export function passThroughPlan(query: string, ranges: number): CosmosAnswer {
  const plan: JsonObject = {
    partitionedQueryExecutionInfoVersion: 2,
    queryInfo: {
      distinctType: "None",
      top: null,
      offset: null,
      limit: null,
      orderBy: [],
      orderByExpressions: [],
      groupByExpressions: [],
      groupByAliases: [],
      aggregates: [],
      groupByAliasToAggregateType: {},
      rewrittenQuery: ranges > 1 ? `${query}${wholeMark}` : "",
      hasSelectValue: false,
      hasNonStreamingOrderBy: false,
    },
    queryRanges: [{ min: "", max: ranges > 1 ? firstRangeEnd : "FF", isMinInclusive: true, isMaxInclusive: false }],
  };
  return answer(200, plan);
}
