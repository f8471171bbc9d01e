/** Builders in threads of their own. Small work runs inline: sending it there and back would cost more. */
import { availableParallelism } from "node:os";
import { PinakesError } from "../../domain/errors.ts";
import type { BuiltDelta } from "./build-delta.ts";
import { BuildWorker, type BuildWork, type SentSource } from "./build-worker.ts";
import type { CollectionSettings } from "../segment/collection-settings.ts";
import { damagedPages, pageBytes, readHead, type EncodedFile, type FileRef } from "../segment/file-format.ts";
import { fileBytesOf, type LoadedSegment } from "../segment/load-segment.ts";
import type { MergeSource, Picks } from "./merge-segments.ts";
import type { Row } from "../row.ts";
import { inlineBuilder, type SegmentBuilder } from "./segment-builder.ts";

/** Work of about a millisecond. */
const inlineRowsMax = 16;
const inlineValuesMax = 8_192;
/** Some milliseconds of hashing. */
export const sharedVerifyBytesMin = 4 * 1024 ** 2;
/** One thread for every processor would leave none for searches. */
const threadsMaxDefault = Math.min(2, availableParallelism());

export class BuildPool implements SegmentBuilder {
  /** Started when the existing ones are busy. */
  readonly #workers = new Set<BuildWorker>();
  readonly #threadsMax: number;
  #closed = false;

  constructor(threadsMax = threadsMaxDefault) {
    this.#threadsMax = threadsMax;
  }

  async delta(collection: string, settings: CollectionSettings, rows: readonly Row[]): Promise<BuiltDelta> {
    if (rows.length <= inlineRowsMax && rows.length * settings.dims <= inlineValuesMax)
      return inlineBuilder.delta(collection, settings, rows);
    return (await this.#build({ kind: "delta", collection, settings, rows })) as BuiltDelta;
  }

  async merge(
    collection: string,
    settings: CollectionSettings,
    sources: readonly MergeSource[],
    picks: Picks,
  ): Promise<EncodedFile> {
    if (picks.row.length <= inlineRowsMax) return inlineBuilder.merge(collection, settings, sources, picks);
    const sent = sources.map(({ segment, deltaSeq }): SentSource => ({
      header: segment.header,
      buffer: segment.buffer,
      base: segment.base,
      deltaSeq,
    }));
    return this.#build({ kind: "merge", collection, settings, sources: sent, picks });
  }

  /**
   * How many pages of a loaded file do not match its page table. Uses running threads that are neither building a file nor helping: a
   * reader waits neither for a thread to start nor for a merge.
   */
  async damagedPages(loaded: LoadedSegment, ref: FileRef): Promise<number> {
    const file = fileBytesOf(loaded);
    const head = readHead(file, ref);
    const workers = [...this.#workers];
    if (
      workers.length === 0 ||
      workers.some(({ building }) => building) ||
      this.#closed ||
      ref.bytes < sharedVerifyBytesMin
    )
      return damagedPages(file, head).length;
    const pagesEach = Math.ceil(head.pages / workers.length);
    const parts = workers.map((worker, i) => {
      const from = head.headBytes + i * pagesEach * pageBytes;
      return worker.damagedPages({
        kind: "verify",
        memory: loaded.memory,
        ref,
        from,
        to: Math.min(from + pagesEach * pageBytes, ref.bytes),
      });
    });
    return (await Promise.all(parts)).reduce((sum, damaged) => sum + damaged, 0);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#workers].map((worker) => worker.close()));
  }

  async #build(work: BuildWork): Promise<EncodedFile | BuiltDelta> {
    if (this.#closed) throw new PinakesError("UNAVAILABLE", "The vector store is closed.", { retryable: false });
    return this.#idlest().build(work);
  }

  #idlest(): BuildWorker {
    const [idlest] = [...this.#workers].toSorted((a, b) => a.waiting - b.waiting);
    return idlest === undefined || (idlest.waiting > 0 && this.#workers.size < this.#threadsMax)
      ? this.#start()
      : idlest;
  }

  #start(): BuildWorker {
    const worker = new BuildWorker({
      // Only an idle one: while it helps, it builds no other file.
      helpWanted: (order) => {
        if (this.#closed || this.#threadsMax === 1) return;
        const helper = this.#idlest();
        if (helper !== worker && helper.waiting === 0) helper.help(order);
      },
      // The next job starts another one.
      stopped: () => this.#workers.delete(worker),
    });
    this.#workers.add(worker);
    return worker;
  }
}
