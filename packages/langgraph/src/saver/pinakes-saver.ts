/**
 * LangGraph's checkpointer on Pinakes: checkpoints, pending writes and the values of channels in one container, one partition per thread.
 * Values are stored once, however many checkpoints refer to them (cells.ts, chain.ts), so storage grows linearly with the content of a
 * thread.
 */
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  getCheckpointId,
  maxChannelVersion,
  TASKS,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  type PendingWrite,
  type SerializerProtocol,
} from "@langchain/langgraph-checkpoint";
import { OwnContainer, type StateSource } from "../source.ts";
import { isList, makeCell, readCells, serialise, type Blob, type Blobs, type Cell } from "./cells.ts";
import { carriedOver } from "./carry-over.ts";
import { isChainable, linkList, missingNodes, type ChainNode } from "./chain.ts";
import { allCheckpoints, checkpointRange, isCheckpointId, tupleRange } from "./keys.ts";
import { putWritesOnce } from "./put-writes.ts";
import {
  asDocument,
  cellsOf,
  checkpointRecord,
  isWritesRecord,
  versionsOf,
  type CheckpointRecord,
  type WritesRecord,
} from "./records.ts";
import { ThreadCache, type KnownThread } from "./thread-cache.ts";
import { ThreadItems } from "./thread-items.ts";
import { ThreadStore } from "./thread-store.ts";

export interface PinakesSaverOptions {
  /** Instead of LangGraph's own. */
  readonly serde?: SerializerProtocol | undefined;
  /** Default `langgraph-checkpoints`. */
  readonly container?: string | undefined;
  /** Size of the cache of recently used threads. Default 16,777,216. */
  readonly cacheCharsMax?: number | undefined;
}

interface Entry {
  readonly threadId: string;
  readonly record: CheckpointRecord;
  readonly writes: readonly WritesRecord[];
}

const containerDefault = "langgraph-checkpoints";
const cacheCharsDefault = 16 * 1024 ** 2;
/** Limit of a value in a checkpoint's own item; longer ones are stored once, separately. */
const inlineCharsMax = 256;
/** The last checkpoint and its writes nearly always fit into this many items. */
const latestItems = 4;
const loadAttempts = 3;

/**
 * @example
 * const client = createStateClient({ url: "http://127.0.0.1:7430", apiKey });
 * const graph = workflow.compile({ checkpointer: new PinakesSaver(client) });
 */
export class PinakesSaver extends BaseCheckpointSaver {
  readonly #items: ThreadItems;
  readonly #store: ThreadStore;

  constructor(source: StateSource, options: PinakesSaverOptions = {}) {
    super(options.serde);
    const container = new OwnContainer(source, options.container ?? containerDefault, { partition_key: "/thread_id" });
    this.#items = new ThreadItems(container);
    this.#store = new ThreadStore(this.#items, new ThreadCache(options.cacheCharsMax ?? cacheCharsDefault));
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const threadId = threadOf(config);
    if (threadId === undefined) return undefined;
    const ns = namespaceOf(config) ?? "";
    const checkpoint = getCheckpointId(config);
    for (let attempt = 1; ; attempt += 1) {
      const range = checkpoint === "" ? checkpointRange(ns) : tupleRange(ns, checkpoint);
      const entry = await first(
        this.#entries(threadId, this.#items.range(threadId, range, { order: "desc", limit: latestItems })),
      );
      const tuple = entry === undefined ? undefined : await this.#tuple(entry);
      // Deleted during the read: the checkpoint is gone as well by now.
      if (entry === undefined || tuple !== undefined) return tuple;
      if (attempt >= loadAttempts)
        throw new Error(`Thread ${threadId}: values of checkpoint ${entry.record.cp} are missing in the store.`);
    }
  }

