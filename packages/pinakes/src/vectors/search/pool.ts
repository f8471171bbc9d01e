/**
 * Search threads over shared segments. The owner of the pool loads a segment once, and every thread searches it in place.
 *
 * Invariants: a thread has every segment that the pool has, before any search that names it; a search ends with an answer or an error.
 */
import { availableParallelism } from "node:os";
import { PinakesError } from "../../domain/errors.ts";
import type { Filter } from "../../domain/filter.ts";
import { threadScript } from "../../runtime/thread.ts";
import { equalRows, evaluateFilter, matchesAtMost } from "../filter/evaluate.ts";
import { codeStrideOf } from "../kernels/context.ts";
import type { Bitmap } from "../segment/bitmap.ts";
import type { LoadedSegment } from "../segment/load-segment.ts";
import { noTerms, type TermCounts } from "../text/statistics.ts";
import type { FlatHits, SearchTask, TaskInput, TaskSource } from "./messages.ts";
import { TurnBudget } from "./turn-budget.ts";
import { PoolThread } from "./pool-thread.ts";
import { bestOf, flatHits, runTask } from "./run-task.ts";
import { effortOf, exactRowsMax, recallDefault, SegmentSearch } from "./search-segment.ts";

const splitBytesMinDefault = 32 * 1024 ** 2;
/** Less than half a millisecond. Measured: waking a sleeping thread costs 100 to 300 µs by itself, on two processors. */
const inlineBytesMaxDefault = 6 * 1024 ** 2;
const inlineHitsMax = 100;
/** The cost of a keyword search, in bytes that a vector search reads in the same time: frequent words in 50,000 rows take 0.3 ms. */
const textBytesPerRow = 100;
export interface SearchRequest {
  /** At least one part, `vector` or `text`, is required. */
  readonly sources: readonly SearchSource[];
  readonly vector?: Float32Array | undefined;
  readonly text?: string | undefined;
  /** How many hits of each part. */
  readonly k: number;
  /** The average share of the true best k by vector to find. */
  readonly recall?: number | undefined;
  readonly filter?: Filter | undefined;
  /** Rows of other collections that contribute to the weights of the words of `text`: see `count`. */
  readonly elsewhere?: TermCounts | undefined;
}

export interface SearchSource {
  /** As given to `load`. */
  readonly segment: string;
  /** Excluded rows. Keep the object while it is the same set: threads cache it. */
  readonly dead?: Bitmap | undefined;
  /** Only these lists are searched by vector: those whose bytes are loaded. */
  readonly lists?: Uint32Array | undefined;
}

/** `source` is the index in the request's `sources`. */
export interface Hit {
  readonly source: number;
  readonly row: number;
  readonly score: number;
}

/** For each requested part: the best first; ties by source, then row. */
export interface SearchResult {
  readonly vector?: readonly Hit[];
  readonly text?: readonly Hit[];
}

export interface PoolOptions {
  readonly threads?: number | undefined;
  /** A vector search that reads more than this is spread over threads, if it has several segments. */
  readonly splitBytesMin?: number | undefined;
  /** A vector search that reads less than this runs in the caller's thread, which sending it would keep as busy. */
  readonly inlineBytesMax?: number | undefined;
  /** For tests: the code of the threads. */
  readonly script?: URL | undefined;
}

export class SearchPool {
  /** The number of slots for `loadSegment`: one for each thread and one for the caller's. */
  readonly slots: number;
  readonly #threadCount: number;
  readonly #script: URL;
  readonly #splitBytesMin: number;
  readonly #inlineBytesMax: number;
  /** A crashed thread's slot stays empty until the next search, so that one that cannot start is not restarted endlessly. */
  readonly #threads: (PoolThread | undefined)[];
  readonly #segments = new Map<string, LoadedSegment>();
  /** For searches in the caller's thread, created at the first of them. */
  readonly #own = new Map<string, SegmentSearch>();
  /** The budget of the caller's thread per turn of its event loop. */
  readonly #turn: TurnBudget;
  #closed = false;

