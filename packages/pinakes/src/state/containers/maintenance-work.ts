/** The entry of each user container in `state-work`: what its maintenance needs, even after its definition is gone. */
import type { Work } from "../../containers/index.ts";
import type { ContainerDefinition } from "../../ports/item-store.ts";

/**
 * Maintenance interval of a container: expired items of one that was not used since a restart are purged within this
 * time. They are invisible until then.
 */
export const careMs = 600_000;

export interface CareData {
  readonly name: string;
  readonly incarnation: string;
  readonly partition_key: readonly string[];
  readonly unique_keys: Readonly<Record<string, readonly string[]>>;
  /** Absent for false. */
  readonly optional_key?: true;
  /** Epoch milliseconds of the first run that found a deleted one empty; absent before. */
  readonly empty_since?: number;
}

interface Cared {
  readonly name: string;
  readonly incarnation: string;
  readonly target: { readonly definition: ContainerDefinition };
}

export function careWork(
  tenant: string,
  { name, incarnation, target: { definition } }: Cared,
  dueAt: number,
): Work<"container"> {
  const data = {
    name,
    incarnation,
    partition_key: definition.partitionKey,
    unique_keys: definition.uniqueKeys ?? {},
    ...(definition.optionalKey === true ? { optional_key: true } : {}),
  };
  return { kind: "container", tenant, key: definition.name, due_at: dueAt, data };
}
