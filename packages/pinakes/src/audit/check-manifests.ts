/**
 * The integrity of an incarnation's vectors: versions, log, files. Unreadable chunks are rebuilt from the text of their documents; rows
 * that callers sent exist nowhere else, so they are only repaired explicitly.
 */
import { hasCode } from "../domain/errors.ts";
import { ifMissing, tolerate } from "../runtime/expected-errors.ts";
import { contentKey } from "../knowledge/documents/check-upload.ts";
import { ownVectorsName } from "../knowledge/records/raw-vectors-name.ts";
import { found, mayRepair, type IncarnationRun } from "./audit-run.ts";
import { auditLimits } from "./limits.ts";
import { isMarked, walkDocuments } from "./named.ts";

interface Broken {
  readonly kind: string;
  readonly key: string | undefined;
  readonly detail: string;
}

/** Kinds that the bucket itself can repair: its items are older than its objects. */
const ofItems: readonly string[] = ["diverged", "chain", "log"];

export async function checkManifests(run: IncarnationRun): Promise<void> {
  const { partition } = run;
  const generation = (await partition.fence())?.record.generation;
  if (generation !== undefined)
    await checkVectors(run, partition.vectors(generation), (broken) =>
      repairPassages(run, partition.vectors(generation), broken),
    );
  const own = ownVectorsName(partition.key.incarnation);
  await checkVectors(run, own, (broken) => repairOwn(run, own, broken));
}

async function checkVectors(
  run: IncarnationRun,
  name: string,
  repair: (broken: readonly Broken[]) => Promise<string | undefined>,
): Promise<void> {
  const broken = await look(run, name);
  if (broken.length === 0) return;
  const failed = mayRepair(run, "manifest_broken") ? await repair(broken) : "";
  for (const { kind, key, detail } of broken) {
    const text = failed === undefined || failed === "" ? detail : `${detail} ${failed}`;
    await found(run, {
      kind: "manifest_broken",
      store: "vectors",
      key: key ?? name,
      detail: `${kind}: ${text}`,
      repaired: failed === undefined,
    });
  }
}

/** Findings present in every check: concurrent compactions and garbage collections remove what an earlier check had listed. */
async function look(run: IncarnationRun, name: string): Promise<readonly Broken[]> {
  let broken: readonly Broken[] | undefined;
  for (let looks = 0; looks < auditLimits.manifestLooksMax; looks += 1) {
    run.signal.throwIfAborted();
    const now = await once(run, name);
    broken =
      broken === undefined
        ? now
        : broken.filter((one) =>
            now.some(({ kind, key, detail }) => kind === one.kind && key === one.key && detail === one.detail),
          );
    if (broken.length === 0) return [];
  }
  return broken ?? [];
}

async function once({ deps, scope, deep }: IncarnationRun, name: string): Promise<readonly Broken[]> {
  try {
    const report = await ifMissing(deps.vectors.fsck(scope, name, { deep }));
    return (report?.findings ?? [])
      .filter(({ severity }) => severity === "error")
      .map(({ kind, key, detail }) => ({ kind, key, detail }));
  } catch (error) {
    if (!hasCode(error, "CORRUPT")) throw error;
    return [{ kind: "damaged", key: undefined, detail: error.detail }];
  }
}

/** Undefined: repaired. */
async function repairPassages(
  run: IncarnationRun,
  name: string,
  broken: readonly Broken[],
): Promise<string | undefined> {
  const { jobs, scope, collection } = run;
  if ((await fromBucket(run, name, broken)) === undefined) return undefined;
  if (collection.status !== "ACTIVE") return "The collection is archived; unarchive it, then repair again.";
  const bare = await withoutBytes(run);
  if (bare > 0)
    return `The bytes of ${bare} documents are missing too: bring them back, or mark these documents by a repair, then repair again.`;
  const { repository_id, collection_id, incarnation } = collection;
  const job = await jobs.start(scope, {
    kind: "reindex",
    repository_id,
    collection_id,
    incarnation,
    created_by: "fsck",
  });
  const { status, error } = await jobs.run(scope, job.job_id);
  return status === "succeeded" ? undefined : `Rebuilding the chunks failed: ${error ?? status}.`;
}

/** Number of documents that could not be rebuilt and are not marked yet: their searchable chunks would be lost. */
async function withoutBytes({ deps, scope, partition, signal }: IncarnationRun): Promise<number> {
  let count = 0;
  for await (const page of walkDocuments(deps.items, partition, auditLimits.pageItemsMax)) {
    signal.throwIfAborted();
    for (const { record } of page) {
      const [newest] = record.versions;
      if (newest === undefined || isMarked(record)) continue;
      if ((await deps.objects.head(scope, contentKey(partition, record.document_id, newest.version))) === undefined)
        count += 1;
    }
  }
  return count;
}

async function repairOwn(run: IncarnationRun, name: string, broken: readonly Broken[]): Promise<string | undefined> {
  if ((await fromBucket(run, name, broken)) === undefined) return undefined;
  return `These rows exist nowhere else: see pinakes vectors history, restore and repair ${name}, or send them again.`;
}

async function fromBucket(run: IncarnationRun, name: string, broken: readonly Broken[]): Promise<string | undefined> {
  const failed = "The bucket alone cannot repair it.";
  if (broken.some(({ kind }) => !ofItems.includes(kind))) return failed;
  if ((await tolerate(run.deps.vectors.repair(run.scope, name), "CORRUPT", "NOT_FOUND")) === undefined) return failed;
  return (await once(run, name)).length === 0 ? undefined : failed;
}
