/** Deletes a thread: starts its next life, marked as deleting, and removes everything of earlier ones (lives.ts). */
import type { BatchOperation } from "@pinakes/client";
import { errorCode } from "../source.ts";
import { allItems, threadItem } from "./keys.ts";
import { isBefore, lifeOfItem, nextLife, type ThreadLife } from "./lives.ts";
import { pause, type ThreadItems } from "./thread-items.ts";

const stepItems = 1_000;
const attemptsMax = 20;

export async function endThread(items: ThreadItems, threadId: string): Promise<void> {
  const ending = await markDeleted(items, threadId);
  if (ending === undefined) return;
  await removeBefore(items, threadId, ending.life);
  // Unless the thread is in use again.
  await items.remove(threadId, [{ op: "delete", id: threadItem, if_match: ending.etag }]);
}

/** Undefined if the thread does not exist. */
async function markDeleted(items: ThreadItems, threadId: string): Promise<ThreadLife | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const item = await items.read(threadId, threadItem);
    const present = item === undefined ? undefined : lifeOfItem(item);
    if (present === undefined || present.deleting) return present;
    try {
      return lifeOfItem(
        await items.replace(threadId, { id: threadItem, life: nextLife(present.life), deleting: true }, present.etag),
      );
    } catch (error) {
      if (!["PRECONDITION_FAILED", "UNKNOWN_OUTCOME"].includes(errorCode(error) ?? "") || attempt >= attemptsMax)
        throw error;
      await pause(attempt);
    }
  }
}

/** Checkpoints go first (by their ids), so that none is seen without its lists. */
export async function removeBefore(items: ThreadItems, threadId: string, life: string): Promise<void> {
  let operations: (BatchOperation & { readonly op: "delete" })[] = [];
  for await (const item of items.range(threadId, allItems)) {
    if (item.id === threadItem || !isBefore(item, life)) continue;
    operations.push({ op: "delete", id: item.id, if_match: item._etag });
    if (operations.length < stepItems) continue;
    await items.remove(threadId, operations);
    operations = [];
  }
  await items.remove(threadId, operations);
}
