/** Expands a document to the rows of a query: JOIN, WHERE, and the values of SELECT and ORDER BY for each. */
import type { JsonObject, JsonValue } from "../domain/json.ts";
import { isNoValue, partitionAt, partitionValueOf } from "../domain/partition-value.ts";
import { parsePath, valueAt } from "../domain/path.ts";
import type { Item, Partition } from "../ports/item-store.ts";
import type { Query } from "./ast.ts";
import {
  compileExpression,
  expandJoins,
  objectOf,
  type EvaluationContext,
  type Evaluator,
  type Row,
} from "./expressions/evaluate.ts";
import type { QueryDefinition } from "./types.ts";
import { compareByType, type Value } from "./expressions/values.ts";

export interface RowMaker {
  /** The document as the query sees it. */
  document(item: Item): JsonObject;
  /** Identity of the item: id and partition. */
  identity(item: Item): Identity;
  /** The rows of a document for which WHERE is true. Each is a separate object. */
  rows(document: JsonObject): Row[];
  sortValues(row: Row): readonly Value[];
  compareSort(a: readonly Value[], b: readonly Value[]): number;
  /** The result of SELECT for a row; undefined produces no item. Not for queries with aggregates. */
  project(row: Row): Value;
}

export interface Identity {
  readonly id: string;
  /** The partition key values as JSON text. */
  readonly partition: string;
}

export function rowMaker(
  query: Query,
  definition: QueryDefinition,
  partition: Partition | undefined,
  context: EvaluationContext,
): RowMaker {
  const expand = expandJoins(query.joins, context);
  const where = query.where === undefined ? undefined : compileExpression(query.where, context);
  const keys = query.orderBy.map(({ expression, descending }) => ({
    of: compileExpression(expression, context),
    descending,
  }));
  const partitionPaths = definition.partitionKey.map(parsePath);
  const inside = (document: JsonObject) =>
    partition === undefined || partitionPaths.every((path, i) => sameKeyValue(valueAt(document, path), partition[i]));
  const grouped = query.aggregates || query.groupBy.length > 0;
  const project = grouped ? () => undefined : projection(query, context);
  return {
    document: (item) => {
      const { document, etag, modifiedAt } = item;
      if (definition.view !== undefined) return definition.view(item);
      if (definition.systemProperties !== true) return document;
      return { ...document, _etag: etag, _ts: Math.floor(modifiedAt / 1000) };
    },
    identity: ({ id, document }) => ({
      id,
      partition: JSON.stringify(partitionAt(document, partitionPaths)),
    }),
    rows: (document) => {
      if (!inside(document) || definition.among?.(document) === false) return [];
      context.expanded.rows = 0;
      const found: Row[] = [];
      for (const row of expand([document])) if (where === undefined || where(row) === true) found.push([...row]);
      return found;
    },
    sortValues: (row) => keys.map(({ of }) => of(row)),
    compareSort: (a, b) => {
      for (const [i, { descending }] of keys.entries()) {
        const order = compareByType(a[i], b[i]);
        if (order !== 0) return descending ? -order : order;
      }
      return 0;
    },
    project,
  };
}

/** `{}` in a partition represents an absent value. */
function sameKeyValue(value: JsonValue | undefined, wanted: Partition[number] | undefined): boolean {
  return isNoValue(wanted) ? isNoValue(partitionValueOf(value)) : value === wanted;
}

/** Evaluates SELECT for a row, or for a group if the context resolves aggregates. */
export function projection({ select }: Query, context: EvaluationContext): Evaluator {
  if (select.kind === "star") return (row) => row[0];
  if (select.kind === "value") return compileExpression(select.expression, context);
  return objectOf(select.items.map(({ name, expression }) => [name, compileExpression(expression, context)]));
}

/** Approximate length of a value as JSON: sufficient to bound the size of a page. */
export function sizeOf(value: Value): number {
  if (typeof value === "string") return value.length + 2;
  if (Array.isArray(value)) return value.reduce((sum: number, item: JsonValue) => sum + sizeOf(item) + 1, 2);
  if (typeof value !== "object" || value === null) return 8;
  return Object.entries(value).reduce((sum, [name, item]) => sum + name.length + 4 + sizeOf(item), 2);
}
