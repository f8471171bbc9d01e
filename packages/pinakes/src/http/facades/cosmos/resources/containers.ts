/** Containers: listed, queried, made, read, replaced and deleted; their ranges, and the deletion of a partition. */
import type { JsonObject } from "../../../../domain/json.ts";
import type { FoundContainer } from "../../../../state/index.ts";
import { answer, feedOf, noBody, type CosmosAnswer, type CosmosContext } from "../context.ts";
import { badRequest } from "../errors.ts";
import { rangesOf, rangeView } from "../ranges/ranges.ts";
import { databaseRid } from "../rid.ts";
import { deleteCharge } from "../throughput/charge.ts";
import { containerView, keyOf, readContainerBody } from "./container-body.ts";
import { findContainer, requirePartition, throughputOf } from "./find-container.ts";
import { isQuery, listAnswer } from "./lists.ts";
import { wantedThroughput } from "./offers.ts";

export async function containerFeed(context: CosmosContext): Promise<CosmosAnswer> {
  const { caller, state, method, segments } = context;
  const name = segments[1] as string;
  if (method === "POST" && !isQuery(context)) return createContainer(context, name);
  const database = await state.databases.get(caller, name);
  const found = await state.databases.containers(caller, name);
  const views = found.map((one) => containerView(one, context.header("x-ms-version")));
  return listAnswer(context, databaseRid(database), "DocumentCollections", views);
}

async function createContainer(context: CosmosContext, database: string): Promise<CosmosAnswer> {
  const { caller, state } = context;
  const throughput = wantedThroughput(context);
  const { id, spec, settings } = readContainerBody(context.object());
  const made = await state.databases.createContainer(caller, database, { name: id, spec, settings, throughput });
  return containerAnswer(context, 201, made);
}

export async function readContainer(context: CosmosContext): Promise<CosmosAnswer> {
  return containerAnswer(context, 200, await findContainer(context));
}

export async function replaceContainer(context: CosmosContext): Promise<CosmosAnswer> {
  const { caller, state } = context;
  const { id, spec, settings } = readContainerBody(context.object());
  const found = await findContainer(context);
  if (id !== found.entry.name) throw badRequest("The id of a container cannot be changed.");
  const [before, after] = [keyOf(found), settings["partitionKey"] as { readonly paths: readonly string[] }];
  if (JSON.stringify(before.paths) !== JSON.stringify(after.paths))
    throw badRequest("Document collection partition key cannot be changed.");
  if (found.info.kind === "system") {
    requireSystemPolicy(context.object(), settings, found);
    return containerAnswer(context, 200, await state.databases.setDefaultTtl(caller, found, spec.default_ttl ?? null));
  }
  const unique = found.info.unique_keys;
  const kept = {
    ...spec,
    partition_key: found.info.partition_key,
    unique_keys: unique,
    optional_key: found.info.optional_key,
    strict: found.info.strict,
  };
  const shown = { ...settings, partitionKey: before.shown };
  return containerAnswer(context, 200, await state.databases.replaceContainer(caller, found, kept, shown));
}

/** Of a system container only the default time to live can be changed; what a client leaves out stays. */
function requireSystemPolicy(body: JsonObject, settings: JsonObject, found: FoundContainer): void {
  const { settings: shown } = readContainerBody({ ...containerView(found) });
  for (const name of ["indexingPolicy", "uniqueKeyPolicy"]) {
    if (body[name] === undefined || JSON.stringify(settings[name]) === JSON.stringify(shown[name])) continue;
    throw badRequest(
      `${name}: fixed for the system container ${found.entry.name}; only its defaultTtl can be changed.`,
    );
  }
}

export async function deleteContainer(context: CosmosContext): Promise<CosmosAnswer> {
  await context.state.databases.deleteContainer(context.caller, await findContainer(context));
  return noBody();
}

export async function readRanges(context: CosmosContext): Promise<CosmosAnswer> {
  const found = await findContainer(context);
  const ranges = rangesOf(keyOf(found), throughputOf(found));
  const etag = `"ranges-${ranges.length}"`;
  // Some clients ask until nothing is new.
  if (context.header("if-none-match") === etag) return answer(304, undefined, { headers: { etag } });
  const { rid } = context.container as { rid: string };
  const views = ranges.map((range) => rangeView(range, rid, ranges.length));
  return answer(200, feedOf(rid, "PartitionKeyRanges", views), { headers: { etag } });
}

export async function deletePartition(context: CosmosContext): Promise<CosmosAnswer> {
  const found = await findContainer(context);
  const pk = requirePartition(context, found);
  const { deleted } = await context.state.containers.deletePartition(context.caller, found.info.name, pk);
  return answer(200, undefined, { charge: deleteCharge * Math.max(1, deleted) });
}

function containerAnswer(context: CosmosContext, status: number, found: FoundContainer): CosmosAnswer {
  const view = containerView(found, context.header("x-ms-version"));
  const quota = context.flag("x-ms-documentdb-populatequotainfo")
    ? {
        "x-ms-resource-quota":
          "functions=25;storedProcedures=100;triggers=25;documentSize=10240;documentsSize=10485760;documentsCount=-1;collectionSize=10485760;",
        "x-ms-resource-usage":
          "functions=0;storedProcedures=0;triggers=0;documentSize=0;documentsSize=0;documentsCount=0;collectionSize=0;",
        "x-ms-documentdb-collection-index-transformation-progress": "100",
      }
    : {};
  return answer(status, view, { headers: { etag: view["_etag"] as string, ...quota } });
}
