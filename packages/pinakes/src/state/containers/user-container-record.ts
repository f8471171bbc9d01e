/** The stored definition of a user container: an item of `state-settings`, in the partition of its workspace. */
import { hash } from "node:crypto";
import type { ContainerSpec } from "@pinakes/client";
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import { invariant } from "../../domain/invariant.ts";
import type { JsonObject } from "../../domain/json.ts";
import { limits } from "../../domain/limits.ts";
import type { Item } from "../../ports/item-store.ts";
import { compileSpec, type CompiledSpec } from "./container-spec.ts";
import { shownKey, type Target } from "./target.ts";
import { allIndexName } from "./policy-indexes.ts";

export const definitionsTopic = "containers";
/** Stores the number of containers; its id is not a valid container name. */
export const counterId = "~count";

const namePattern = new RegExp(`^[a-z][a-z0-9-]{0,${limits.containerNameCharsMax - 1}}$`);

export interface OwnContainer {
  readonly name: string;
  readonly incarnation: string;
  readonly deleted: boolean;
  readonly etag: string;
  readonly spec: CompiledSpec;
  readonly target: Target;
}

export function checkContainerName(name: unknown): string {
  if (typeof name === "string" && namePattern.test(name)) return name;
  throw invalid(
    `The name of a container is 1–${limits.containerNameCharsMax} lower-case letters, digits and dashes, beginning with a letter; got ${show(name)}.`,
  );
}

export function noContainer(name: string): PinakesError {
  return new PinakesError("NOT_FOUND", `There is no container ${show(name)} in this workspace.`);
}

/** Name of the item store's container: unguessable for other workspaces, and different for each incarnation of a name. */
export function physicalName(tenant: string, name: string, incarnation: string): string {
  return `own-${hash("sha256", JSON.stringify([tenant, name, incarnation]), "hex").slice(0, 40)}`;
}

export function recordOf(name: string, incarnation: string, spec: ContainerSpec, deleted = false): JsonObject {
  return { id: name, topic: definitionsTopic, incarnation, deleted, spec: spec as unknown as JsonObject };
}

export function ownOf(tenant: string, { id: name, etag, document }: Item): OwnContainer {
  const { incarnation, deleted, spec: given } = document;
  invariant(
    typeof incarnation === "string" && typeof deleted === "boolean",
    "CORRUPT",
    `the definition of container "${name}" is invalid`,
  );
  const spec = compileSpec(given);
  const physical = physicalName(tenant, name, incarnation);
  return { name, incarnation, deleted, etag, spec, target: ownTarget(name, physical, spec, etag) };
}

function ownTarget(name: string, physical: string, spec: CompiledSpec, etag: string): Target {
  const { definition, policy, strict, advice, given } = spec;
  return {
    name,
    definition: { ...definition, name: physical },
    scanIndex: allIndexName,
    strict,
    policy,
    system: undefined,
    etag,
    info: {
      name,
      kind: "own",
      partition_key: shownKey(definition.partitionKey),
      indexes: spec.own,
      indexing_policy: given.indexing_policy ?? null,
      normalised_policy: policy?.normalised ?? null,
      unique_keys: definition.uniqueKeys ?? {},
      default_ttl: definition.ttl ?? null,
      strict,
      optional_key: definition.optionalKey === true,
      append_only: false,
      etag,
      ...(advice === null ? {} : { advice }),
    },
  };
}
