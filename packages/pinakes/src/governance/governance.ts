/** Erasures and legal holds of all workspaces. Each call begins with a caller, who is an admin. */
import { Erasures, type ErasuresDependencies } from "./erasure/erasures.ts";
import { Holds } from "./holds/holds.ts";
import { SubjectExports, type SubjectExportsDependencies } from "./subjects/subject-exports.ts";

export interface GovernanceDependencies
  extends
    Omit<ErasuresDependencies, "holds">,
    Pick<SubjectExportsDependencies, "objects" | "subjectObjects" | "partBytesMax"> {}

export class Governance {
  readonly erasures: Erasures;
  readonly holds: Holds;
  readonly subjectExports: SubjectExports;

  constructor(features: { erasures: Erasures; holds: Holds; subjectExports: SubjectExports }) {
    this.erasures = features.erasures;
    this.holds = features.holds;
    this.subjectExports = features.subjectExports;
  }
}

export async function openGovernance(deps: GovernanceDependencies): Promise<Governance> {
  const { items, system, clock, newId, fenceMs } = deps;
  const holds = await new Holds({ items, system, clock, newId, seenMs: fenceMs }).open();
  items.erasure.beforePurge((tenant, container, rows) => holds.keepExpired(tenant, container, rows));
  const erasures = await new Erasures({ ...deps, holds }).open();
  const subjectExports = await new SubjectExports(deps).open();
  return new Governance({ erasures, holds, subjectExports });
}
