/**
 * A put contains only changed channels; the others have the values that the same version has elsewhere in the thread: in the parent, or, if
 * a checkpoint is copied (a fork), in one of its siblings.
 */
import type { ChannelVersions, Checkpoint } from "@langchain/langgraph-checkpoint";
import type { Cell } from "./cells.ts";
import { checkpointId, checkpointRange, isCheckpointId } from "./keys.ts";
import { cellsOf, versionsOf, type CheckpointPlace, type CheckpointRecord } from "./records.ts";
import type { KnownThread } from "./thread-cache.ts";
import type { ThreadItems } from "./thread-items.ts";

export async function carriedOver(
  items: ThreadItems,
  { threadId, ns, parent, known }: CheckpointPlace & { readonly threadId: string; readonly known: KnownThread },
  checkpoint: Checkpoint,
  newVersions: ChannelVersions,
): Promise<{ readonly values: Map<string, Cell>; readonly parentIsGone: boolean }> {
  const missing = new Map(
    Object.entries(checkpoint.channel_versions).filter(([channel]) => !Object.hasOwn(newVersions, channel)),
  );
  const values = new Map<string, Cell>();
  const take = (item: object): void => {
    const record = item as CheckpointRecord;
    if (record.life !== known.life) return; // It is being deleted, together with everything it refers to.
    const versions = versionsOf(record);
    const cells = cellsOf(record);
    for (const [channel, version] of missing) {
      if (versions[channel] !== version) continue;
      missing.delete(channel);
      const cell = cells.get(channel);
      if (cell !== undefined) values.set(channel, cell);
    }
  };
  if (missing.size === 0) return { values, parentIsGone: false };
  const parentId = parent === undefined ? undefined : checkpointId(ns, parent);
  // A version of a channel has one value, so a checkpoint that was read a while ago says the same as it would now.
  const before =
    parentId === undefined ? undefined : (known.recent(parentId) ?? (await items.read(threadId, parentId)));
  const parentIsGone = parentId !== undefined && before?.["life"] !== known.life;
  if (before !== undefined) take(before);
  if (missing.size === 0 || parentIsGone) return { values, parentIsGone };
  for await (const item of items.range(threadId, checkpointRange(ns), { order: "desc", limit: pageItems })) {
    if (isCheckpointId(item.id)) take(item);
    if (missing.size === 0) break;
  }
  return { values, parentIsGone };
}

const pageItems = 50;
