/** Audits one repository, or one incarnation of a collection. */
import { CollectionPartition } from "../knowledge/records/collection-partition.ts";
import { isLive } from "../knowledge/records/catalog-records.ts";
import type { CollectionRecord, RepositoryRecord } from "../knowledge/records/records.ts";
import { isAsItWas, type AuditRun, type IncarnationRun } from "./audit-run.ts";
import { checkCollectionCount, checkStats } from "./check-counters.ts";
import { checkManifests } from "./check-manifests.ts";
import { checkObjects } from "./check-objects.ts";
import { checkEnding, checkOperations, checkRemovals } from "./check-operations.ts";
import { checkPassages } from "./check-passages.ts";
import { checkTriples } from "./check-triples.ts";
import { Findings, placeOf, type FindingKind } from "./finding.ts";
import { tooMuch } from "./too-much.ts";

export async function auditRepository(run: AuditRun, repository: RepositoryRecord): Promise<void> {
  run.findings.checked.repositories += 1;
  await checkOperations(run, repository);
  await checkCollectionCount(run, repository);
}

/** A collection in the trash is audited after a restore: until then nothing of it may change. */
export async function auditCollection(run: AuditRun, collection: CollectionRecord): Promise<void> {
  run.findings.checked.collections += 1;
  if (!isLive(collection)) return checkEnding(run, collection);
  // A migration that fills it verifies its own counts.
  if (collection.hold !== undefined) return;
  const incarnation: IncarnationRun = {
    ...run,
    collection,
    partition: new CollectionPartition(run.deps.items, run.scope, collection),
    refused: new Set(),
  };
  await lookAt(run.repair && !run.forced ? { ...incarnation, refused: await refusals(incarnation) } : incarnation);
}

/** A dry run first: with the wrong object store everything seems to be missing, and nothing may be changed. */
async function refusals(incarnation: IncarnationRun): Promise<ReadonlySet<FindingKind>> {
  const findings = new Findings();
  await lookAt({ ...incarnation, repair: false, findings });
  const refused = tooMuch(findings);
  for (const { kinds, detail } of refused)
    incarnation.findings.refuse({ ...placeOf(incarnation.collection), kinds, detail });
  return new Set(refused.flatMap(({ kinds }) => kinds));
}

async function lookAt(incarnation: IncarnationRun): Promise<void> {
  for (const check of [checkRemovals, checkManifests, checkObjects, checkPassages, checkTriples, checkStats]) {
    incarnation.signal.throwIfAborted();
    // Deleted or archived concurrently: another round audits its new state.
    if (!(await isAsItWas(incarnation))) return;
    await check(incarnation);
  }
}
