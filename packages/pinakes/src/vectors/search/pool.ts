/**
 * Search threads over shared segments. A segment is loaded once, by the pool's owner, and every thread searches it in place.
 *
 * Invariants: a thread has every segment that the pool has, before any search that names it; a search ends with an answer or an error.
 */
import { availableParallelism } from "node:os";
import { PinakesError } from "../../domain/errors.ts";
import type { Filter } from "../../domain/filter.ts";
import { codeStrideOf } from "../kernels/context.ts";
import type { Bitmap } from "../segment/bitmap.ts";
import type { LoadedSegment } from "../segment/load-segment.ts";
import type { Answer, FlatHits, SearchTask, TaskSource } from "./messages.ts";
import { PoolThread } from "./pool-thread.ts";
import { bestOf } from "./run-task.ts";

const splitBytesMinDefault = 32 * 1024 ** 2;
/** What probing lists reads of a segment, roughly. */
const probedShare = 1 / 10;

export interface SearchRequest {
  /** At least one part, `vector` or `text`, is asked for. */
  readonly sources: readonly SearchSource[];
  readonly vector?: Float32Array;
  readonly text?: string;
  /** How many hits of each part. */
  readonly k: number;
  /** Share of the true best k by vector that should be found, on average. */
  readonly recall?: number;
  readonly filter?: Filter;
}

export interface SearchSource {
  /** As given to `load`. */
  readonly segment: string;
  /** Rows that must not be found. Keep the object while it is the same set: threads remember it. */
  readonly dead?: Bitmap | undefined;
  /** Only these lists are searched by vector: those of which the bytes are there. */
  readonly lists?: Uint32Array | undefined;
}

/** `source` is the place in the request's `sources`. */
export interface Hit {
  readonly source: number;
  readonly row: number;
  readonly score: number;
}

/** For each part that was asked for: the best first; ties by source, then row. */
export interface SearchResult {
  readonly vector?: readonly Hit[];
  readonly text?: readonly Hit[];
}

export interface PoolOptions {
  readonly threads?: number;
  /** A vector search that reads more than this is spread over threads, where it has several segments. */
  readonly splitBytesMin?: number;
  /** For tests: what the threads run. */
  readonly script?: URL;
}

export class SearchPool {
  /** What `loadSegment` needs to know. */
  readonly slots: number;
  readonly #script: URL;
  readonly #splitBytesMin: number;
  /** A thread that stopped leaves its place empty until the next search, so that one that cannot start does not start for ever. */
  readonly #threads: (PoolThread | undefined)[];
  readonly #segments = new Map<string, LoadedSegment>();
  #closed = false;

  constructor(options: PoolOptions = {}) {
    this.slots = Math.max(1, options.threads ?? availableParallelism());
    this.#splitBytesMin = options.splitBytesMin ?? splitBytesMinDefault;
    this.#script = options.script ?? new URL(import.meta.url.endsWith(".ts") ? "./search-thread.ts" : "./search-thread.js", import.meta.url);
    this.#threads = Array.from({ length: this.slots }, (_, slot) => this.#start(slot));
  }

