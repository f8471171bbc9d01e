/** A builder in a thread of its own. Small work is done at once: sending it there and back would cost more than doing it. */
import { Worker } from "node:worker_threads";
import { PinakesError, type ErrorCode } from "../../domain/errors.ts";
import type { BuiltDelta } from "./build-delta.ts";
import type { CollectionSettings } from "./collection-settings.ts";
import type { EncodedFile } from "./file-format.ts";
import type { MergeSource, Picks } from "./merge-segments.ts";
import type { Row } from "./row.ts";
import { inlineBuilder, type SegmentBuilder } from "./segment-builder.ts";
import type { SegmentHeader } from "./segment-bytes.ts";

interface SentSource {
  readonly header: SegmentHeader;
  readonly buffer: ArrayBufferLike;
  readonly base: number;
  readonly deltaSeq: number | undefined;
}

export type BuildOrder = { readonly call: number; readonly collection: string; readonly settings: CollectionSettings } & (
  | { readonly kind: "delta"; readonly rows: readonly Row[] }
  | { readonly kind: "merge"; readonly sources: readonly SentSource[]; readonly picks: Picks }
);

export type BuildAnswer =
  | { readonly call: number; readonly file: EncodedFile | BuiltDelta }
  | { readonly call: number; readonly error: { readonly code: ErrorCode; readonly detail: string } };

type Work = BuildOrder extends infer Each ? (Each extends BuildOrder ? Omit<Each, "call"> : never) : never;

/** What takes about a millisecond. */
const inlineRowsMax = 16;
const inlineValuesMax = 8_192;

export class BuildPool implements SegmentBuilder {
  #worker: Worker | undefined;
  #calls = 0;
  #closed = false;
  readonly #waiting = new Map<number, PromiseWithResolvers<EncodedFile | BuiltDelta>>();

  async delta(collection: string, settings: CollectionSettings, rows: readonly Row[]): Promise<BuiltDelta> {
    if (rows.length <= inlineRowsMax && rows.length * settings.dims <= inlineValuesMax) return inlineBuilder.delta(collection, settings, rows);
    return (await this.#call({ kind: "delta", collection, settings, rows })) as BuiltDelta;
  }

  async merge(collection: string, settings: CollectionSettings, sources: readonly MergeSource[], picks: Picks): Promise<EncodedFile> {
    if (picks.row.length <= inlineRowsMax) return inlineBuilder.merge(collection, settings, sources, picks);
    const sent = sources.map(({ segment, deltaSeq }): SentSource => ({ header: segment.header, buffer: segment.buffer, base: segment.base, deltaSeq }));
    return this.#call({ kind: "merge", collection, settings, sources: sent, picks });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#worker?.terminate();
  }

  #call(order: Work): Promise<EncodedFile | BuiltDelta> {
    if (this.#closed) return Promise.reject(new PinakesError("UNAVAILABLE", "The vector store is closed.", { retryable: false }));
    const worker = (this.#worker ??= this.#start());
    this.#calls += 1;
    const call = this.#calls;
    const waiting = Promise.withResolvers<EncodedFile | BuiltDelta>();
    this.#waiting.set(call, waiting);
    worker.ref(); // While somebody waits the process must not end.
    worker.postMessage({ ...order, call });
    return waiting.promise;
  }

  #start(): Worker {
    const script = new URL(import.meta.url.endsWith(".ts") ? "./build-thread.ts" : "./build-thread.js", import.meta.url);
    const worker = new Worker(script, { name: "pinakes vectors build" });
    worker.on("message", (answer: BuildAnswer) => this.#receive(worker, answer));
    worker.on("error", (error) => this.#stop(worker, error));
    worker.on("exit", () => this.#stop(worker, undefined));
    worker.unref();
    return worker;
  }

  #receive(worker: Worker, answer: BuildAnswer): void {
    const waiting = this.#waiting.get(answer.call);
    this.#waiting.delete(answer.call);
    if (this.#waiting.size === 0) worker.unref();
    if ("error" in answer) waiting?.reject(new PinakesError(answer.error.code, answer.error.detail));
    else waiting?.resolve(answer.file);
  }

  /** A new thread is started by the next call. */
  #stop(worker: Worker, cause: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const { reject } of this.#waiting.values())
      reject(
        new PinakesError("UNAVAILABLE", `The thread that builds vector files stopped: ${cause instanceof Error ? cause.message : "it was closed"}.`, { cause }),
      );
    this.#waiting.clear();
  }
}
