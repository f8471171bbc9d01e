/** The declaration of a container, from Cosmos DB's form to ours and back. What only its clients want to read again is kept beside it. */
import type { ContainerSpec, IndexingPolicy } from "@pinakes/client";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../../domain/json.ts";
import type { FoundContainer } from "../../../../state/index.ts";
import { quoted } from "../context.ts";
import { badRequest } from "../errors.ts";
import { containerRid, databaseRid } from "../rid.ts";
import type { KeyDefinition } from "../ranges/effective-key.ts";
import { checkKeyPath, pointerOf } from "./key-paths.ts";

export interface ContainerBody {
  readonly id: string;
  readonly spec: ContainerSpec;
  readonly settings: JsonObject;
}

const known: ReadonlySet<string> = new Set([
  "id",
  "partitionKey",
  "indexingPolicy",
  "defaultTtl",
  "uniqueKeyPolicy",
  "conflictResolutionPolicy",
  "geospatialConfig",
  "changeFeedPolicy",
]);

/** A container made by an old client, without a partition key. */
const systemKey = { paths: ["/_partitionKey"], kind: "Hash", systemKey: true };

export function readContainerBody(body: JsonObject): ContainerBody {
  const { id } = body;
  if (typeof id !== "string")
    throw badRequest("The input content is invalid because the required property 'id' is missing.");
  refuseUnserved(body);
  const partitionKey = keyDefinition(body["partitionKey"] ?? systemKey);
  const policy = policyBody(body["indexingPolicy"]);
  const settings: Record<string, JsonValue> = { partitionKey, indexingPolicy: policy.shown };
  for (const name of ["uniqueKeyPolicy", "conflictResolutionPolicy", "geospatialConfig"]) {
    const value = body[name];
    if (value !== undefined && value !== null) settings[name] = value;
  }
  const spec: ContainerSpec = {
    partition_key: (partitionKey["paths"] as string[]).map(pointerOf),
    indexing_policy: policy.served,
    unique_keys: uniqueKeys(body["uniqueKeyPolicy"]),
    default_ttl: defaultTtl(body["defaultTtl"]),
    optional_key: true,
  };
  return { id, spec, settings };
}

/** What would be accepted and ignored, or answered wrongly. */
function refuseUnserved(body: JsonObject): void {
  for (const [name, value] of Object.entries(body)) {
    if (known.has(name) || name.startsWith("_") || isEmpty(value)) continue;
    throw badRequest(`${name}: not supported by Pinakes; omit it.`);
  }
  if (!isEmpty(body["changeFeedPolicy"]))
    throw badRequest(
      "changeFeedPolicy: all versions are not kept by Pinakes; the change feed gives the latest version.",
    );
}

function isEmpty(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || (typeof value === "object" && Object.keys(value).length === 0);
}

function keyDefinition(given: JsonValue): JsonObject {
  if (!isJsonObject(given) || !Array.isArray(given["paths"]) || given["paths"].length === 0)
    throw badRequest('partitionKey: must be { paths: ["/…"], kind }.');
  const paths = given["paths"].map(checkKeyPath);
  const kind = given["kind"] ?? (paths.length > 1 ? "MultiHash" : "Hash");
  if (kind !== "Hash" && kind !== "MultiHash") throw badRequest('partitionKey.kind: must be "Hash" or "MultiHash".');
  if (kind === "Hash" && paths.length > 1)
    throw badRequest('partitionKey: too many paths; several need the kind "MultiHash", version 2.');
  const { version } = given;
  if (version !== undefined && version !== 1 && version !== 2)
    throw badRequest("partitionKey.version: must be 1 or 2.");
  return {
    paths,
    kind,
    ...(version === undefined ? {} : { version }),
    ...(given["systemKey"] === true ? { systemKey: true } : {}),
  };
}

function uniqueKeys(given: JsonValue | undefined): Readonly<Record<string, readonly string[]>> {
  if (given === undefined || given === null) return {};
  const list = isJsonObject(given) ? (given["uniqueKeys"] ?? []) : undefined;
  if (!Array.isArray(list)) throw badRequest("uniqueKeyPolicy: must be { uniqueKeys: [{ paths: […] }] }.");
  return Object.fromEntries(
    list.map((key: JsonValue, i) => {
      if (!isJsonObject(key) || !Array.isArray(key["paths"])) throw badRequest("uniqueKeyPolicy: each key has paths.");
      return [`key${i}`, key["paths"].map((path: JsonValue) => pointerOf(checkKeyPath(path)))];
    }),
  );
}

function defaultTtl(given: JsonValue | undefined): number | null {
  if (given === undefined) return null;
  if (typeof given === "number" && Number.isInteger(given) && (given === -1 || (given >= 1 && given <= 2_147_483_647)))
    return given;
  throw badRequest(`defaultTtl: must be -1 or a whole number of seconds from 1; got ${JSON.stringify(given)}.`);
}

const etagPath = { path: '/"_etag"/?' };

