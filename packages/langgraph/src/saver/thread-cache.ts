/**
 * A cache of threads, so that continuing one needs few reads and writes. Every entry is identified by its content and the life of its
 * thread, so it may be missing but never wrong: checkpoints and writes are always read from the store.
 */
import type { Blob } from "./cells.ts";
import { Chain, type ChainNode } from "./chain.ts";
import type { CheckpointRecord } from "./records.ts";

/** Data known to be stored for one life of a thread (which ends when the thread is deleted). */
export class KnownThread {
  readonly life: string;
  /** The thread's item; undefined until it was read or written. */
  etag: string | undefined;
  /** The etag of the life that this one follows, while it is not stored yet. */
  readonly replaces: string | undefined;
  chars = threadOverheadChars;
  readonly #chains = new Map<string, Chain>();
  readonly #blobs = new Map<string, Blob>();
  /** The most recently read or written checkpoints, by id: the next put continues from one of them. */
  readonly #recent = new Map<string, CheckpointRecord>();

  constructor(life: string, replaces?: string) {
    this.life = life;
    this.replaces = replaces;
  }

  /** Undefined as long as nothing was read or written of this channel. */
  chain(channel: string): Chain | undefined {
    return this.#chains.get(channel);
  }

  openChain(channel: string): Chain {
    const chain = this.#chains.get(channel) ?? new Chain();
    this.#chains.set(channel, chain);
    return chain;
  }

  addNode(channel: string, node: ChainNode): void {
    const chain = this.openChain(channel);
    if (chain.has(node.start + node.cells.length, node.hash)) return;
    chain.add(node);
    for (const cell of node.cells)
      this.chars += entryOverheadChars + (typeof cell === "string" ? cell.length : (cell.j?.length ?? 0));
  }

  blob(name: string): Blob | undefined {
    return this.#blobs.get(name);
  }

  addBlob(name: string, blob: Blob): void {
    if (this.#blobs.has(name)) return;
    this.#blobs.set(name, blob);
    // Stored once on its own, and once within the text of the value that contains it (cells.ts).
    this.chars += entryOverheadChars + 2 * blob.text.length;
  }

  recent(id: string): CheckpointRecord | undefined {
    return this.#recent.get(id);
  }

  addRecent(record: CheckpointRecord): void {
    this.#recent.delete(record.id);
    this.#recent.set(record.id, record);
    const [oldest] = this.#recent.keys();
    if (this.#recent.size > recentMax) this.#recent.delete(oldest as string);
  }
}

const recentMax = 4;
const entryOverheadChars = 64;
const threadOverheadChars = 512;

/** The threads used last. The one in use stays however large it is. */
export class ThreadCache {
  readonly #charsMax: number;
  /** With the size each had when it was last counted. */
  readonly #threads = new Map<string, { readonly known: KnownThread; chars: number }>();
  #chars = 0;

  constructor(charsMax: number) {
    this.#charsMax = charsMax;
  }

  get(threadId: string): KnownThread | undefined {
    const entry = this.#threads.get(threadId);
    if (entry !== undefined) this.#keep(threadId, entry);
    return entry?.known;
  }

  /** The data known of this life; empty if another life was cached. */
  of(threadId: string, life: string): KnownThread {
    const known = this.get(threadId);
    return known?.life === life ? known : this.set(threadId, new KnownThread(life));
  }

  set(threadId: string, known: KnownThread): KnownThread {
    this.forget(threadId);
    this.#keep(threadId, { known, chars: 0 });
    return known;
  }

  forget(threadId: string): void {
    this.#chars -= this.#threads.get(threadId)?.chars ?? 0;
    this.#threads.delete(threadId);
  }

  #keep(threadId: string, entry: { readonly known: KnownThread; chars: number }): void {
    this.#threads.delete(threadId);
    this.#threads.set(threadId, entry);
    this.#chars += entry.known.chars - entry.chars;
    entry.chars = entry.known.chars;
    for (const oldest of this.#threads.keys()) {
      if (this.#chars <= this.#charsMax || oldest === threadId) return;
      this.forget(oldest);
    }
  }
}
