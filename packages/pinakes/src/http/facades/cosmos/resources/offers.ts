/** Offers: the throughput of a container, or of a database that was made with one. A container that nobody gave one shows 400, unlimited. */
import { isJsonObject, type JsonObject } from "../../../../domain/json.ts";
import {
  throughputMax,
  throughputMin,
  type DatabaseInfo,
  type FoundContainer,
  type Throughput,
} from "../../../../state/index.ts";
import { answer, quoted, type CosmosAnswer, type CosmosContext } from "../context.ts";
import { badRequest, CosmosError } from "../errors.ts";
import { containerRid, databaseRid, offerRid } from "../rid.ts";
import { listAnswer } from "./lists.ts";

export const shownThroughput: Throughput = { ru: throughputMin };

interface Offer {
  readonly view: JsonObject;
  set(throughput: Throughput): Promise<unknown>;
}

export async function offerFeed(context: CosmosContext): Promise<CosmosAnswer> {
  const offers = await allOffers(context);
  return listAnswer(
    context,
    "",
    "Offers",
    offers.map(({ view }) => view),
  );
}

export async function readOffer(context: CosmosContext): Promise<CosmosAnswer> {
  return offerAnswer(await findOffer(context));
}

export async function replaceOffer(context: CosmosContext): Promise<CosmosAnswer> {
  const { content } = context.object();
  if (!isJsonObject(content)) throw badRequest("An offer has a content with offerThroughput.");
  const autoscale = content["offerAutopilotSettings"];
  const max = isJsonObject(autoscale) ? autoscale["maxThroughput"] : undefined;
  const throughput = max === undefined ? { ru: checkedRu(content["offerThroughput"]) } : autoscaled(max);
  const offer = await findOffer(context);
  await offer.set(throughput);
  return offerAnswer(await findOffer(context));
}

/** Of a request that makes a container or a database: by its headers. */
export function wantedThroughput(context: CosmosContext): Throughput | null {
  const fixed = context.header("x-ms-offer-throughput");
  const autoscale = context.header("x-ms-cosmos-offer-autopilot-settings");
  if (fixed !== undefined && autoscale !== undefined)
    throw badRequest("x-ms-offer-throughput and x-ms-cosmos-offer-autopilot-settings cannot be given together.");
  if (fixed !== undefined) return { ru: checkedRu(Number(fixed)) };
  if (autoscale === undefined) return null;
  return autoscaled(maxThroughputOf(autoscale));
}

function maxThroughputOf(text: string): unknown {
  try {
    const value = JSON.parse(text) as unknown;
    return isJsonObject(value) ? value["maxThroughput"] : undefined;
  } catch (error) {
    throw new CosmosError(400, "x-ms-cosmos-offer-autopilot-settings: is not JSON.", { cause: error });
  }
}

function autoscaled(max: unknown): Throughput {
  const ru = checkedRu(max);
  return { ru: Math.max(throughputMin, Math.ceil(ru / 10)), autoscale_max: ru };
}

function checkedRu(value: unknown): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= throughputMin && value <= throughputMax)
    return value;
  throw badRequest(
    `The offer throughput must be a whole number from ${throughputMin} to ${throughputMax}; got ${JSON.stringify(value) ?? "nothing"}.`,
  );
}

function offerAnswer({ view }: Offer): CosmosAnswer {
  return answer(200, view, { headers: { etag: view["_etag"] as string } });
}

async function findOffer(context: CosmosContext): Promise<Offer> {
  const [, id = ""] = context.segments;
  const found = (await allOffers(context)).find(
    ({ view }) => (view["id"] as string).toLowerCase() === id.toLowerCase(),
  );
  if (found === undefined) throw new CosmosError(404, `There is no offer "${id.slice(0, 40)}" in this account.`);
  return found;
}

async function allOffers({ caller, state }: CosmosContext): Promise<readonly Offer[]> {
  const offers: Offer[] = [];
  const databases = await state.databases.list(caller);
  for (const database of databases) {
    const { throughput } = database;
    if (throughput !== null)
      offers.push({
        view: ofDatabase(database, throughput),
        set: (next) => state.databases.setDatabaseThroughput(caller, database.name, next),
      });
    for (const found of await state.databases.containers(caller, database.name))
      if (found.entry.throughput !== null || throughput === null)
        offers.push({ view: ofContainer(found), set: (next) => state.databases.setThroughput(caller, found, next) });
  }
  return offers;
}

function ofDatabase(database: DatabaseInfo, throughput: Throughput): JsonObject {
  const rid = databaseRid(database);
  return offerView({
    id: offerRid("database", database.key),
    resource: `dbs/${rid}/`,
    rid,
    etag: database.etag,
    throughput,
    at: database.modified_at,
  });
}

function ofContainer({ database, entry }: FoundContainer): JsonObject {
  const rid = containerRid(database, entry);
  const resource = `dbs/${databaseRid(database)}/colls/${rid}/`;
  const id = offerRid("container", database.key, entry.key);
  return offerView({
    id,
    resource,
    rid,
    etag: entry.etag,
    throughput: entry.throughput ?? shownThroughput,
    at: entry.modified_at,
  });
}

interface OfferFields {
  readonly id: string;
  readonly resource: string;
  readonly rid: string;
  readonly etag: string;
  readonly throughput: Throughput;
  readonly at: number;
}

function offerView({ id, resource, rid, etag, throughput, at }: OfferFields): JsonObject {
  const { ru, autoscale_max: max } = throughput;
  return {
    resource,
    offerType: "Invalid",
    offerResourceId: rid,
    offerVersion: "V2",
    content: {
      offerThroughput: ru,
      offerIsRUPerMinuteThroughputEnabled: false,
      ...(max === undefined ? {} : { offerAutopilotSettings: { maxThroughput: max } }),
      offerMinimumThroughputParameters: { maxThroughputEverProvisioned: max ?? ru },
    },
    id,
    _rid: id,
    _self: `offers/${id}/`,
    _etag: quoted(etag),
    _ts: Math.floor(at / 1_000),
  };
}
