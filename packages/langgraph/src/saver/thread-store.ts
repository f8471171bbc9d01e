/**
 * Reads and writes the items of threads.
 *
 * - A checkpoint is written last, in the final batch of a put: it exists with all its data, or not at all.
 * - Every batch starts with the fence of its life (lives.ts): a put that started before the thread was deleted fails instead of leaving a
 *   checkpoint without its lists; it is then repeated in the next life.
 * - Within a life nothing is ever removed, so data once seen there need not be written again.
 */
import type { BatchOperation, JsonObject } from "@pinakes/client";
import { errorCode } from "../source.ts";
import {
  blobIds,
  blobItems,
  blobOfItems,
  type Blobs,
  type Cell,
  isList,
  type ListCell,
  namesIn,
  type TextCell,
} from "./cells.ts";
import type { ChainNode } from "./chain.ts";
import { allItems, nodeId, nodeRange, threadItem } from "./keys.ts";
import { fence, isBefore, lifeOfItem, nextLife, type ThreadLife } from "./lives.ts";
import type { CheckpointRecord } from "./records.ts";
import { KnownThread, type ThreadCache } from "./thread-cache.ts";
import { pause, type ThreadItems } from "./thread-items.ts";

type ThreadDocument = JsonObject & { readonly id: string };
export interface Addition {
  readonly blobs: Blobs;
  /** By channel. */
  readonly nodes: ReadonlyMap<string, readonly ChainNode[]>;
  /** The checkpoint among the last. */
  readonly record?: CheckpointRecord;
  /** Written last, together. */
  readonly last: readonly BatchOperation[];
}

const batchOperationsMax = 25;
/** As JSON; a request to a server is limited to 1 MiB. */
const batchCharsMax = 700_000;
const attemptsMax = 20;

export class ThreadStore {
  readonly #items: ThreadItems;
  readonly #cache: ThreadCache;

  constructor(items: ThreadItems, cache: ThreadCache) {
    this.#items = items;
    this.#cache = cache;
  }

  /** Loads everything that these cells need into the cache; undefined if something is missing. */
  async load(
    threadId: string,
    record: CheckpointRecord,
    cells: ReadonlyMap<string, Cell>,
    others: readonly TextCell[],
  ): Promise<KnownThread | undefined> {
    const known = this.#cache.of(threadId, record.life);
    known.addRecent(record);
    // One after the other would be as many waits as there are channels.
    const lists = await Promise.all(
      [...cells].map(async ([channel, cell]) =>
        isList(cell) ? this.#elements(threadId, known, channel, cell) : [cell],
      ),
    );
    if (lists.includes(undefined)) return undefined;
    let names = [...others, ...lists.flatMap((list) => list ?? [])].flatMap(namesIn);
    while (names.length > 0) {
      if (!(await this.#loadBlobs(threadId, known, names))) return undefined;
      names = names.flatMap((name) => known.blob(name)?.r ?? []).filter((name) => known.blob(name) === undefined);
    }
    return known;
  }

  /** The stored part of a channel's list, read unless it is cached. */
  async knownChain(
    threadId: string,
    known: KnownThread,
    channel: string,
  ): Promise<ReturnType<KnownThread["openChain"]>> {
    const chain = known.chain(channel);
    if (chain !== undefined) return chain;
    if (known.etag !== undefined) await this.#loadNodes(threadId, known, channel, 0, Number.MAX_SAFE_INTEGER);
    return known.openChain(channel);
  }

  /**
   * Adds to a thread in its current life. `make` returns what to add for that life; it is called again if the thread was deleted meanwhile.
   * The added items are cached afterwards.
   */
  async add(threadId: string, make: (known: KnownThread) => Promise<Addition>): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const known = await this.#present(threadId);
      const written: string[] = [];
      try {
        const addition = await make(known);
        await this.#write(threadId, known, addition, written);
        for (const [name, blob] of addition.blobs) known.addBlob(name, blob);
        for (const [channel, nodes] of addition.nodes) for (const node of nodes) known.addNode(channel, node);
        if (addition.record !== undefined) known.addRecent(addition.record);
        return;
      } catch (error) {
        this.#cache.forget(threadId);
        if (!mayHaveEnded(error) || attempt >= attemptsMax) throw error;
        // Items that this attempt left in a life that has ended, which nothing else would find. In a current life, other writers may
        // already use them.
        if ((await this.#present(threadId)).life !== known.life)
          await this.#items.remove(
            threadId,
            written.map((id) => ({ op: "delete" as const, id })),
          );
        await pause(attempt);
      }
    }
  }

  async deleteThread(threadId: string): Promise<void> {
    this.#cache.forget(threadId);
    await endThread(this.#items, threadId);
  }

  async #present(threadId: string): Promise<KnownThread> {
    const known = this.#cache.get(threadId);
    if (known?.etag !== undefined) return known;
    const item = await this.#items.read(threadId, threadItem);
    if (item === undefined) return this.#cache.set(threadId, new KnownThread(nextLife(undefined)));
    const { life, etag, deleting } = lifeOfItem(item);
    if (deleting) {
      // Whoever deletes it may have stopped in the middle: nothing of it must be seen in the next life.
      await removeBefore(this.#items, threadId, life);
      return this.#cache.set(threadId, new KnownThread(nextLife(life), etag));
    }
    const present = this.#cache.of(threadId, life);
    present.etag = etag;
    return present;
  }

  async #write(
    threadId: string,
    known: KnownThread,
    { blobs, nodes, last }: Addition,
    written: string[],
  ): Promise<void> {
    const { life } = known;
    const items: ThreadDocument[] = [...blobs]
      .filter(([name]) => known.blob(name) === undefined)
      .flatMap(([name, blob]) => blobItems(life, name, blob));
    for (const [channel, chain] of nodes) for (const node of chain) items.push(nodeItem(life, channel, node));
    const batches = inBatches(
      items.map((item): BatchOperation => ({ op: "upsert", document: { ...item, thread_id: threadId } })),
      last,
    );
    for (const operations of batches) {
      const [fenced] = await this.#items.batch(threadId, [fence(threadId, known), ...operations]);
      known.etag ??= fenced?.etag;
      for (const operation of operations) if (operation.op === "upsert") written.push(operation.document.id);
    }
  }

  async #elements(
    threadId: string,
    known: KnownThread,
    channel: string,
    cell: ListCell,
  ): Promise<readonly TextCell[] | undefined> {
    const chain = known.openChain(channel);
    const found = chain.walk(cell);
    if (found !== undefined) return found;
    // Tries the newest elements first; reads all of them if those do not suffice.
    for (const from of chain.end > 0 && chain.end < cell.n ? [chain.end, 0] : [0]) {
      await this.#loadNodes(threadId, known, channel, from, cell.n);
      const loaded = chain.walk(cell);
      if (loaded !== undefined) return loaded;
    }
    return undefined;
  }

