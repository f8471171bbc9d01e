/** Databases: listed, queried, made, read and deleted. */
import type { JsonObject } from "../../../../domain/json.ts";
import type { DatabaseInfo } from "../../../../state/index.ts";
import { answer, noBody, quoted, type CosmosAnswer, type CosmosContext } from "../context.ts";
import { badRequest } from "../errors.ts";
import { databaseRid } from "../rid.ts";
import { isQuery, listAnswer } from "./lists.ts";
import { wantedThroughput } from "./offers.ts";

export async function databaseFeed(context: CosmosContext): Promise<CosmosAnswer> {
  const { caller, state, method } = context;
  if (method === "POST" && !isQuery(context)) return createDatabase(context);
  const all = await state.databases.list(caller);
  return listAnswer(context, "", "Databases", all.map(databaseView));
}

async function createDatabase(context: CosmosContext): Promise<CosmosAnswer> {
  const { caller, state } = context;
  const { id } = context.object();
  if (typeof id !== "string")
    throw badRequest("The input content is invalid because the required property 'id' is missing.");
  const made = await state.databases.create(caller, id, wantedThroughput(context));
  return answer(201, databaseView(made), { headers: { etag: quoted(made.etag) } });
}

export async function readDatabase({ caller, state, segments }: CosmosContext): Promise<CosmosAnswer> {
  const found = await state.databases.get(caller, segments[1] as string);
  return answer(200, databaseView(found), { headers: { etag: quoted(found.etag) } });
}

export async function deleteDatabase({ caller, state, segments }: CosmosContext): Promise<CosmosAnswer> {
  await state.databases.delete(caller, segments[1] as string);
  return noBody();
}

export function databaseView(database: DatabaseInfo): JsonObject {
  const rid = databaseRid(database);
  return {
    id: database.name,
    _rid: rid,
    _self: `dbs/${rid}/`,
    _etag: quoted(database.etag),
    _colls: "colls/",
    _users: "users/",
    _ts: Math.floor(database.modified_at / 1_000),
  };
}