  constructor(options: PoolOptions = {}) {
    this.#threadCount = Math.max(1, options.threads ?? availableParallelism());
    this.slots = this.#threadCount + 1;
    this.#inlineBytesMax = options.inlineBytesMax ?? inlineBytesMaxDefault;
    this.#turn = new TurnBudget(this.#inlineBytesMax);
    this.#splitBytesMin = options.splitBytesMin ?? splitBytesMinDefault;
    this.#script = options.script ?? threadScript(import.meta.url, "search-thread");
    // Started by the first search that needs them: a process that never searches has none.
    this.#threads = Array.from({ length: this.#threadCount }, () => undefined);
  }

  /** From now on searches can name this segment. Bytes that `loaded` lacks must arrive before a search reads them. */
  load(id: string, loaded: LoadedSegment): void {
    if (loaded.slots < this.slots)
      throw new PinakesError("INTERNAL", `Segment ${id} has ${loaded.slots} slots; load it with pool.slots.`);
    this.#segments.set(id, loaded);
    this.#own.delete(id);
    for (const thread of this.#threads) thread?.order({ kind: "load", id, loaded });
  }

  /** Running searches that name it are not affected; its memory is released when the last of them ends. */
  drop(id: string): void {
    this.#segments.delete(id);
    this.#own.delete(id);
    for (const thread of this.#threads) thread?.order({ kind: "drop", id });
  }

  has(id: string): boolean {
    return this.#segments.has(id);
  }

  async search(request: SearchRequest): Promise<SearchResult> {
    this.#requireOpen();
    const costs = request.sources.map(({ segment }) => this.#bytesRead(segment, request));
    const cost = costs.reduce((sum, bytes) => sum + bytes, 0);
    const { vector, text, k } = request;
    if (k <= inlineHitsMax && cost < this.#inlineBytesMax && (await this.#turn.take(cost))) {
      return {
        ...(vector === undefined ? {} : { vector: hitsOf(this.#inline(request, vector)) }),
        ...(text === undefined ? {} : { text: hitsOf(this.#inlineWords({ ...request, text }).text ?? []) }),
      };
    }
    const groups =
      cost < this.#splitBytesMin || vector === undefined ? [request.sources.map((_, i) => i)] : this.#groups(costs);
    if (groups.length === 1) return resultOf(await this.#ask(request, groups[0] as number[], { vector, text }));
    const [words, ...vectors] = await Promise.all([
      request.text === undefined
        ? undefined
        : this.#ask(
            request,
            request.sources.map((_, i) => i),
            { text },
          ),
      ...groups.map((group) => this.#ask(request, group, { vector })),
    ]);
    const lists = vectors.map((answer) => answer?.vector ?? []);
    return resultOf({ vector: bestOf(lists, request.k), ...(words?.text === undefined ? {} : { text: words.text }) });
  }

  /** The counts of a search for this text in these sources, for a search of other sources. */
  async count(sources: readonly SearchSource[], text: string): Promise<TermCounts> {
    this.#requireOpen();
    const cost = sources.reduce((sum, { segment }) => sum + this.#bytesRead(segment, { text }), 0);
    const inline = cost < this.#inlineBytesMax && (await this.#turn.take(cost));
    const request = { sources, k: 0 };
    const all = sources.map((_, i) => i);
    const { counts } = inline
      ? this.#inlineWords({ ...request, counted: text })
      : await this.#ask(request, all, { counted: text });
    return counts ?? noTerms;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#threads.map(async (thread) => thread?.close()));
  }

  #requireOpen(): void {
    if (this.#closed) throw new PinakesError("UNAVAILABLE", "The search pool is closed.", { retryable: false });
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
    for (let slot = 0; slot < this.#threadCount; slot += 1) {
      const thread = (this.#threads[slot] ??= this.#start(slot));
      if (idlest === undefined || thread.waiting < idlest.waiting) idlest = thread;
    }
    return idlest as PoolThread;
  }

  async #ask(request: SearchRequest, numbers: readonly number[], asked: Asked): Promise<TaskInput> {
    const thread = this.#idlest();
    const sources = numbers.map((number): TaskSource => {
      const { segment, dead, lists } = request.sources[number] as SearchSource;
      if (dead !== undefined) thread.useDead(segment, dead);
      return lists === undefined
        ? { id: segment, number, dead: dead !== undefined }
        : { id: segment, number, dead: dead !== undefined, lists };
    });
    const { k, recall, filter, elsewhere } = request;
    const task: SearchTask = {
      sources,
      k,
      recall,
      filter,
      elsewhere: asked.text === undefined ? undefined : elsewhere,
      ...asked,
    };
    return thread.search(task);
  }

  #loaded(id: string): LoadedSegment {
    const loaded = this.#segments.get(id);
    if (loaded === undefined) throw new PinakesError("INTERNAL", `Segment ${id} was not loaded into the search pool.`);
    return loaded;
  }

  /** Roughly how much of a segment a vector search reads. */
  #bytesRead(segment: string, { recall, filter, vector, text }: Omit<SearchRequest, "sources" | "k">): number {
    const { rows, dims, ivf } = this.#loaded(segment).header;
    const words = text === undefined ? 0 : rows * textBytesPerRow;
    if (vector === undefined) return words;
    if (filter !== undefined) {
      const matches = this.#inlineBytesMax === 0 ? rows : matchesAtMost(this.#ownSearch(segment).segment, filter);
      return words + matches * codeStrideOf(dims);
    }
    const effort = ivf === undefined ? undefined : effortOf(ivf, recall ?? recallDefault);
    const read = ivf === undefined || effort === undefined ? rows : ivf.lists + (effort.probes * rows) / ivf.lists;
    return words + read * codeStrideOf(dims);
  }

  #inlineWords({
    sources,
    k,
    filter,
    elsewhere,
    text,
    counted,
  }: Omit<SearchRequest, "vector" | "recall"> & Asked): TaskInput {
    const named = sources.map(({ segment, dead }, number) => ({ id: segment, number, dead: dead !== undefined }));
    const deadOf = new Map(sources.map(({ segment, dead }) => [segment, dead]));
    return runTask({ sources: named, k, filter, elsewhere, text, counted }, (id) => ({
      search: this.#ownSearch(id),
      dead: deadOf.get(id),
    }));
  }

  #ownSearch(segment: string): SegmentSearch {
    let search = this.#own.get(segment);
    if (search === undefined)
      this.#own.set(segment, (search = new SegmentSearch(this.#loaded(segment), this.#threadCount)));
    return search;
  }

  #inline({ sources, k, recall, filter }: SearchRequest, vector: Float32Array): FlatHits {
    const flat = sources.map(({ segment, dead, lists }, number) => {
      const search = this.#ownSearch(segment);
      const equal = filter === undefined || dead !== undefined ? undefined : equalRows(search.segment, filter);
      // Many rows are found faster by lists.
      const given = equal !== undefined && equal.count <= exactRowsMax ? equal : undefined;
      const allowed = filter === undefined || given !== undefined ? undefined : evaluateFilter(search.segment, filter);
      return flatHits(number, search.search({ vector, k, recall, dead, allowed, given, lists }));
    });
    return flat.length === 1 ? (flat[0] as FlatHits) : bestOf(flat, k);
  }

  /** As many groups as threads: the largest sources first, each to the smallest group. */
  #groups(costs: readonly number[]): number[][] {
    const groups = Array.from({ length: Math.min(this.#threadCount, costs.length) }, () => ({
      cost: 0,
      numbers: [] as number[],
    }));
    for (const number of [...costs.keys()].sort((a, b) => (costs[b] as number) - (costs[a] as number))) {
      const group = groups.reduce((least, other) => (other.cost < least.cost ? other : least));
      group.cost += costs[number] as number;
      group.numbers.push(number);
    }
    return groups.map(({ numbers }) => numbers).filter((numbers) => numbers.length > 0);
  }
}

/** The part of a task for some of its sources. */
type Asked = Pick<SearchTask, "vector" | "text" | "counted">;

function resultOf({ vector, text }: TaskInput): SearchResult {
  return {
    ...(vector === undefined ? {} : { vector: hitsOf(vector) }),
    ...(text === undefined ? {} : { text: hitsOf(text) }),
  };
}

function hitsOf(flat: FlatHits): Hit[] {
  const hits: Hit[] = [];
  for (let i = 0; i < flat.length; i += 3)
    hits.push({ source: flat[i] as number, row: flat[i + 1] as number, score: flat[i + 2] as number });
  return hits;
}
