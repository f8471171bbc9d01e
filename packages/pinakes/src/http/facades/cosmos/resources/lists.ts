/** Queries over databases, containers and offers: short lists, which are queried where they stand. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../../domain/json.ts";
import { PinakesError } from "../../../../domain/errors.ts";
import { queryDocuments } from "../../../../sql/index.ts";
import { answer, feedOf, type CosmosAnswer, type CosmosContext } from "../context.ts";
import { badRequest, queryError } from "../errors.ts";

export interface SqlBody {
  readonly query: string;
  readonly parameters: readonly { readonly name: string; readonly value: JsonValue }[];
}

export function readSqlBody(body: JsonValue): SqlBody {
  const query = isJsonObject(body) ? body["query"] : body;
  if (typeof query !== "string") throw badRequest('A query is { "query": "SELECT …", "parameters": […] }.');
  const parameters = (isJsonObject(body) ? body["parameters"] : undefined) ?? [];
  if (!Array.isArray(parameters)) throw badRequest("parameters: must be a list.");
  return { query, parameters: parameters as SqlBody["parameters"] };
}

export function isQuery(context: CosmosContext): boolean {
  const type = context.header("content-type")?.toLowerCase() ?? "";
  return context.flag("x-ms-documentdb-isquery") || type.startsWith("application/query+json");
}

/** A page of a list; a continuation is the place where the next one begins. */
export function listAnswer(
  context: CosmosContext,
  rid: string,
  name: string,
  all: readonly JsonObject[],
): CosmosAnswer {
  const items = isQuery(context) ? queried(context, all) : all;
  const from = startOf(context);
  const count = context.maxItemCount() ?? 100;
  const page = items.slice(from, from + count);
  const next = from + count < items.length ? JSON.stringify({ from: from + count }) : undefined;
  return answer(200, feedOf(rid, name, page), {
    headers: { "x-ms-continuation": next, "x-ms-item-count": String(page.length) },
  });
}

function startOf(context: CosmosContext): number {
  const text = context.header("x-ms-continuation");
  if (text === undefined) return 0;
  const found = /^\{"from":(\d{1,9})\}$/.exec(text)?.[1];
  if (found === undefined) throw badRequest("Invalid Continuation Token");
  return Number(found);
}

function queried(context: CosmosContext, all: readonly JsonObject[]): readonly JsonValue[] {
  const { query, parameters } = readSqlBody(context.json());
  try {
    const named = Object.fromEntries(parameters.map(({ name, value }) => [name, value]));
    return queryDocuments(query, all, named, context.facade.clock.now());
  } catch (error) {
    if (PinakesError.isInstance(error)) throw queryError(error.detail, error);
    throw error;
  }
}
