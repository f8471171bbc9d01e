/** Queries of a container: by one of its indexes, or in SQL. */
import type { IndexQuery, PartitionKeyValue, QueryPage, QueryPlan, SqlQuery } from "@pinakes/client";
import type { Caller } from "../../domain/caller.ts";
import { invalid, show } from "../../domain/errors.ts";
import type { Filter } from "../../domain/filter.ts";
import { isJsonObject, type JsonObject, type JsonScalar, type JsonValue } from "../../domain/json.ts";
import { partitionAt } from "../../domain/partition-value.ts";
import { parsePath } from "../../domain/path.ts";
import type { QuerySlot, QuerySlots } from "../../domain/query-slots.ts";
import type { Item, ItemStore, Query, SessionTokens } from "../../ports/item-store.ts";
import {
  explainQuery,
  runQuery,
  type QueryRequest,
  childrenOf,
  documentPath,
  parseQuery,
  type Expression,
} from "../../sql/index.ts";
import { storedView } from "./documents.ts";
import { storePath, canonicalPath, formatOrderPath } from "./policy-path.ts";
import { indexName, onlyDocuments, queryIndexes, queryStore, scanIndexOf } from "./query-view.ts";
import { declaredPath, partitionOf, type Target } from "./target.ts";

export interface SqlOptions {
  /** The document as the query sees and returns it; by default with `_etag` and `_ts`. */
  readonly view?: ((item: Item) => JsonObject) | undefined;
  /** Filters documents. */
  readonly among?: ((document: JsonObject) => boolean) | undefined;
  /** The parameters of `among`, to which a cursor is bound. */
  readonly amongText?: string | undefined;
  /** For a hierarchical key: its leading values. */
  readonly prefix?: readonly PartitionKeyValue[] | undefined;
}

export interface CostedPage extends QueryPage {
  readonly examined: number;
}

export interface Asking extends SqlOptions {
  readonly items: ItemStore;
  readonly caller: Caller;
  readonly target: Target;
  readonly now: number;
  readonly key: Uint8Array;
  /** Acquires a query slot; absent: no concurrency limit. */
  readonly queries: QuerySlots | undefined;
  /** Session token of the caller's own writes, which the result must include. */
  readonly session: SessionTokens | undefined;
}

export async function runContainerQuery(asking: Asking, query: IndexQuery | SqlQuery): Promise<QueryPage> {
  return isSql(query) ? runSql(asking, query) : runByIndex(asking, query);
}

export async function explainContainerQuery(asking: Asking, query: IndexQuery | SqlQuery): Promise<QueryPlan> {
  return isSql(query) ? explainSql(asking, query) : explainByIndex(asking, query);
}

function isSql(query: IndexQuery | SqlQuery): query is SqlQuery {
  if (!isJsonObject(query))
    throw invalid(`A query is { "query": "SELECT …" } or { "index": …, "equals": {…} }; got ${show(query)}.`);
  const sql = "query" in query;
  if (sql && ("index" in query || "equals" in query))
    throw invalid("A query is either SQL (query) or uses an index (index, equals); send one of them.");
  return sql;
}

async function runByIndex({ items, caller, target, session }: Asking, query: IndexQuery): Promise<QueryPage> {
  const { advice } = coverageOfFilter(target, query.filter);
  const page = await items.query(caller.scope, target.definition.name, { ...toStoreQuery(target, query), session });
  const shown = page.items.map((item) => storedView(target, item));
  return { items: shown, next_cursor: page.cursor ?? null, ...(advice === undefined ? {} : { advice }) };
}

function toStoreQuery(target: Target, query: IndexQuery): Query {
  const { index, equals, range, order, limit, cursor } = query;
  if (!isJsonObject(equals))
    throw invalid("equals: is missing; give the values of the leading paths of the index, {} if there are none.");
  const values: Record<string, JsonScalar> = Object.fromEntries(
    Object.entries(equals).flatMap(([path, value]) =>
      value === undefined ? [] : [[declaredPath(target, path), value] as const],
    ),
  );
  const filter = onlyDocuments(target, query.filter as Filter | undefined);
  return {
    equals: values,
    cursor,
    index,
    range,
    order,
    filter,
    limit,
  };
}

