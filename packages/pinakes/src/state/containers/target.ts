/** Resolves a container by name: a system container, or one of the caller's workspace. */
import { hash } from "node:crypto";
import type { ContainerInfo, PartitionKey } from "@pinakes/client";
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { isNoValue, partitionAt } from "../../domain/partition-value.ts";
import { parsePath, valueAt } from "../../domain/path.ts";
import type { ContainerDefinition, Partition, PartitionValue } from "../../ports/item-store.ts";
import type { SystemContainer } from "../system-container.ts";
import { compilePolicy, type CompiledPolicy } from "./indexing-policy.ts";
import { pointerPath, canonicalPath } from "./policy-path.ts";

export interface Target {
  readonly name: string;
  /** The item store's container; for user containers its name differs from the caller's. */
  readonly definition: ContainerDefinition;
  readonly scanIndex: string;
  readonly strict: boolean;
  readonly policy: CompiledPolicy | null;
  readonly system: SystemContainer | undefined;
  readonly etag: string;
  readonly info: ContainerInfo;
}

export function systemTarget(system: SystemContainer): Target {
  const { definition, policy: given } = system;
  const policy = given === null ? null : compilePolicy(given, `The indexing policy of ${definition.name}`);
  const etag = hash("sha256", JSON.stringify([definition, given, system.appendOnly ?? null]), "hex").slice(0, 20);
  return {
    name: definition.name,
    definition,
    scanIndex: system.scanIndex,
    strict: false,
    policy,
    system,
    etag,
    info: {
      name: definition.name,
      kind: "system",
      partition_key: shownKey(definition.partitionKey),
      indexes: definition.indexes ?? {},
      indexing_policy: given,
      normalised_policy: policy?.normalised ?? null,
      unique_keys: definition.uniqueKeys ?? {},
      default_ttl: definition.ttl ?? null,
      strict: false,
      optional_key: false,
      append_only: system.appendOnly !== undefined,
      etag,
    },
  };
}

/** One path as it is, several as a list, each in Cosmos DB's syntax. */
export function shownKey(paths: readonly string[]): string | readonly string[] {
  const shown = paths.map(pointerPath);
  return shown.length === 1 ? (shown[0] as string) : shown;
}

/** The partition that a caller specifies: one value, or one per path. */
export function partitionOf({ name, definition }: Target, pk: PartitionKey): Partition {
  const values: readonly PartitionValue[] = Array.isArray(pk)
    ? (pk as readonly PartitionValue[])
    : [pk as PartitionValue];
  const wanted = definition.partitionKey.map(pointerPath).join(", ");
  if (values.length !== definition.partitionKey.length)
    throw invalid(
      `pk: container "${name}" is partitioned by ${wanted}; give ${definition.partitionKey.length === 1 ? "its value" : "a list of their values"}, got ${show(pk)}.`,
    );
  for (const value of values) {
    if (
      typeof value === "string" ||
      typeof value === "boolean" ||
      (typeof value === "number" && Number.isFinite(value)) ||
      (definition.optionalKey === true && (value === null || isNoValue(value)))
    )
      continue;
    throw invalid(`pk: the value of ${wanted} must be a string, a number, true or false; got ${show(value)}.`);
  }
  return values;
}

/** The partition of a document; undefined if it lacks a value. */
export function partitionIn({ definition }: Target, document: JsonObject): Partition | undefined {
  const paths = definition.partitionKey.map(parsePath);
  if (definition.optionalKey === true) return partitionAt(document, paths);
  const values = paths.map((path) => valueAt(document, path));
  return values.includes(undefined) ? undefined : (values as Partition);
}

export function requirePartitionIn(target: Target, document: JsonObject): Partition {
  const partition = partitionIn(target, document);
  if (partition !== undefined) return partitionOf(target, partition);
  const wanted = target.definition.partitionKey.map(pointerPath).join(", ");
  throw invalid(`The document lacks its partition key: ${wanted}.`);
}

/** Normalizes a path to its spelling in the container's definition. */
export function declaredPath({ definition }: Target, path: string): string {
  const wanted = canonicalPath(path);
  const declared = [
    ...definition.partitionKey,
    ...Object.values(definition.indexes ?? {}).flatMap(({ partition, sort }) => [
      ...partition,
      ...sort.map((entry) => (typeof entry === "string" ? entry : entry.path)),
    ]),
  ];
  return declared.find((candidate) => canonicalPath(candidate) === wanted) ?? path;
}

/** Translates an error of the item store: with the caller's name of the container. */
export function inOwnWords(target: Target, error: unknown): unknown {
  const { name, definition } = target;
  if (definition.name === name || !PinakesError.isInstance(error) || !error.detail.includes(definition.name))
    return error;
  const { code, retryable, context } = error;
  const cause = PinakesError.isInstance(error.cause) ? inOwnWords(target, error.cause) : error.cause;
  return new PinakesError(code, error.detail.replaceAll(definition.name, name), { retryable, ...context, cause });
}