  async *list(
    config: RunnableConfig,
    { limit, before, filter }: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    let left = limit ?? Number.POSITIVE_INFINITY;
    if (left <= 0) return;
    const wanted = getCheckpointId(config);
    const end = before === undefined ? "" : getCheckpointId(before);
    const items = filter === undefined ? Math.max(latestItems, left * latestItems) : Number.POSITIVE_INFINITY;
    for await (const entry of this.#listed(config, end === "" ? undefined : end, items)) {
      const { cp } = entry.record;
      if ((wanted !== "" && cp !== wanted) || (end !== "" && cp >= end)) continue;
      const tuple = await this.#tuple(entry);
      if (tuple === undefined || !matches(tuple.metadata, filter)) continue;
      yield tuple;
      left -= 1;
      if (left === 0) return;
    }
  }

  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const threadId = requireThread(config, "put checkpoint");
    const ns = namespaceOf(config) ?? "";
    const parent = getCheckpointId(config) === "" ? undefined : getCheckpointId(config);
    const meta = await serialise(this.serde, metadata);
    await this.#store.add(threadId, async (known) => {
      const blobs: Blobs = new Map();
      const nodes = new Map<string, readonly ChainNode[]>();
      const { values, parentIsGone } = await carriedOver(
        this.#items,
        { threadId, ns, parent, known },
        checkpoint,
        newVersions,
      );
      // Deleted while a graph continues: the values passed in are then all there are.
      for (const channel of Object.keys(parentIsGone ? checkpoint.channel_versions : newVersions)) {
        values.delete(channel);
        if (!Object.hasOwn(checkpoint.channel_values, channel)) continue;
        values.set(
          channel,
          await this.#cellOf(threadId, known, channel, checkpoint.channel_values[channel], { blobs, nodes }),
        );
      }
      const cells = { meta: makeCell(meta, blobs), values };
      const record = checkpointRecord(known.life, { ns, parent }, checkpoint, cells);
      return { blobs, nodes, record, last: [{ op: "upsert", document: asDocument(threadId, record) }] };
    });
    return { configurable: { thread_id: threadId, checkpoint_ns: ns, checkpoint_id: checkpoint.id } };
  }

  async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const threadId = requireThread(config, "put writes");
    const checkpoint = getCheckpointId(config);
    if (checkpoint === "")
      throw new Error('Failed to put writes: "checkpoint_id" is missing in the "configurable" of the config.');
    await putWritesOnce(
      { store: this.#store, items: this.#items, serde: this.serde },
      { threadId, ns: namespaceOf(config) ?? "", checkpoint, task: taskId },
      writes,
    );
  }

  async deleteThread(threadId: string): Promise<void> {
    await this.#store.deleteThread(threadId);
  }

  /** With a random fraction: two forks of a thread that both continue from version 7 do not both create the same version 8. */
  override getNextVersion(current: number | undefined): number {
    const fraction = String(Math.floor(Math.random() * 10 ** versionFractionDigits)).padStart(
      versionFractionDigits,
      "0",
    );
    return Number(`${Math.floor(current ?? 0) + 1}.${fraction}`);
  }

  async #cellOf(
    threadId: string,
    known: KnownThread,
    channel: string,
    value: unknown,
    { blobs, nodes }: { blobs: Blobs; nodes: Map<string, readonly ChainNode[]> },
  ): Promise<Cell> {
    if (!isChainable(value)) return makeCell(await serialise(this.serde, value), blobs, inlineCharsMax);
    const list = await linkList(this.serde, value);
    nodes.set(channel, missingNodes(list, await this.#store.knownChain(threadId, known, channel), blobs));
    return list.cell;
  }

  /** The newest first, by namespace. */
  #listed(config: RunnableConfig, before: string | undefined, pageItems: number): AsyncGenerator<Entry, void> {
    const threadId = threadOf(config);
    const ns = namespaceOf(config);
    if (threadId === undefined) return this.#everywhere(ns);
    const range = ns === undefined ? allCheckpoints : checkpointRange(ns, before);
    return this.#entries(threadId, this.#items.range(threadId, range, { order: "desc", limit: pageItems }));
  }

  async *#everywhere(ns: string | undefined): AsyncGenerator<Entry, void> {
    for await (const item of this.#items.everywhere(ns === undefined ? allCheckpoints : checkpointRange(ns))) {
      if (!isCheckpointId(item.id)) continue;
      const record = item as unknown as CheckpointRecord & { readonly thread_id: string };
      const range = tupleRange(record.ns, record.cp);
      yield* this.#entries(record.thread_id, this.#items.range(record.thread_id, range, { order: "desc" }));
    }
  }

  /** Items in reverse id order: the writes of a checkpoint come before the checkpoint. Writes without one are dropped. */
  async *#entries(threadId: string, items: AsyncIterable<object>): AsyncGenerator<Entry, void> {
    let writes: WritesRecord[] = [];
    for await (const item of items) {
      if (isWritesRecord(item)) {
        writes.push(item);
        continue;
      }
      const record = item as CheckpointRecord;
      yield { threadId, record, writes: writes.filter(({ id }) => id.startsWith(record.id)).toReversed() };
      writes = [];
    }
  }

  /** Undefined if required data is missing. */
  async #tuple({ threadId, record, writes }: Entry): Promise<CheckpointTuple | undefined> {
    const { ns, cp, parent } = record;
    const cells = cellsOf(record);
    const sends = record.v < 4 && parent !== undefined ? await this.#sendsOf(threadId, ns, parent) : [];
    const texts = [record.meta, ...[...writes, ...sends].flatMap(({ w }) => w.map(([, , cell]) => cell))];
    const known = await this.#store.load(threadId, record, cells, texts);
    if (known === undefined) return undefined;
    const lists = [...cells].map(([channel, cell]) =>
      isList(cell) ? (known.openChain(channel).walk(cell) ?? []) : [cell],
    );
    const read = await readCells(this.serde, [...texts, ...lists.flat()], (name) => known.blob(name) as Blob);
    const metadata = read.shift() as CheckpointMetadata;
    const pendingWrites = pendingOf(writes, read);
    const sent = pendingOf(sends, read).filter(([, channel]) => channel === TASKS);
    const values = [...cells].map(
      ([channel, cell]) => [channel, isList(cell) ? read.splice(0, cell.n) : read.shift()] as const,
    );
    const checkpoint: Checkpoint = {
      v: record.v,
      id: cp,
      ts: record.ts,
      channel_values: Object.fromEntries(values),
      channel_versions: versionsOf(record),
      versions_seen: JSON.parse(record.seen) as Checkpoint["versions_seen"],
    };
    if (record.v < 4 && parent !== undefined) this.#addSends(checkpoint, sent);
    const parentConfig = parent === undefined ? {} : { parentConfig: configOf(threadId, ns, parent) };
    return { config: configOf(threadId, ns, cp), checkpoint, metadata, ...parentConfig, pendingWrites };
  }

  /** Before version 4 of the format, messages sent by a checkpoint were stored with its parent's writes. */
  async #sendsOf(threadId: string, ns: string, parent: string): Promise<readonly WritesRecord[]> {
    const items = this.#items.range(threadId, tupleRange(ns, parent), { order: "desc", limit: latestItems });
    return (await first(this.#entries(threadId, items)))?.writes ?? [];
  }

  #addSends({ channel_values, channel_versions }: Checkpoint, sends: readonly CheckpointPendingWrite[]): void {
    const versions = Object.values(channel_versions);
    channel_values[TASKS] = sends.map(([, , value]) => value);
    channel_versions[TASKS] =
      versions.length > 0 ? (maxChannelVersion(...versions) as number) : this.getNextVersion(undefined);
  }
}