/** Planned for one item, so that a query that would be rejected is rejected here too. */
async function explainByIndex({ items, caller, target }: Asking, query: IndexQuery): Promise<QueryPlan> {
  const { paths, advice } = coverageOfFilter(target, query.filter);
  await items.query(caller.scope, target.definition.name, { ...toStoreQuery(target, query), limit: 1 });
  return {
    access: query.index === undefined ? "partition" : "index",
    index: query.index ?? null,
    order_served: true,
    evaluated: paths,
    advice: advice ?? null,
  };
}

async function runSql(asking: Asking, query: SqlQuery): Promise<QueryPage> {
  const { examined: _, ...page } = await runContainerSql(asking, query);
  return page;
}

export async function runContainerSql(asking: Asking, query: SqlQuery): Promise<CostedPage> {
  const request = sqlRequest(asking, query);
  const coverage = coverageOfSql(asking.target, request.query, isStrict(asking.target, query));
  const run = (memory?: QuerySlot) => runQuery({ ...request, options: { ...request.options, memory } });
  const { items, cursor, advice, stats } = await (asking.queries?.within(asking.caller.scope.tenant, run) ?? run());
  const told = [advice, coverage.advice].filter((text) => text !== undefined);
  const examined = stats.rows_examined;
  return { items, next_cursor: cursor ?? null, examined, ...(told.length === 0 ? {} : { advice: told.join(" ") }) };
}

async function explainSql(asking: Asking, query: SqlQuery): Promise<QueryPlan> {
  const request = sqlRequest(asking, query);
  const coverage = coverageOfSql(asking.target, request.query, isStrict(asking.target, query));
  const { index, partition, lookedUp, orderServed, advice } = explainQuery(request);
  const told = [advice, coverage.advice].filter((text) => text !== undefined);
  const scans =
    partition === "all" &&
    lookedUp.length === 0 &&
    !(orderServed && index !== null && index !== scanIndexOf(asking.target));
  const access = partition === "all" ? (scans ? "scan" : "index") : index === null ? "partition" : "index";
  return {
    access,
    index: indexName(index),
    order_served: orderServed,
    evaluated: coverage.paths.filter((path) => !lookedUp.includes(path)),
    advice: told.length === 0 ? null : told.join(" "),
  };
}

function isStrict(target: Target, query: SqlQuery): boolean {
  const { strict = false } = query;
  if (typeof strict !== "boolean") throw invalid("strict: must be true or false.");
  return strict || target.strict;
}

function sqlRequest(asking: Asking, query: SqlQuery): QueryRequest {
  const { items, caller, target, now, key, session, view, among, amongText, prefix } = asking;
  const { definition } = target;
  const begins = prefix === undefined ? undefined : beginning(target, prefix);
  return {
    items: queryStore(items, target),
    scope: caller.scope,
    container: target.name,
    definition: {
      name: definition.name,
      partitionKey: definition.partitionKey,
      indexes: queryIndexes(target),
      scanIndex: scanIndexOf(target),
      systemProperties: true,
      ...(view === undefined ? {} : { view }),
      ...(among === undefined && begins === undefined
        ? {}
        : { among: (document) => among?.(document) !== false && begins?.(document) !== false }),
      ...(prefix === undefined && amongText === undefined
        ? {}
        : { amongText: JSON.stringify([prefix ?? null, amongText ?? null]) }),
    },
    query: query.query,
    parameters: parametersOf(query.parameters),
    options: {
      limit: query.limit,
      cursor: query.cursor,
      partition: query.pk === undefined ? undefined : partitionOf(target, query.pk),
      strict: isStrict(target, query),
      session,
      now,
      key,
    },
  };
}

