/** From verb and address to what is done. What Cosmos DB has and Pinakes has not is named: 501 is not tried again. */
import { answer, feedOf, type CosmosAnswer, type CosmosContext } from "./context.ts";
import { batchOf } from "./documents/batch.ts";
import { createItem, deleteItem, patchItem, readItem, replaceItem } from "./documents/items.ts";
import { CosmosError, notServed } from "./errors.ts";
import { changeFeed } from "./feed/change-feed.ts";
import { queryItems, queryPlan, readFeed } from "./queries/query.ts";
import { readAccount } from "./resources/account.ts";
import {
  containerFeed,
  deleteContainer,
  deletePartition,
  readContainer,
  readRanges,
  replaceContainer,
} from "./resources/containers.ts";
import { databaseFeed, deleteDatabase, readDatabase } from "./resources/databases.ts";
import { findContainer } from "./resources/find-container.ts";
import { isQuery } from "./resources/lists.ts";
import { offerFeed, readOffer, replaceOffer } from "./resources/offers.ts";

type Handler = (context: CosmosContext) => CosmosAnswer | Promise<CosmosAnswer>;
type Methods = Readonly<Partial<Record<string, Handler>>>;

export interface Resource {
  /** For logs: without names. */
  readonly route: string;
  readonly methods: Methods;
  /** Of a POST: whether it only reads. */
  readonly reads?: (context: CosmosContext) => boolean;
}

const unserved: Readonly<Record<string, string>> = {
  sprocs: "Stored procedures",
  triggers: "Triggers",
  udfs: "User-defined functions",
  users: "Users of a database",
  permissions: "Permissions",
  clientencryptionkeys: "Client encryption keys",
  schemas: "Schemas",
  attachments: "Attachments",
};

const documents: Resource = {
  route: "/cosmos/dbs/{db}/colls/{coll}/docs",
  methods: { GET: itemFeed, POST: postDocuments },
  reads: (context) => isPlan(context) || isQuery(context),
};

/** By the types along the address. */
const resources: Readonly<Record<string, Resource>> = {
  "": { route: "/cosmos", methods: { GET: readAccount } },
  dbs: { route: "/cosmos/dbs", methods: { GET: databaseFeed, POST: databaseFeed }, reads: isQuery },
  "dbs/*": { route: "/cosmos/dbs/{db}", methods: { GET: readDatabase, DELETE: deleteDatabase } },
  "dbs/*/colls": {
    route: "/cosmos/dbs/{db}/colls",
    methods: { GET: containerFeed, POST: containerFeed },
    reads: isQuery,
  },
  "dbs/*/colls/*": {
    route: "/cosmos/dbs/{db}/colls/{coll}",
    methods: { GET: readContainer, PUT: replaceContainer, DELETE: deleteContainer },
  },
  "dbs/*/colls/*/docs": documents,
  "dbs/*/colls/*/docs/*": {
    route: "/cosmos/dbs/{db}/colls/{coll}/docs/{id}",
    methods: { GET: readItem, PUT: replaceItem, PATCH: patchItem, DELETE: deleteItem },
  },
  "dbs/*/colls/*/pkranges": {
    route: "/cosmos/dbs/{db}/colls/{coll}/pkranges",
    methods: { GET: readRanges, POST: readRanges },
    reads: () => true,
  },
  "dbs/*/colls/*/conflicts": {
    route: "/cosmos/dbs/{db}/colls/{coll}/conflicts",
    methods: { GET: conflictFeed, POST: conflictFeed },
    reads: () => true,
  },
  "dbs/*/colls/*/conflicts/*": {
    route: "/cosmos/dbs/{db}/colls/{coll}/conflicts/{id}",
    methods: { GET: noConflict, DELETE: noConflict },
  },
  "dbs/*/colls/*/operations/*": {
    route: "/cosmos/dbs/{db}/colls/{coll}/operations/{name}",
    methods: { POST: operation },
  },
  offers: { route: "/cosmos/offers", methods: { GET: offerFeed, POST: offerFeed }, reads: isQuery },
  "offers/*": { route: "/cosmos/offers/{id}", methods: { GET: readOffer, PUT: replaceOffer } },
};

export function resourceAt(segments: readonly string[]): Resource {
  const shape = segments.map((segment, i) => (i % 2 === 0 ? segment : "*")).join("/");
  const found = Object.hasOwn(resources, shape) ? resources[shape] : undefined;
  if (found !== undefined) return found;
  const foreign = segments.find((segment, i) => i % 2 === 0 && Object.hasOwn(unserved, segment));
  if (foreign !== undefined) throw notServed(unserved[foreign] as string);
  throw new CosmosError(404, "There is nothing at this address.");
}

export async function dispatch(
  context: CosmosContext,
  { methods, reads }: Resource,
  readOnly: boolean,
): Promise<CosmosAnswer> {
  const handler = methods[context.method];
  if (handler === undefined)
    throw new CosmosError(405, `${context.method} is not possible here; use ${Object.keys(methods).join(", ")}.`);
  if (readOnly && context.method !== "GET" && !(context.method === "POST" && reads?.(context) === true))
    throw new CosmosError(403, "This account key is read-only.");
  return handler(context);
}

function isPlan(context: CosmosContext): boolean {
  return context.flag("x-ms-cosmos-is-query-plan-request");
}

async function postDocuments(context: CosmosContext): Promise<CosmosAnswer> {
  if (isPlan(context)) return queryPlan(context);
  if (isQuery(context)) return queryItems(context);
  if (context.flag("x-ms-cosmos-is-batch-request")) return batchOf(context);
  return createItem(context);
}

async function itemFeed(context: CosmosContext): Promise<CosmosAnswer> {
  return context.header("a-im") === undefined ? readFeed(context) : changeFeed(context);
}

async function conflictFeed(context: CosmosContext): Promise<CosmosAnswer> {
  await findContainer(context);
  return answer(200, feedOf((context.container as { rid: string }).rid, "Conflicts", []));
}

async function noConflict(context: CosmosContext): Promise<CosmosAnswer> {
  await findContainer(context);
  throw new CosmosError(404, "There are no conflicts: writes go to one place.");
}

async function operation(context: CosmosContext): Promise<CosmosAnswer> {
  if (context.segments[5] === "partitionkeydelete") return deletePartition(context);
  throw notServed(`Operation "${context.segments[5]?.slice(0, 40) ?? ""}"`);
}
