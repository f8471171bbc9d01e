/** The context of an audit: its dependencies and options. */
import type { Scope } from "../domain/scope.ts";
import type { Lifecycle } from "../lifecycle/index.ts";
import type { Operation } from "../ports/item-store.ts";
import type { CollectionPartition } from "../knowledge/records/collection-partition.ts";
import type { IngestQueue } from "../knowledge/documents/ingest-queue.ts";
import type { KnowledgeWork } from "../knowledge/records/work-registry.ts";
import type { Jobs } from "../knowledge/jobs/jobs.ts";
import type { CollectionDeletion } from "../knowledge/deletion/delete-collection.ts";
import type { CatalogRecords } from "../knowledge/records/catalog-records.ts";
import { itemIds, type CollectionRecord } from "../knowledge/records/records.ts";
import type { KnowledgeDependencies } from "../knowledge/dependencies.ts";
import type { Keeping } from "./quarantine/index.ts";
import { placeOf, type Finding, type FindingKind, type Findings } from "./finding.ts";
import { auditTenant, Suspects } from "./suspects.ts";

export interface AuditDependencies {
  readonly deps: KnowledgeDependencies;
  readonly catalog: CatalogRecords;
  readonly queue: IngestQueue;
  readonly registry: KnowledgeWork;
  readonly jobs: Jobs;
  readonly lifecycle: Lifecycle;
  readonly deletion: CollectionDeletion;
}

export interface AuditRun extends AuditDependencies {
  readonly scope: Scope;
  readonly repair: boolean;
  /** Repair even if most data seems to be missing or unknown. */
  readonly forced: boolean;
  /** Checks every chunk, and reads every byte of the vectors. */
  readonly deep: boolean;
  readonly findings: Findings;
  /** The job that repairs; null in the background. */
  readonly jobId: string | null;
  readonly suspects: Suspects;
  readonly signal: AbortSignal;
}

export function beginAudit(
  services: AuditDependencies,
  scope: Scope,
  options: Pick<AuditRun, "repair" | "forced" | "deep" | "findings" | "jobId" | "signal">,
): AuditRun {
  const { deps, catalog, queue, registry, jobs, lifecycle, deletion } = services;
  const suspects = new Suspects({
    items: deps.items,
    clock: deps.clock,
    system: deps.system.forTenant(auditTenant),
    queue,
  });
  return { deps, catalog, queue, registry, jobs, lifecycle, deletion, scope, suspects, ...options };
}

/** One incarnation of a collection. */
export interface IncarnationRun extends AuditRun {
  readonly collection: CollectionRecord;
  readonly partition: CollectionPartition;
  /** Not repaired, because most data seems to be missing or unknown. */
  readonly refused: ReadonlySet<FindingKind>;
}

export function mayRepair({ repair, refused }: IncarnationRun, kind: FindingKind): boolean {
  return repair && !refused.has(kind);
}

/** Metadata of a repair's removal, for the quarantine. */
export function keeping(
  { scope, collection, jobId }: IncarnationRun,
  documentId: string | null,
  detail: string,
): Keeping {
  return { scope, incarnation: placeOf(collection), documentId, jobId, detail };
}

/** Reports a finding of this incarnation, unless its collection has ended concurrently. */
export async function found(
  run: IncarnationRun,
  finding: Omit<Finding, "repository_id" | "collection_id" | "incarnation">,
): Promise<void> {
  if (await isAsItWas(run)) run.findings.add({ ...finding, ...placeOf(run.collection) });
}

export async function isAsItWas({ catalog, scope, collection }: IncarnationRun): Promise<boolean> {
  return (await catalog.incarnation(scope, collection))?.record.status === collection.status;
}

/** Precondition of batches: only while the incarnation is live. */
export const whileLive: Operation = {
  op: "check",
  id: itemIds.fence,
  where: { status: { in: ["ACTIVE", "ARCHIVED"] } },
};