function beginning({ definition }: Target, prefix: readonly PartitionKeyValue[]): (document: JsonObject) => boolean {
  if (prefix.length === 0 || prefix.length >= definition.partitionKey.length)
    throw invalid(`pk: the beginning of a key has 1 to ${definition.partitionKey.length - 1} values here.`);
  const paths = definition.partitionKey.slice(0, prefix.length).map(parsePath);
  const wanted = JSON.stringify(prefix);
  return (document) => JSON.stringify(partitionAt(document, paths)) === wanted;
}

/** In the format of Cosmos DB's clients: a list of names, with their "@", and values. */
function parametersOf(given: SqlQuery["parameters"]): Readonly<Record<string, JsonValue>> {
  if (given === undefined) return {};
  if (!Array.isArray(given))
    throw invalid(`parameters: must be a list such as [{ "name": "@id", "value": 7 }], got ${show(given)}.`);
  const values: Record<string, JsonValue> = {};
  for (const [i, parameter] of (given as readonly unknown[]).entries()) {
    const name = isJsonObject(parameter) ? parameter["name"] : undefined;
    const value = isJsonObject(parameter) ? parameter["value"] : undefined;
    if (typeof name !== "string" || !/^@\w+$/.test(name))
      throw invalid(`parameters[${i}].name: must be "@" and a name, such as "@id"; got ${show(name)}.`);
    if (value === undefined) throw invalid(`parameters[${i}].value: is missing; null is a value, too.`);
    if (Object.hasOwn(values, name)) throw invalid(`parameters[${i}].name: ${name} is specified twice.`);
    Object.defineProperty(values, name, { value, enumerable: true });
  }
  return values;
}

/** Checks the indexing policy of a container for the properties that a query filters by. */
interface Coverage {
  /** The filtered paths. */
  readonly paths: readonly string[];
  readonly advice: string | undefined;
}

function coverageOfSql(target: Target, query: string, strict: boolean): Coverage {
  const { where } = parseQuery(query);
  return coverageOf(target, where === undefined ? [] : pathsIn(where), strict);
}

function coverageOfFilter(target: Target, filter: JsonValue | undefined): Coverage {
  return coverageOf(target, pathsOfFilter(filter), target.strict);
}

/** A strict container rejects a filter on a path that its policy excludes; others evaluate it per document. */
function coverageOf(
  { name, definition, policy }: Target,
  filtered: readonly (readonly string[])[],
  strict: boolean,
): Coverage {
  const found = new Map(filtered.map((path) => [storePath(path), path] as const));
  const keys = new Set(definition.partitionKey.map(canonicalPath));
  const excluded = [...found]
    .filter(([text, path]) => policy !== null && !keys.has(text) && !policy.covers(path))
    .map(([, path]) => formatOrderPath(path));
  const paths = [...found.keys()];
  if (excluded.length === 0) return { paths, advice: undefined };
  const list = excluded.join(", ");
  if (strict)
    throw invalid(
      `query: the indexing policy of container "${name}" excludes ${list}, and a strict query may only filter by indexed paths. Include ${list} in the policy, or leave strict out.`,
    );
  return {
    paths,
    advice: `The indexing policy excludes ${list}: the filter is evaluated per document. Include it in the policy to get an index.`,
  };
}

function pathsIn(expression: Expression): readonly (readonly string[])[] {
  const path = documentPath(expression);
  return path === undefined ? childrenOf(expression).flatMap(pathsIn) : [path];
}

/** An invalid filter is rejected when it is executed. */
function pathsOfFilter(filter: JsonValue | undefined): readonly (readonly string[])[] {
  if (!isJsonObject(filter)) return [];
  return Object.entries(filter).flatMap(([key, value]) => {
    if (key === "and" || key === "or") return Array.isArray(value) ? value.flatMap(pathsOfFilter) : [];
    return key === "not" ? pathsOfFilter(value) : [parsePath(key)];
  });
}
