/** Queries over a short list in memory: of databases, containers or settings. Aggregates and joins are not supported. */
import { invalid } from "../domain/errors.ts";
import type { JsonObject, JsonValue } from "../domain/json.ts";
import { readCount, readParameters } from "./parse/parameters.ts";
import { parseQuery } from "./parse/parse-query.ts";
import { rowMaker } from "./rows.ts";

export function queryDocuments(
  text: string,
  documents: readonly JsonObject[],
  parameters: Readonly<Record<string, JsonValue>>,
  now: number,
): readonly JsonValue[] {
  const query = parseQuery(text);
  if (query.aggregates || query.groupBy.length > 0 || query.joins.length > 0)
    throw invalid("query: this list does not support aggregates, GROUP BY and JOIN.");
  const values = readParameters(parameters);
  const definition = { name: "list", partitionKey: ["id"], indexes: {} };
  const maker = rowMaker(query, definition, undefined, { parameters: values, now, expanded: { rows: 0 } });
  const rows = documents.flatMap((document) => maker.rows(document));
  if (query.orderBy.length > 0) rows.sort((a, b) => maker.compareSort(maker.sortValues(a), maker.sortValues(b)));
  const skip = readCount(query.offset, "OFFSET", values) ?? 0;
  const left = readCount(query.limit, "LIMIT", values) ?? readCount(query.top, "TOP", values);
  const found = rows.slice(skip, left === undefined ? undefined : skip + left);
  return found.map((row) => maker.project(row)).filter((value) => value !== undefined);
}
