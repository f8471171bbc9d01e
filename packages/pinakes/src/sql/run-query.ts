/** Runs a query of the subset over any item store, page by page. */
import { hasCode, invalid, show } from "../domain/errors.ts";
import type { JsonObject, JsonValue } from "../domain/json.ts";
import { requireScope } from "../domain/scope.ts";
import { shortHash } from "../runtime/tokens.ts";
import { systemClock } from "../ports/clock.ts";
import { sorted } from "./collect.ts";
import { keyedTokens, openCursor, sealCursor } from "./cursor.ts";
import type { Expression, Query } from "./ast.ts";
import { compileExpression, type EvaluationContext } from "./expressions/evaluate.ts";
import { aggregatesOf, grouped } from "./group.ts";
import type { Reading } from "./leg-reader.ts";
import { sqlLimits } from "./limits.ts";
import { readCount, readParameters } from "./parse/parameters.ts";
import { parseQuery } from "./parse/parse-query.ts";
import { plansFor, type Plan } from "./plan/plan.ts";
import { projection, rowMaker } from "./rows.ts";
import { stream } from "./stream.ts";
import type { CursorTokens, QueryExplanation, QueryOptions, QueryRequest, QueryResult } from "./types.ts";
import { Window } from "./window.ts";

/**
 * Returns one page. The result is decided on the documents themselves; an index or an engine's prefilter only reduces reads.
 *
 * @example
 * const { items, cursor } = await runQuery({ items: store, scope, container: "tasks", definition, query: "SELECT * FROM c WHERE c.w = @w", parameters: { w: "w1" }, options: { key } });
 */
export async function runQuery(request: QueryRequest): Promise<QueryResult> {
  const prepared = prepare(request);
  const without = new Set<string>();
  for (;;) {
    const plan = choose(prepared, without);
    try {
      return await answer(prepared, plan);
    } catch (error) {
      // An index that is still being built is not used; another access path may exist. A cursor continues on its own path, or waits.
      const { index } = plan.access.source;
      if (prepared.resumed !== undefined || index === undefined || !(await isBuilding(request, index, error)))
        throw error;
      without.add(index);
      if (!hasPlan(prepared, without)) throw error;
    }
  }
}

/** Plans the query as `runQuery` would, without running it. */
export function explainQuery(request: Omit<QueryRequest, "scope">): QueryExplanation {
  const prepared = prepare({ ...request, options: { ...request.options, cursor: undefined } });
  const { mode, access, partition, residual, prefilter, advice } = choose(prepared, new Set());
  return {
    mode,
    index: access.source.index ?? null,
    partition,
    ranges: access.legs.length,
    lookedUp: access.lookedUp,
    residual,
    prefilter: prefilter !== undefined,
    orderServed: access.order !== "none",
    ...(advice === undefined ? {} : { advice }),
  };
}

interface Prepared {
  readonly request: Omit<QueryRequest, "scope"> & { readonly scope?: QueryRequest["scope"] };
  readonly options: QueryOptions;
  readonly query: Query;
  readonly context: EvaluationContext;
  readonly binding: string;
  readonly resumed: ReturnType<typeof openCursor> | undefined;
  readonly counts: { readonly skip: number; readonly left: number | undefined };
}

function prepare(request: Prepared["request"]): Prepared {
  const options = request.options ?? {};
  const query = parseQuery(request.query);
  const parameters = readParameters(request.parameters);
  const tenant = request.scope === undefined ? "" : requireScope(request.scope);
  const named = [...parameters].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const { amongText } = request.definition;
  const among = amongText === undefined ? [] : [amongText];
  const binding = shortHash(
    JSON.stringify([
      tenant,
      request.container,
      request.definition.name,
      query.text,
      named,
      options.partition ?? null,
      ...among,
    ]),
  );
  const resumed = options.cursor === undefined ? undefined : openCursor(tokensOf(options), binding, options.cursor);
  const context: EvaluationContext = {
    parameters,
    now: resumed?.now ?? options.now ?? systemClock.now(),
    expanded: { rows: 0 },
  };
  requirePartition(request, options);
  const offset = readCount(query.offset, "OFFSET", parameters);
  const limit = readCount(query.limit, "LIMIT", parameters) ?? readCount(query.top, "TOP", parameters);
  // Compiled before anything is read, so that a missing parameter is reported even if there are no documents.
  rowMaker(query, request.definition, options.partition, context);
  for (const key of query.groupBy) compileExpression(key, context);
  aggregatesOf(query).forEach(({ argument }) => compileExpression(argument, context));
  return { request, options, query, context, binding, resumed, counts: { skip: offset ?? 0, left: limit } };
}

function requirePartition({ definition }: Prepared["request"], { partition }: QueryOptions): void {
  if (partition === undefined || (Array.isArray(partition) && partition.length === definition.partitionKey.length))
    return;
  throw invalid(
    `partition: specify the values of [${definition.partitionKey.join(", ")}], in this order; got ${show(partition)}.`,
  );
}

