/** Queries over the items of a container, page by page: each clause is answered here, for the whole container or the part that is asked for. */
import type { PartitionKeyValue } from "@pinakes/client";
import { PinakesError } from "../../../../domain/errors.ts";
import { isJsonObject, utf8Bytes, type JsonObject } from "../../../../domain/json.ts";
import { partitionAt } from "../../../../domain/partition-value.ts";
import { parsePath } from "../../../../domain/path.ts";
import type { CostedPage, FoundContainer } from "../../../../state/index.ts";
import { answer, feedText, type CosmosAnswer, type CosmosContext } from "../context.ts";
import { badRequest, queryError } from "../errors.ts";
import { itemView } from "../documents/item-view.ts";
import { effectiveKey } from "../ranges/effective-key.ts";
import { rangeById, rangesOf, within, type KeyRange } from "../ranges/ranges.ts";
import { containerView, keyOf } from "../resources/container-body.ts";
import { findContainer, inRangeOf, throughputOf } from "../resources/find-container.ts";
import { readSqlBody, type SqlBody } from "../resources/lists.ts";
import { requireSystemKeyValue } from "../resources/system-key.ts";
import { queryCharge } from "../throughput/charge.ts";
import { metered } from "../resources/metered.ts";
import { requireComposite as compositeCheck } from "./order-by.ts";
import { passThroughPlan, wholeMark } from "./plan.ts";

export async function queryPlan(context: CosmosContext): Promise<CosmosAnswer> {
  const found = await findContainer(context);
  const { query } = readSqlBody(context.json());
  return passThroughPlan(query, rangesOf(keyOf(found), throughputOf(found)).length);
}

export async function queryItems(context: CosmosContext): Promise<CosmosAnswer> {
  const found = await findContainer(context);
  const body = readSqlBody(context.json());
  return answerQuery(context, found, body);
}

/** The items of a container in no order: a query for all of them. */
export async function readFeed(context: CosmosContext): Promise<CosmosAnswer> {
  const found = await findContainer(context);
  return answerQuery(context, found, { query: "SELECT * FROM c", parameters: [] });
}

async function answerQuery(context: CosmosContext, found: FoundContainer, body: SqlBody): Promise<CosmosAnswer> {
  context.facade.sessions.check(context.header("x-ms-session-token"));
  const whole = body.query.endsWith(wholeMark);
  const query = whole ? body.query.slice(0, -wholeMark.length) : body.query;
  return metered(context, found, async () => {
    const page = await readPage(context, found, { ...body, query }, whole);
    const { rid } = context.container as { rid: string };
    const items = JSON.stringify(page.items);
    const bytes = utf8Bytes(items);
    return answer(200, undefined, {
      text: feedText(rid, "Documents", items, page.items.length),
      charge: queryCharge(page.examined, bytes),
      headers: {
        "x-ms-item-count": String(page.items.length),
        "x-ms-continuation": continuationOf(context, found, query, page),
        ...figures(context, page, bytes),
      },
    });
  });
}

async function readPage(
  context: CosmosContext,
  found: FoundContainer,
  body: SqlBody,
  whole: boolean,
): Promise<CostedPage> {
  const { caller, state } = context;
  const token = context.header("x-ms-continuation");
  if (token === endToken) return { items: [], next_cursor: null, examined: 0 };
  const cursor = openContinuation(token);
  const { pk, prefix } = scopeOf(context, found);
  if (pk !== undefined) inRangeOf(context, found, pk);
  const range = whole || pk !== undefined ? undefined : rangeOf(context, found);
  try {
    requireComposite(body.query, found);
    const asked = {
      query: body.query,
      parameters: body.parameters,
      limit: context.maxItemCount(),
      ...(cursor === undefined ? {} : { cursor }),
      ...(pk === undefined ? {} : { pk }),
    };
    return await state.containers.querySql(caller, found.info.name, asked, {
      view: itemView(found).item,
      ...(prefix === undefined ? {} : { prefix }),
      ...(range === undefined ? {} : { among: amongRange(found, range), amongText: JSON.stringify(range) }),
    });
  } catch (error) {
    if (!PinakesError.isInstance(error)) throw error;
    if (cursor !== undefined && /\bcursor\b/i.test(error.detail)) throw badRequest("Invalid Continuation Token");
    if (error.code === "INVALID" || error.code === "NOT_SUPPORTED" || error.code === "LIMIT_EXCEEDED")
      throw queryError(error.detail, error);
    throw error;
  }
}

function requireComposite(query: string, found: FoundContainer): void {
  if (found.info.kind === "system") return;
  const policy = containerView(found)["indexingPolicy"];
  if (isJsonObject(policy)) compositeCheck(query, policy);
}

