/** Erasures and legal holds of all workspaces. Each call begins with a caller, who is an admin. */
import { Erasures, type ErasuresDependencies } from "./erasure/erasures.ts";
import { Holds } from "./holds/holds.ts";

export interface GovernanceDependencies extends Omit<ErasuresDependencies, "holds"> {}

export class Governance {
  readonly erasures: Erasures;
  readonly holds: Holds;

  constructor(erasures: Erasures, holds: Holds) {
    this.erasures = erasures;
    this.holds = holds;
  }
}

export async function openGovernance(deps: GovernanceDependencies): Promise<Governance> {
  const { items, system, clock, newId, fenceMs } = deps;
  const holds = await new Holds({ items, system, clock, newId, seenMs: fenceMs }).open();
  items.erasure.beforePurge((tenant, container, rows) => holds.keepExpired(tenant, container, rows));
  const erasures = await new Erasures({ ...deps, holds }).open();
  return new Governance(erasures, holds);
}
