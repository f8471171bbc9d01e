/** Validates the definition of a user container, and converts it to that of the item store. */
import type { ContainerSpec, IndexSpec } from "@pinakes/client";
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import { isJsonObject, utf8Bytes, type JsonObject } from "../../domain/json.ts";
import { limits } from "../../domain/limits.ts";
import { checkContainerTtl } from "../../domain/ttl.ts";
import type { ContainerDefinition } from "../../ports/item-store.ts";
import { compilePolicy, type CompiledPolicy } from "./indexing-policy.ts";
import { allIndex, allIndexName, deriveIndexes, ownIndexesMax, sortOf } from "./policy-indexes.ts";
import { canonicalPath } from "./policy-path.ts";

export const specBytesMax = 65_536;

export interface CompiledSpec {
  /** As it was sent. */
  readonly given: ContainerSpec;
  /** For the item store's container, without its name. */
  readonly definition: Omit<ContainerDefinition, "name">;
  readonly own: Readonly<Record<string, IndexSpec>>;
  readonly policy: CompiledPolicy | null;
  readonly strict: boolean;
  /** Indexes omitted because of the limits. */
  readonly advice: string | null;
  /** Equal for equivalent definitions. */
  readonly text: string;
}

const fields: ReadonlySet<string> = new Set([
  "partition_key",
  "indexes",
  "indexing_policy",
  "unique_keys",
  "default_ttl",
  "strict",
  "optional_key",
]);

export function compileSpec(given: unknown): CompiledSpec {
  if (!isJsonObject(given)) throw invalid("A container definition must be an object with partition_key.");
  const size = utf8Bytes(JSON.stringify(given));
  if (size > specBytesMax)
    throw new PinakesError("LIMIT_EXCEEDED", `The definition has ${size} bytes; at most ${specBytesMax} are allowed.`);
  const unknown = Object.keys(given).find((name) => !fields.has(name) && given[name] !== undefined);
  if (unknown !== undefined) throw invalid(`${unknown}: is not known here; a container has ${[...fields].join(", ")}.`);
  const partitionKey = partitionPaths(given["partition_key"]);
  const own = ownIndexes(given["indexes"]);
  const policy =
    given["indexing_policy"] === undefined || given["indexing_policy"] === null
      ? null
      : compilePolicy(given["indexing_policy"]);
  const uniqueKeys = uniquePaths(given["unique_keys"]);
  const ttl = checkContainerTtl(given["default_ttl"] as number | null | undefined);
  const strict = given["strict"] ?? false;
  if (typeof strict !== "boolean") throw invalid("strict: must be true or false.");
  const optionalKey = given["optional_key"] ?? false;
  if (typeof optionalKey !== "boolean") throw invalid("optional_key: must be true or false.");
  const derived = deriveIndexes(policy, own, partitionKey);
  const indexes = { ...own, ...derived.indexes, [allIndexName]: allIndex };
  return {
    given: given as unknown as ContainerSpec,
    definition: { partitionKey, indexes, uniqueKeys, ttl, feed: true, ...(optionalKey ? { optionalKey } : {}) },
    own,
    policy,
    strict,
    advice: derived.advice,
    text: stableText({
      partitionKey,
      own: own as unknown as JsonObject,
      policy: given["indexing_policy"] ?? null,
      uniqueKeys,
      ttl,
      strict,
      ...(optionalKey ? { optionalKey } : {}),
    }),
  };
}

function partitionPaths(given: unknown): readonly string[] {
  const list: unknown = typeof given === "string" ? [given] : given;
  return pathList(list, "partition_key", limits.partitionPathsMax);
}

function pathList(given: unknown, where: string, max: number): readonly string[] {
  if (!Array.isArray(given) || given.length < 1 || given.length > max)
    throw invalid(`${where}: give 1 to ${max} paths, such as "/user_id"; got ${show(given)}.`);
  const paths = given.map((path: unknown) => storedPath(path, where));
  if (new Set(paths).size < paths.length) throw invalid(`${where}: repeats a path.`);
  return paths;
}

function storedPath(path: unknown, where: string): string {
  if (typeof path !== "string")
    throw invalid(`${where}: a path must be a string such as "/user_id", got ${show(path)}.`);
  return canonicalPath(path);
}

const partName = /^[A-Za-z][A-Za-z0-9_]{0,39}$/;

function named(given: unknown, where: string): [string, unknown][] {
  if (given === undefined) return [];
  if (!isJsonObject(given)) throw invalid(`${where}: must be an object, by name.`);
  const entries = Object.entries(given);
  const seen = new Set<string>();
  for (const [name] of entries) {
    if (!partName.test(name))
      throw invalid(
        `${where}: "${name}" is not a valid name; use up to 40 letters, digits and "_", beginning with a letter.`,
      );
    if (seen.has(name.toLowerCase())) throw invalid(`${where}: two names differ only in case: "${name}"; rename one.`);
    seen.add(name.toLowerCase());
  }
  return entries;
}

function ownIndexes(given: unknown): Readonly<Record<string, IndexSpec>> {
  const entries = named(given, "indexes");
  if (entries.length > ownIndexesMax)
    throw invalid(
      `indexes: ${entries.length}; at most ${ownIndexesMax} are allowed, since "${allIndexName}" is one of ${limits.indexesMax}.`,
    );
  return Object.fromEntries(entries.map(([name, spec]) => [name, ownIndex(name, spec)]));
}

function ownIndex(name: string, spec: unknown): IndexSpec {
  const where = `indexes.${name}`;
  if (name.toLowerCase() === allIndexName)
    throw invalid(`${where}: the name "${allIndexName}" is reserved for the index of all items; use another one.`);
  if (!isJsonObject(spec) || !Array.isArray(spec["partition"]) || !Array.isArray(spec["sort"]))
    throw invalid(`${where}: must be { "partition": [paths], "sort": [paths] }.`);
  const partition = spec["partition"].map((path: unknown) => storedPath(path, `${where}.partition`));
  const sort = spec["sort"].map((entry: unknown) => sortPath(entry, `${where}.sort`));
  pathList([...partition, ...sort.map((entry) => sortOf(entry).path)], where, limits.indexPathsMax);
  return { partition, sort };
}

function sortPath(entry: unknown, where: string): IndexSpec["sort"][number] {
  if (typeof entry === "string") return storedPath(entry, where);
  const order = isJsonObject(entry) ? entry["order"] : undefined;
  if (!isJsonObject(entry) || (order !== "asc" && order !== "desc"))
    throw invalid(`${where}: write a path, or { "path": "/created_at", "order": "desc" }; got ${show(entry)}.`);
  const path = storedPath(entry["path"], where);
  return order === "asc" ? path : { path, order };
}

function uniquePaths(given: unknown): Readonly<Record<string, readonly string[]>> {
  const entries = named(given, "unique_keys");
  if (entries.length > limits.uniqueKeysMax)
    throw invalid(`unique_keys: ${entries.length}; at most ${limits.uniqueKeysMax} are allowed.`);
  return Object.fromEntries(
    entries.map(([name, paths]) => [name, pathList(paths, `unique_keys.${name}`, limits.indexPathsMax)]),
  );
}

/** JSON with sorted property names: equal for equal values. */
export function stableText(value: JsonObject): string {
  return JSON.stringify(value, (_name, part: unknown) =>
    isJsonObject(part) ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}
