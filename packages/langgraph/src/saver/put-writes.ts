/** The writes of a task, stored until the step ends. The first regular write at an index is kept; special ones are replaced. */
import type { BatchOperation } from "@pinakes/client";
import type { PendingWrite, SerializerProtocol } from "@langchain/langgraph-checkpoint";
import { errorCode } from "../source.ts";
import type { Blobs } from "./cells.ts";
import { asDocument, mergedWrites, writesRecords, type WritesRecord } from "./records.ts";
import type { ThreadItems } from "./thread-items.ts";
import type { ThreadStore } from "./thread-store.ts";

export interface WritesTarget {
  readonly threadId: string;
  readonly ns: string;
  readonly checkpoint: string;
  readonly task: string;
}

const attemptsMax = 5;

export async function putWritesOnce(
  {
    store,
    items,
    serde,
  }: { readonly store: ThreadStore; readonly items: ThreadItems; readonly serde: SerializerProtocol },
  target: WritesTarget,
  writes: readonly PendingWrite[],
): Promise<void> {
  if (writes.length === 0) return;
  const { threadId } = target;
  let stored: { readonly record: WritesRecord; readonly etag: string } | undefined;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const before = stored;
      await store.add(threadId, async ({ life }) => {
        const blobs: Blobs = new Map();
        const records = await writesRecords(serde, { ...target, life }, writes, blobs);
        return { blobs, nodes: new Map(), last: records.flatMap((record) => operations(threadId, record, before)) };
      });
      return;
    } catch (error) {
      // Written before, by an earlier attempt or with other writes: read the stored ones.
      if (!["PRECONDITION_FAILED", "UNKNOWN_OUTCOME"].includes(errorCode(error) ?? "") || attempt >= attemptsMax)
        throw error;
      const regular = (await writesRecords(serde, { ...target, life: "" }, writes, new Map())).find(
        isRegular,
      ) as WritesRecord;
      const item = await items.read(threadId, regular.id);
      stored = item === undefined ? undefined : { record: item as unknown as WritesRecord, etag: item._etag };
    }
  }
}

function isRegular({ w }: WritesRecord): boolean {
  return (w[0] as readonly [number, ...unknown[]])[0] >= 0;
}

function operations(
  threadId: string,
  record: WritesRecord,
  stored: { readonly record: WritesRecord; readonly etag: string } | undefined,
): BatchOperation[] {
  if (!isRegular(record)) return [{ op: "upsert", document: asDocument(threadId, record) }];
  if (stored === undefined) {
    return [
      { op: "check", id: record.id, exists: false },
      { op: "upsert", document: asDocument(threadId, record) },
    ];
  }
  const merged = mergedWrites(stored.record, record);
  return merged === undefined ? [] : [{ op: "upsert", document: asDocument(threadId, merged), if_match: stored.etag }];
}
