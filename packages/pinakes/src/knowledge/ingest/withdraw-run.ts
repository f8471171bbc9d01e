/** Removes what an attempt stored for a run that is no longer current. */
import { hasCode } from "../../domain/errors.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { removeSources, sourceMark } from "../documents/graph-support.ts";
import { derivedKeys } from "../documents/parsed-text.ts";
import { deleteChunks } from "../documents/passages.ts";
import { removal } from "../documents/removals.ts";
import type { CollectionPartition } from "../records/collection-partition.ts";

interface RunOf {
  readonly partition: CollectionPartition;
  readonly documentId: string;
  readonly run: number;
}

/** A concurrent replace or delete cannot know of what was stored after it. */
export async function takeBackRun(
  deps: KnowledgeDependencies,
  { partition, documentId, run }: RunOf,
  { generation, version }: { readonly generation: number; readonly version: number },
  chunk_count: number,
): Promise<void> {
  const found = await partition.read(documentId);
  // Another attempt of the same run writes identical chunks.
  if (found?.record.run === run) return;
  await deleteChunks(deps, partition, documentId, [{ run, chunk_count, generation }]);
  await withdraw(deps, partition, documentId, run, [sourceMark({ run, generation })]);
  if (found?.record.versions.some((entry) => entry.version === version) === true) return;
  await deps.objects.delete(partition.scope, derivedKeys(partition, documentId, version));
}

/** The same, if the process died before it could: the message is redelivered, and not completed until this is done. */
export async function takeBackLate(deps: KnowledgeDependencies, { partition, documentId, run }: RunOf): Promise<void> {
  const found = (await partition.read(documentId))?.record;
  if (found !== undefined && (found.run <= run || found.live?.run === run || found.prepared?.run === run)) return;
  const { generation: newest = 0 } = (await partition.fence())?.record ?? {};
  const marks = Array.from({ length: newest }, (_, i) => sourceMark({ run, generation: i + 1 }));
  await withdraw(deps, partition, documentId, run, marks);
}

/** In the trash this must wait until the collection is restored: then a removal record says so. */
async function withdraw(
  deps: KnowledgeDependencies,
  partition: CollectionPartition,
  document_id: string,
  run: number,
  sources: readonly string[],
): Promise<void> {
  if (await removeSources(deps, partition, document_id, sources)) return;
  await partition
    .clean([removal(partition, { document_id, run }, "late", { sources, now: deps.clock.now() })])
    .catch((error: unknown) => {
      // An earlier attempt recorded it.
      if (!hasCode(error, "CONFLICT")) throw error;
    });
}