  /** From now on searches can name this segment. What `loaded` lacks of its bytes must come before a search reads it. */
  load(id: string, loaded: LoadedSegment): void {
    if (loaded.slots < this.slots) throw new PinakesError("INTERNAL", `Segment ${id} has ${loaded.slots} slots; load it with pool.slots.`);
    this.#segments.set(id, loaded);
    for (const thread of this.#threads) thread?.order({ kind: "load", id, loaded });
  }

  /** Searches that already named it are not disturbed; its memory goes when the last of them ends. */
  drop(id: string): void {
    this.#segments.delete(id);
    for (const thread of this.#threads) thread?.order({ kind: "drop", id });
  }

  has(id: string): boolean {
    return this.#segments.has(id);
  }

  async search(request: SearchRequest): Promise<SearchResult> {
    if (this.#closed) throw new PinakesError("UNAVAILABLE", "The search pool is closed.", { retryable: false });
    const groups = this.#groups(request);
    if (groups.length === 1) return resultOf(await this.#ask(request, groups[0] as number[], request.vector, request.text));
    const [text, ...vectors] = await Promise.all([
      request.text === undefined ? undefined : this.#ask(request, request.sources.map((_, i) => i), undefined, request.text),
      ...groups.map((group) => this.#ask(request, group, request.vector, undefined)),
    ]);
    const lists = vectors.map((answer) => answer?.vector ?? []);
    return resultOf({ vector: bestOf(lists, request.k), ...(text?.text === undefined ? {} : { text: text.text }) });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#threads.map((thread) => thread?.close()));
  }

  #start(slot: number): PoolThread {
    const thread = new PoolThread(this.#script, slot, () => {
      this.#threads[slot] = undefined;
    });
    for (const [id, loaded] of this.#segments) thread.order({ kind: "load", id, loaded });
    return thread;
  }

  #idlest(): PoolThread {
    let idlest: PoolThread | undefined;
    for (let slot = 0; slot < this.slots; slot += 1) {
      const thread = (this.#threads[slot] ??= this.#start(slot));
      if (idlest === undefined || thread.waiting < idlest.waiting) idlest = thread;
    }
    return idlest as PoolThread;
  }

  async #ask(request: SearchRequest, numbers: readonly number[], vector?: Float32Array, text?: string): Promise<Parts> {
    const thread = this.#idlest();
    const sources = numbers.map((number): TaskSource => {
      const { segment, dead, lists } = request.sources[number] as SearchSource;
      if (!this.#segments.has(segment)) throw new PinakesError("INTERNAL", `Segment ${segment} was not loaded into the search pool.`);
      if (dead !== undefined) thread.useDead(segment, dead);
      return lists === undefined ? { id: segment, number, dead: dead !== undefined } : { id: segment, number, dead: dead !== undefined, lists };
    });
    const { k, recall, filter } = request;
    const task: SearchTask = { sources, k, vector, text, recall, filter };
    return (await thread.search(task)) as Parts;
  }

  /** One group of sources, or as many as threads where the work is worth several: the largest sources first, each to the smallest group. */
  #groups({ sources, vector, filter }: SearchRequest): number[][] {
    const all = sources.map((_, i) => i);
    if (this.slots === 1 || sources.length < 2 || vector === undefined) return [all];
    const costs = sources.map(({ segment }) => {
      const header = this.#segments.get(segment)?.header;
      if (header === undefined) return 0;
      return header.rows * codeStrideOf(header.dims) * (header.ivf === undefined || filter !== undefined ? 1 : probedShare);
    });
    if (costs.reduce((sum, cost) => sum + cost, 0) < this.#splitBytesMin) return [all];
    const groups = Array.from({ length: Math.min(this.slots, sources.length) }, () => ({ cost: 0, numbers: [] as number[] }));
    for (const number of all.toSorted((a, b) => (costs[b] as number) - (costs[a] as number))) {
      const group = groups.reduce((least, other) => (other.cost < least.cost ? other : least));
      group.cost += costs[number] as number;
      group.numbers.push(number);
    }
    return groups.map(({ numbers }) => numbers).filter((numbers) => numbers.length > 0);
  }
}

type Parts = Exclude<Answer, { readonly error: unknown }> | { readonly vector?: FlatHits; readonly text?: FlatHits };

function resultOf({ vector, text }: { readonly vector?: FlatHits | undefined; readonly text?: FlatHits | undefined }): SearchResult {
  return { ...(vector === undefined ? {} : { vector: hitsOf(vector) }), ...(text === undefined ? {} : { text: hitsOf(text) }) };
}

function hitsOf(flat: FlatHits): Hit[] {
  return Array.from({ length: flat.length / 3 }, (_, i) => ({
    source: flat[3 * i] as number,
    row: flat[3 * i + 1] as number,
    score: flat[3 * i + 2] as number,
  }));
}