function choose(prepared: Prepared, without: ReadonlySet<string>): Plan {
  const { request, options, query, context, resumed } = prepared;
  const plans = plansFor({
    query,
    context,
    without,
    definition: request.definition,
    container: request.container,
    partition: options.partition,
    strict: options.strict === true,
    eventual: request.items.capabilities.indexReads === "eventual",
  });
  if (resumed === undefined) return plans[0] as Plan;
  const same = plans.find(({ signature }) => shortHash(signature) === resumed.planHash);
  if (same === undefined)
    throw invalid("The cursor belongs to an index that was removed or changed; omit it to start over.");
  return same;
}

function hasPlan(prepared: Prepared, without: ReadonlySet<string>): boolean {
  try {
    choose(prepared, without);
    return true;
  } catch (error) {
    if (hasCode(error, "INVALID")) return false;
    throw error;
  }
}

async function isBuilding({ items, definition }: QueryRequest, index: string, error: unknown): Promise<boolean> {
  if (!hasCode(error, "UNAVAILABLE")) return false;
  return (await items.indexes(definition.name)).some(({ name, state }) => name === index && state === "building");
}

async function answer(prepared: Prepared, plan: Plan): Promise<QueryResult> {
  const { request, options, query, context, resumed, counts } = prepared;
  const { items, definition } = request;
  const scope = request.scope as QueryRequest["scope"];
  const pageItems = checkedLimit(options.limit);
  const window =
    resumed === undefined
      ? new Window(pageItems, counts.skip, counts.left)
      : Window.resume(pageItems, resumed.state["window"] as JsonObject);
  const reading: Reading = {
    items,
    scope,
    container: definition.name,
    plan,
    session: options.session,
    memory: options.memory,
    examined: 0,
  };
  const maker = rowMaker(query, definition, options.partition, context);
  const from = resumed?.state["from"] as JsonObject | undefined;
  const rowsMax = checkedRowsMax(options.rowsMax, items.capabilities.indexReads === "eventual");
  let next: JsonObject | undefined;
  if (window.over) next = undefined;
  else if (plan.mode === "count") await count(reading, query, context, window);
  else if (plan.mode === "group") next = await grouped({ query, context, reading, maker, rowsMax }, window, from);
  else if (plan.mode === "sort") next = await sorted(reading, maker, window, rowsMax, from);
  else if (plan.mode !== "empty") next = await stream(reading, maker, window, from);
  const payload = {
    plan: plan.signature,
    now: context.now,
    state: { window: window.state, ...(next === undefined ? {} : { from: next }) },
  };
  return {
    items: window.items,
    ...(next === undefined ? {} : { cursor: sealCursor(tokensOf(options), prepared.binding, payload) }),
    stats: { rows_examined: reading.examined, index: plan.access.source.index ?? null, partition: plan.partition },
    ...(plan.advice === undefined ? {} : { advice: plan.advice }),
  };
}

/** The engine counts if the index alone decides. */
async function count(reading: Reading, query: Query, context: EvaluationContext, window: Window): Promise<void> {
  const { index } = reading.plan.access.source;
  let total = 0;
  for (const { equals, range } of reading.plan.access.legs) {
    const leg = { ...(index === undefined ? {} : { index }), equals, ...(range === undefined ? {} : { range }) };
    total += await reading.items.count(reading.scope, reading.container, { ...leg, session: reading.session });
  }
  reading.examined = total;
  const known = ({ kind }: Expression) => (kind === "aggregate" ? (): JsonValue => total : undefined);
  window.add(projection(query, { ...context, known })([]));
}

function checkedLimit(limit: number | undefined): number {
  if (limit === undefined) return sqlLimits.pageItemsDefault;
  if (Number.isInteger(limit) && limit >= 1 && limit <= sqlLimits.pageItemsMax) return limit;
  throw invalid(`limit: must be a whole number from 1 to ${sqlLimits.pageItemsMax}, got ${show(limit)}.`);
}

function checkedRowsMax(rowsMax: number | undefined, eventual: boolean): number {
  if (rowsMax === undefined) return eventual ? sqlLimits.rowsMaxEventualDefault : sqlLimits.rowsMaxDefault;
  if (Number.isInteger(rowsMax) && rowsMax >= 1 && rowsMax <= sqlLimits.rowsMaxMax) return rowsMax;
  throw invalid(`rowsMax: must be a whole number from 1 to ${sqlLimits.rowsMaxMax}, got ${show(rowsMax)}.`);
}

function tokensOf({ tokens, key }: QueryOptions): CursorTokens {
  if (tokens !== undefined) return tokens;
  if (key !== undefined) return keyedTokens(key);
  throw invalid(
    "query: a result of several pages needs tokens or a key in the options to seal its cursor; otherwise request a larger page.",
  );
}