interface Scope {
  readonly pk?: readonly PartitionKeyValue[];
  readonly prefix?: readonly PartitionKeyValue[];
}

function scopeOf(context: CosmosContext, found: FoundContainer): Scope {
  const values = context.partitionKey();
  if (values === undefined) return {};
  const { paths, systemKey } = keyOf(found);
  if (systemKey) return { pk: requireSystemKeyValue(values) };
  if (values.length === 0) return {};
  if (values.length < paths.length) return { prefix: values };
  if (values.length > paths.length)
    throw badRequest(`The partition key has ${values.length} values for ${paths.join(", ")}.`);
  return { pk: values };
}

/** The part of the container that a request is about; undefined for all of it. */
export function rangeOf(context: CosmosContext, found: FoundContainer): Pick<KeyRange, "min" | "max"> | undefined {
  const id = context.header("x-ms-documentdb-partitionkeyrangeid");
  const ranges = rangesOf(keyOf(found), throughputOf(found));
  const range = id === undefined ? undefined : rangeById(ranges, id);
  const [start, end] = [context.header("x-ms-start-epk"), context.header("x-ms-end-epk")];
  if (start === undefined && end === undefined) return ranges.length === 1 ? undefined : range;
  const min = later(start ?? "", range?.min ?? "");
  const max = earlier(end ?? "FF", range?.max ?? "FF");
  return { min, max };
}

function later(a: string, b: string): string {
  return a > b ? a : b;
}

function earlier(a: string, b: string): string {
  return a < b ? a : b;
}

export function amongRange(
  found: FoundContainer,
  range: Pick<KeyRange, "min" | "max">,
): (document: JsonObject) => boolean {
  const key = keyOf(found);
  const paths = [found.info.partition_key].flat().map(parsePath);
  return (document) => within(range, effectiveKey(key, partitionAt(document, paths)));
}

/**
 * Where a page of a plain scan is full, Cosmos DB does not look whether anything follows: a container of one range answers with a token,
 * and then with an empty page. A client that follows a plan keeps the tokens of its ranges itself, and would begin with that one again
 * and again.
 */
function continuationOf(
  context: CosmosContext,
  found: FoundContainer,
  query: string,
  { items, next_cursor: next }: CostedPage,
): string | undefined {
  if (next !== null) return sealed(next);
  const planned = context.header("x-ms-documentdb-partitionkeyrangeid") !== undefined;
  const full = !planned && items.length > 0 && items.length === context.maxItemCount();
  return full && plainScan.test(query) && rangesOf(keyOf(found), throughputOf(found)).length === 1
    ? endToken
    : undefined;
}

const plainScan = /^\s*select\s+\*\s+from\s+\w+(?:\s+\w+)?\s*$/i;
const endToken = JSON.stringify({ end: true });

/** JSON, since some clients take a token apart. */
function sealed(cursor: string): string {
  return JSON.stringify({ cursor });
}

function openContinuation(token: string | undefined): string | undefined {
  if (token === undefined) return undefined;
  try {
    const value = JSON.parse(token) as unknown;
    if (isJsonObject(value) && typeof value["cursor"] === "string") return value["cursor"];
  } catch {
    // Told below, with what is JSON and none of ours.
  }
  throw badRequest("Invalid Continuation Token");
}

function figures(context: CosmosContext, page: CostedPage, bytes: number): Readonly<Record<string, string>> {
  const { items, examined } = page;
  const headers: Record<string, string> = {};
  if (context.flag("x-ms-documentdb-populatequerymetrics")) {
    headers["x-ms-documentdb-query-metrics"] =
      `totalExecutionTimeInMs=0.10;queryCompileTimeInMs=0.01;queryLogicalPlanBuildTimeInMs=0.01;queryPhysicalPlanBuildTimeInMs=0.01;queryOptimizationTimeInMs=0.00;VMExecutionTimeInMs=0.05;indexLookupTimeInMs=0.01;documentLoadTimeInMs=0.01;systemFunctionExecuteTimeInMs=0.00;userFunctionExecuteTimeInMs=0.00;retrievedDocumentCount=${examined};retrievedDocumentSize=${bytes};outputDocumentCount=${items.length};outputDocumentSize=${bytes};writeOutputTimeInMs=0.01;indexUtilizationRatio=1.00`;
  }
  if (context.flag("x-ms-cosmos-populateindexmetrics") || context.flag("x-ms-cosmos-populateindexmetrics-v2")) {
    const none = { SingleIndexes: [], CompositeIndexes: [] };
    headers["x-ms-cosmos-index-utilization"] = encodeURIComponent(
      JSON.stringify({ UtilizedIndexes: none, PotentialIndexes: none }),
    );
  }
  return headers;
}
