/** One thread that builds files, seen from outside: each job gets an answer or an error, also if the thread stops. */
import { PinakesError } from "../../domain/errors.ts";
import { Thread, threadScript } from "../../runtime/thread.ts";
import { receiveError, type SentError } from "../../runtime/sent-error.ts";
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

/** The file is at the beginning of the memory; checks its pages in from … to (file offsets). */
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
/** A file, or how many pages are corrupt. */
export type BuildResult = EncodedFile | BuiltDelta | number;

export type BuildAnswer =
  | { readonly call: number; readonly result: BuildResult }
  | { readonly call: number; readonly error: SentError }
  | { readonly helpWanted: HelpOrder };

export interface BuildEvents {
  readonly helpWanted: (order: HelpOrder) => void;
  readonly stopped: () => void;
}

export class BuildWorker {
  readonly #thread: Thread<BuildAnswer>;
  readonly #events: BuildEvents;
  #building = 0;

  constructor(events: BuildEvents) {
    this.#events = events;
    this.#thread = new Thread(threadScript(import.meta.url, "build-thread"), {
      name: "pinakes vectors build",
      onMessage: (answer) => this.#receive(answer),
      onExit: (cause) => {
        this.#events.stopped();
        const why = cause?.message ?? "it was closed";
        return new PinakesError("UNAVAILABLE", `The thread that builds vector files stopped: ${why}.`, { cause });
      },
    });
  }

  /** How many jobs it has not answered. */
  get waiting(): number {
    return this.#thread.waiting;
  }

  /** Whether it has a file to build, which takes long. */
  get building(): boolean {
    return this.#building > 0;
  }

  async build(work: BuildWork): Promise<EncodedFile | BuiltDelta> {
    this.#building += 1;
    try {
      return await this.#call<EncodedFile | BuiltDelta>(work);
    } finally {
      this.#building -= 1;
    }
  }

  async damagedPages(work: VerifyWork): Promise<number> {
    return this.#call<number>(work);
  }

  help(order: HelpOrder): void {
    this.#thread.post({ help: order } satisfies BuildOrder);
  }

  async close(): Promise<void> {
    await this.#thread.terminate();
  }

  #call<Result extends BuildResult>(work: BuildWork | VerifyWork): Promise<Result> {
    return this.#thread.call<Result>((call) => ({ call, work }) satisfies BuildOrder);
  }

  #receive(answer: BuildAnswer): void {
    if ("helpWanted" in answer) return this.#events.helpWanted(answer.helpWanted);
    if ("error" in answer) return this.#thread.reject(answer.call, receiveError(answer.error));
    if (typeof answer.result === "object") accountShared(answer.result.bytes.buffer);
    this.#thread.resolve(answer.call, answer.result);
  }
}