function policyBody(given: JsonValue | undefined): { readonly shown: JsonObject; readonly served: IndexingPolicy } {
  if (given !== undefined && given !== null && !isJsonObject(given))
    throw badRequest("indexingPolicy: must be an object.");
  const policy: JsonObject = isJsonObject(given) ? given : {};
  const mode = typeof policy["indexingMode"] === "string" ? policy["indexingMode"].toLowerCase() : "consistent";
  if (mode !== "consistent" && mode !== "none" && mode !== "lazy")
    throw badRequest(`indexingPolicy.indexingMode: must be "consistent" or "none".`);
  const automatic = policy["automatic"] ?? mode === "consistent";
  for (const name of ["vectorIndexes", "fullTextIndexes"])
    if (!isEmpty(policy[name])) throw badRequest(`indexingPolicy.${name}: not supported by Pinakes; omit it.`);
  const excluded = pathsOf(policy["excludedPaths"], "excludedPaths");
  const named = pathsOf(policy["includedPaths"], "includedPaths");
  const rooted = mode === "none" || [...named, ...excluded].some(({ path }) => path === "/*");
  if (!rooted && named.length > 0 && excluded.length > 0)
    throw badRequest('The special mandatory indexing path "/" is not provided in any of the path type sets.');
  const included = named.length === 0 && !rooted ? [{ path: "/*" }] : named;
  const withEtag = excluded.some(({ path }) => path === etagPath.path || path === "/_etag/?");
  const composite = (policy["compositeIndexes"] ?? []) as NonNullable<IndexingPolicy["compositeIndexes"]>;
  const shownExcluded = mode === "none" || withEtag ? excluded : [...excluded, etagPath];
  return {
    shown: {
      indexingMode: mode,
      automatic,
      includedPaths: included,
      excludedPaths: shownExcluded,
      ...(isEmpty(policy["compositeIndexes"]) ? {} : { compositeIndexes: policy["compositeIndexes"] }),
      ...(isEmpty(policy["spatialIndexes"]) ? {} : { spatialIndexes: policy["spatialIndexes"] }),
    },
    served: {
      // Old clients may ask for an index that lags behind; none of ours does.
      indexingMode: mode === "none" ? "none" : "consistent",
      automatic: automatic === true,
      includedPaths: included.map(({ path }) => ({ path })),
      excludedPaths: excluded.map(({ path }) => ({ path })),
      compositeIndexes: composite,
    },
  };
}

function pathsOf(given: JsonValue | undefined, name: string): readonly (JsonObject & { readonly path: string })[] {
  if (given === undefined || given === null) return [];
  if (!Array.isArray(given)) throw badRequest(`indexingPolicy.${name}: must be a list.`);
  return given.map((entry: JsonValue) => {
    const path = isJsonObject(entry) ? entry["path"] : undefined;
    if (typeof path !== "string") throw badRequest(`indexingPolicy.${name}: each entry has a path.`);
    // Old clients write "/" for the root.
    return { path: path === "/" ? "/*" : path };
  });
}

export function keyOf({
  entry,
  info,
}: FoundContainer): KeyDefinition & { readonly systemKey: boolean; readonly shown: JsonObject } {
  const stored = entry.settings["partitionKey"];
  const paths = typeof info.partition_key === "string" ? [info.partition_key] : info.partition_key;
  const shown: JsonObject = isJsonObject(stored)
    ? stored
    : { paths, kind: paths.length > 1 ? "MultiHash" : "Hash", version: 2 };
  return {
    paths: shown["paths"] as string[],
    kind: shown["kind"] as KeyDefinition["kind"],
    version: shown["version"] === 2 || shown["kind"] === "MultiHash" ? 2 : 1,
    systemKey: shown["systemKey"] === true,
    shown,
  };
}

/** Versions of the interface from then on have containers that were made without a partition key show the one of the system. */
const systemKeyShownSince = "2018-12-31";

/** `version`: of the interface, as the client names it. */
export function containerView(found: FoundContainer, version = systemKeyShownSince): JsonObject {
  const { database, entry, info } = found;
  const { settings } = entry;
  const key = keyOf(found);
  const rid = containerRid(database, entry);
  const unique = settings["uniqueKeyPolicy"] ?? shownUniqueKeys(info.unique_keys);
  return {
    id: entry.name,
    indexingPolicy: settings["indexingPolicy"] ?? shownPolicy(info.normalised_policy),
    ...(key.systemKey && version < systemKeyShownSince ? {} : { partitionKey: key.shown }),
    ...(info.default_ttl === null ? {} : { defaultTtl: info.default_ttl }),
    ...(unique === undefined ? {} : { uniqueKeyPolicy: unique }),
    conflictResolutionPolicy: settings["conflictResolutionPolicy"] ?? {
      mode: "LastWriterWins",
      conflictResolutionPath: "/_ts",
      conflictResolutionProcedure: "",
    },
    geospatialConfig: settings["geospatialConfig"] ?? { type: "Geography" },
    _rid: rid,
    _ts: Math.floor(entry.modified_at / 1_000),
    _self: `dbs/${databaseRid(database)}/colls/${rid}/`,
    _etag: quoted(`${entry.etag}.${info.etag}`),
    _docs: "docs/",
    _sprocs: "sprocs/",
    _triggers: "triggers/",
    _udfs: "udfs/",
    _conflicts: "conflicts/",
  };
}

function shownUniqueKeys(keys: Readonly<Record<string, readonly string[]>>): JsonValue | undefined {
  const all = Object.values(keys);
  if (all.length === 0) return undefined;
  return {
    uniqueKeys: all.map((paths) => ({
      paths: paths.map((path) => (path.startsWith("/") ? path : `/${path.replaceAll(".", "/")}`)),
    })),
  };
}

function shownPolicy(policy: IndexingPolicy | null): JsonObject {
  if (policy !== null) return policy as unknown as JsonObject;
  return { indexingMode: "consistent", automatic: true, includedPaths: [{ path: "/*" }], excludedPaths: [etagPath] };
}
