/** Erasures and legal holds of all workspaces. Each call takes a caller first, who must be an admin. */
import type { ErasuresDependencies } from "./erasure/erasure-job.ts";
import { Erasures } from "./erasure/erasures.ts";
import { Holds } from "./holds/holds.ts";
import { governanceLimits } from "./limits.ts";
import { Retention, type RetentionDependencies } from "./retention/retention.ts";
import { SubjectExports, type SubjectExportsDependencies } from "./exports/subject-exports.ts";

export interface GovernanceDependencies
  extends
    Omit<ErasuresDependencies, "holds" | "removeArchives">,
    Pick<SubjectExportsDependencies, "objects" | "subjectObjects" | "partBytesMax">,
    Pick<RetentionDependencies, "containers" | "store" | "trash" | "settings"> {}

export class Governance {
  readonly erasures: Erasures;
  readonly holds: Holds;
  readonly subjectExports: SubjectExports;
  readonly retention: Retention;
  /** Interval at which fences and holds of other processes are read. */
  readonly seenMs: number;

  constructor(features: Pick<Governance, "erasures" | "holds" | "subjectExports" | "retention" | "seenMs">) {
    this.erasures = features.erasures;
    this.holds = features.holds;
    this.subjectExports = features.subjectExports;
    this.retention = features.retention;
    this.seenMs = features.seenMs;
  }
}

export async function openGovernance(deps: GovernanceDependencies): Promise<Governance> {
  const { items, system, clock, newId, fenceMs, containers } = deps;
  const seenMs = fenceMs === 0 ? governanceLimits.fenceMsDefault : fenceMs;
  const holds = await new Holds({ items, system, clock, newId, seenMs, containers }).open();
  items.erasure.beforePurge((tenant, container, rows) => holds.keepExpired(tenant, container, rows));
  const subjectExports = await new SubjectExports(deps).open();
  const removeArchives = (signal: AbortSignal): Promise<number> => subjectExports.sweep(signal);
  const erasures = await new Erasures({ ...deps, holds, removeArchives }).open();
  const retention = new Retention({ ...deps, holds });
  return new Governance({ erasures, holds, subjectExports, retention, seenMs });
}
