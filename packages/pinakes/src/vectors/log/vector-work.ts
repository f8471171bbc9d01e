/**
 * Which collections have work to do, for all tenants (RFC 0001, "Append"): so a sweep finds one with pending deltas, garbage or a purge
 * without looking at idle ones. The key of an entry is the collection.
 */
import { WorkRegistry, workContainer, type RegisteredWork } from "../../containers/index.ts";
import type { SystemScope } from "../../domain/scope.ts";
import type { ContainerDefinition, ItemStore } from "../../ports/item-store.ts";

export type VectorWork = WorkRegistry<VectorWorkKind>;
export type RegisteredVectorWork = RegisteredWork<VectorWorkKind>;
type VectorWorkKind = "compact" | "collect" | "purge";

/** As the first version stored them: existing entries are found only under these. */
const fields = { due: "notBefore", key: "collection" } as const;

export const vectorWorkContainer: ContainerDefinition = workContainer("vector-work", fields);

export function vectorWork(items: ItemStore, system: SystemScope): VectorWork {
  // A tenant that no caller can have: `tenantScope` rejects names with this prefix.
  return new WorkRegistry({ items, system, container: vectorWorkContainer.name, tenant: "pinakes.system", fields });
}