  async #loadNodes(threadId: string, known: KnownThread, channel: string, from: number, to: number): Promise<void> {
    const range = nodeRange(known.life, channel, from, to);
    for await (const item of this.#items.range(threadId, range)) known.addNode(channel, nodeOf(item));
  }

  async #loadBlobs(threadId: string, known: KnownThread, names: readonly string[]): Promise<boolean> {
    const missing = [...new Set(names)].filter((name) => known.blob(name) === undefined);
    const ids = missing.flatMap((name) => blobIds(known.life, name));
    const items = await this.#items.readMany(threadId, ids);
    const found = new Map(ids.map((id, i) => [id, items[i]]));
    for (const name of missing) {
      const blob = blobOfItems(blobIds(known.life, name).map((id) => found.get(id)));
      if (blob === undefined) return false;
      known.addBlob(name, blob);
    }
    return true;
  }
}

/** The fence is the first operation of each batch. After a lost response it is unknown which operation failed. */
function mayHaveEnded(error: unknown): boolean {
  if (errorCode(error) === "UNKNOWN_OUTCOME") return true;
  const { batch, context } = error as {
    readonly batch?: { readonly index: number };
    readonly context?: { readonly batch?: { readonly index: number } };
  };
  const index = batch?.index ?? context?.batch?.index;
  return index === 0 && ["CONFLICT", "PRECONDITION_FAILED", "NOT_FOUND"].includes(errorCode(error) ?? "");
}

function inBatches(operations: readonly BatchOperation[], last: readonly BatchOperation[]): BatchOperation[][] {
  const batches: BatchOperation[][] = [[]];
  let chars = 0;
  const sizeOf = (list: readonly BatchOperation[]): number =>
    list.reduce((sum, operation) => sum + JSON.stringify(operation).length, 0);
  const groups: (readonly BatchOperation[])[] = [...operations.map((operation) => [operation]), last];
  for (const group of groups) {
    const size = sizeOf(group);
    const batch = batches.at(-1) as BatchOperation[];
    // One place is the fence's.
    const full = batch.length + group.length > batchOperationsMax - 1 || chars + size > batchCharsMax;
    if (full && batch.length > 0) batches.push([...group]);
    else batch.push(...group);
    chars = full ? size : chars + size;
  }
  return batches;
}

function nodeItem(life: string, channel: string, { start, previous, hash, cells }: ChainNode): ThreadDocument {
  return { id: nodeId(life, channel, start, hash), s: start, p: previous, h: hash, e: cells };
}

function nodeOf(item: JsonObject): ChainNode {
  return {
    start: item["s"] as number,
    previous: item["p"] as string,
    hash: item["h"] as string,
    cells: item["e"] as unknown as readonly TextCell[],
  };
}

/** Deletes a thread: its next life begins, marked, and everything of earlier ones goes (lives.ts). */
const stepItems = 1_000;

async function endThread(items: ThreadItems, threadId: string): Promise<void> {
  const ending = await markDeleted(items, threadId);
  if (ending === undefined) return;
  await removeBefore(items, threadId, ending.life);
  // Unless somebody began to use the thread again.
  await items.remove(threadId, [{ op: "delete", id: threadItem, if_match: ending.etag }]);
}

/** Undefined when there is no such thread. */
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
async function removeBefore(items: ThreadItems, threadId: string, life: string): Promise<void> {
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
