/** The entry in `state-work` that each own container has: what must be known to look after it, also when its definition is gone. */
import type { Work } from "../../containers/index.ts";
import type { ContainerDefinition } from "../../ports/item-store.ts";

/**
 * How often somebody looks after a container, whoever uses it: expired items of one that nobody touched since a restart go within this
 * time. They are invisible all the while.
 */
export const careMs = 600_000;

export interface CareData {
  readonly name: string;
  readonly incarnation: string;
  readonly partition_key: readonly string[];
  readonly unique_keys: Readonly<Record<string, readonly string[]>>;
  /** Absent for false. */
  readonly optional_key?: true;
  /** Epoch milliseconds of the first time that nothing was found in a deleted one; absent before. */
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
