/**
 * The lives of a thread. Its item `t` contains the current one: an increasing number and a random part. Deleting a thread starts the next
 * life, marked `deleting`, removes everything of earlier ones, and then the item, unless another life was started meanwhile.
 *
 * Every write is conditional on the item as read (its fence), so nothing is added to a life that has ended. And since lives are
 * distinguished by number, removing old data never affects new data, even if repeated or concurrent.
 */
import type { BatchOperation, StoredDocument } from "@pinakes/client";
import { threadItem } from "./keys.ts";
import type { KnownThread } from "./thread-cache.ts";

export interface ThreadLife {
  readonly life: string;
  readonly etag: string;
  readonly deleting: boolean;
}

export function lifeOfItem(item: StoredDocument): ThreadLife {
  return { life: item["life"] as string, etag: item._etag, deleting: item["deleting"] === true };
}

export function nextLife(life: string | undefined): string {
  return `${life === undefined ? 1 : numberOf(life) + 1}-${crypto.randomUUID().slice(0, 6)}`;
}

/** The life of an item: checkpoints and writes contain it, lists and texts have it in their ids. */
export function isBefore(item: StoredDocument, life: string): boolean {
  const own = item.id.startsWith("c:") ? (item["life"] as string) : (item.id.split(":")[1] as string);
  return numberOf(own) < numberOf(life);
}

/** The first operation of every batch: starts a life, or fails unless it is still the one that was read. */
export function fence(threadId: string, { life, etag, replaces }: KnownThread): BatchOperation {
  if (etag !== undefined) return { op: "check", id: threadItem, if_match: etag };
  const document = { id: threadItem, thread_id: threadId, life };
  return replaces === undefined ? { op: "create", document } : { op: "upsert", document, if_match: replaces };
}

function numberOf(life: string): number {
  return Number.parseInt(life, 10);
}
