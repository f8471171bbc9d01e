/** One thread that builds files, seen from outside: each piece of work gets an answer or an error, also when the thread stops. */
import { Worker } from "node:worker_threads";
import { PinakesError, type ErrorCode } from "../../domain/errors.ts";
import type { BuiltDelta } from "./build-delta.ts";
import type { CollectionSettings } from "../segment/collection-settings.ts";
import { accountShared, type WasmMemory } from "../kernels/kernels.ts";
import type { EncodedFile, FileRef } from "../segment/file-format.ts";
import type { Picks } from "./merge-segments.ts";
import type { Row } from "../row.ts";
import type { SegmentHeader } from "../segment-bytes.ts";
import type { HelpOrder } from "../segment/shared-rows.ts";

export interface SentSource {
  readonly header: SegmentHeader;
  readonly buffer: ArrayBufferLike;
  readonly base: number;
  readonly deltaSeq: number | undefined;
}

export type BuildWork = { readonly collection: string; readonly settings: CollectionSettings } & (
  | { readonly kind: "delta"; readonly rows: readonly Row[] }
  | { readonly kind: "merge"; readonly sources: readonly SentSource[]; readonly picks: Picks }
);

/** The file lies at the beginning of the memory; its pages in from … to (file offsets) are looked at. */
export interface VerifyWork {
  readonly kind: "verify";
  readonly memory: WasmMemory;
  readonly ref: FileRef;
  readonly from: number;
  readonly to: number;
}

export type BuildOrder =
  | { readonly call: number; readonly work: BuildWork | VerifyWork }
  | { readonly help: HelpOrder };
/** A file, or how many pages are damaged. */
export type BuildResult = EncodedFile | BuiltDelta | number;

export type BuildAnswer =
  | { readonly call: number; readonly result: BuildResult }
  | { readonly call: number; readonly error: { readonly code: ErrorCode; readonly detail: string } }
  | { readonly helpWanted: HelpOrder };

export interface BuildEvents {
  readonly helpWanted: (order: HelpOrder) => void;
  readonly stopped: () => void;
}

export class BuildWorker {
  readonly #worker: Worker;
  readonly #events: BuildEvents;
  readonly #waiting = new Map<
    number,
    PromiseWithResolvers<BuildResult> & { readonly kind: (BuildWork | VerifyWork)["kind"] }
  >();
  #calls = 0;

  constructor(events: BuildEvents) {
    this.#events = events;
    const script = new URL(
      import.meta.url.endsWith(".ts") ? "./build-thread.ts" : "./build-thread.js",
      import.meta.url,
    );
    this.#worker = new Worker(script, { name: "pinakes vectors build", execArgv: [] });
    this.#worker.on("message", (answer: BuildAnswer) => this.#receive(answer));
    this.#worker.on("error", (error) => this.#stop(error));
    this.#worker.on("exit", () => this.#stop(undefined));
    this.#worker.unref();
  }

  /** How much was given to it and not answered. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Whether it has a file to build, which takes long. */
  get building(): boolean {
    return this.#waiting.values().some(({ kind }) => kind !== "verify");
  }

  async build(work: BuildWork): Promise<EncodedFile | BuiltDelta> {
    return (await this.#call(work)) as EncodedFile | BuiltDelta;
  }

  async damagedPages(work: VerifyWork): Promise<number> {
    return (await this.#call(work)) as number;
  }

  help(order: HelpOrder): void {
    this.#post({ help: order });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #call(work: BuildWork | VerifyWork): Promise<BuildResult> {
    this.#calls += 1;
    const call = this.#calls;
    const waiting = { ...Promise.withResolvers<BuildResult>(), kind: work.kind };
    this.#waiting.set(call, waiting);
    this.#worker.ref(); // While somebody waits the process must not end.
    this.#post({ call, work });
    return waiting.promise;
  }

  #post(order: BuildOrder): void {
    this.#worker.postMessage(order);
  }

  #receive(answer: BuildAnswer): void {
    if ("helpWanted" in answer) return this.#events.helpWanted(answer.helpWanted);
    const waiting = this.#waiting.get(answer.call);
    this.#waiting.delete(answer.call);
    if (this.#waiting.size === 0) this.#worker.unref();
    if ("error" in answer) waiting?.reject(new PinakesError(answer.error.code, answer.error.detail));
    else {
      if (typeof answer.result === "object") accountShared(answer.result.bytes.buffer);
      waiting?.resolve(answer.result);
    }
  }

  #stop(cause: unknown): void {
    this.#events.stopped();
    for (const { reject } of this.#waiting.values())
      reject(
        new PinakesError(
          "UNAVAILABLE",
          `The thread that builds vector files stopped: ${cause instanceof Error ? cause.message : "it was closed"}.`,
          { cause },
        ),
      );
    this.#waiting.clear();
  }
}