const versionFractionDigits = 6;

/** The writes of these records; their values are the next ones read. */
function pendingOf(records: readonly WritesRecord[], read: unknown[]): CheckpointPendingWrite[] {
  return records.flatMap(({ task, w }) =>
    w.map(([, channel]): CheckpointPendingWrite => [task, channel, read.shift()]),
  );
}

function configOf(thread_id: string, checkpoint_ns: string, checkpoint_id: string): RunnableConfig {
  return { configurable: { thread_id, checkpoint_ns, checkpoint_id } };
}

function threadOf(config: RunnableConfig): string | undefined {
  const id = config.configurable?.["thread_id"] as string | number | null | undefined;
  return id === undefined || id === null ? undefined : String(id);
}

function requireThread(config: RunnableConfig, what: string): string {
  const threadId = threadOf(config);
  if (threadId !== undefined && threadId !== "") return threadId;
  throw new Error(
    `Failed to ${what}: give a "thread_id", for example graph.invoke(input, { configurable: { thread_id: "t1" } }).`,
  );
}

function namespaceOf(config: RunnableConfig): string | undefined {
  return config.configurable?.["checkpoint_ns"] as string | undefined;
}

function matches(metadata: CheckpointMetadata | undefined, filter: Readonly<Record<string, unknown>> = {}): boolean {
  const held = metadata as Readonly<Record<string, unknown>> | undefined;
  return Object.entries(filter).every(
    ([name, value]) => held?.[name] === value || JSON.stringify(held?.[name]) === JSON.stringify(value),
  );
}

async function first<Item>(items: AsyncGenerator<Item, void>): Promise<Item | undefined> {
  for await (const item of items) return item;
  return undefined;
}
