/** The pool's end of one thread. It works on one text at a time. */
import { PinakesError } from "../../../domain/errors.ts";
import { Thread } from "../../../runtime/thread.ts";
import { receiveError } from "../../../runtime/sent-error.ts";
import { forgetGuard, guardExit, guardState } from "./exit-guard.ts";
import type { Answer, Order, ThreadData } from "./messages.ts";

/** A thread that is asked to end first finishes its text, which takes milliseconds; after this it is abandoned. */
const closeMsMax = 5_000;

export type Outcome =
  | { readonly kind: "vector"; readonly vector: Float32Array }
  | { readonly kind: "error"; readonly error: PinakesError }
  /** The model cannot be loaded: no text can be embedded. */
  | { readonly kind: "failed"; readonly error: PinakesError }
  /** The thread exited without an error. */
  | { readonly kind: "stopped"; readonly error: PinakesError };

export class ModelWorker {
  readonly #thread: Thread<Answer>;
  readonly #exited = Promise.withResolvers<void>();
  #call: number | undefined;

  /** @param onExit called once, when the thread has ended for whatever reason */
  constructor(script: URL, data: ThreadData, onExit: () => void) {
    const guard = guardState();
    // onnxruntime reports to its vendor unless this is set, in the environment of the process itself: a thread's own does not reach it.
    process.env["ORT_DISABLE_TELEMETRY"] = "1";
    this.#thread = new Thread(script, {
      workerData: { ...data, guard },
      name: "pinakes embedder",
      onMessage: (answer) => this.#receive(answer),
      onExit: (cause) => {
        forgetGuard(guard);
        onExit();
        this.#call = undefined;
        this.#exited.resolve();
        const detail = `A thread of the local embedding model stopped${cause === undefined ? "" : ` (${cause.message})`}. Try again; another thread replaces it.`;
        return new PinakesError("UNAVAILABLE", detail, { cause });
      },
    });
    guardExit(guard);
  }

  get busy(): boolean {
    return this.#call !== undefined;
  }

  async embed(text: string): Promise<Outcome> {
    try {
      const { call, promise } = this.#thread.open<Outcome>();
      this.#call = call;
      this.#thread.post({ text } satisfies Order);
      return await promise;
    } catch (error) {
      if (!PinakesError.isInstance(error)) throw error;
      return { kind: "stopped", error };
    }
  }

  async close(): Promise<void> {
    if (this.#thread.ended !== undefined) return;
    // An open call that only the end of the thread answers, so that the process waits for it.
    const { call, promise } = this.#thread.open<void>();
    promise.catch(() => undefined);
    this.#thread.post("close" satisfies Order);
    // Never terminated: see exit-guard.ts.
    const late = setTimeout(() => {
      this.#thread.resolve(call, undefined);
      this.#exited.resolve();
    }, closeMsMax);
    await this.#exited.promise;
    clearTimeout(late);
  }

  #receive(answer: Answer): void {
    if (this.#call === undefined) return;
    const call = this.#call;
    this.#call = undefined;
    this.#thread.resolve(
      call,
      answer.kind === "vector" ? answer : { kind: answer.kind, error: receiveError(answer.error) },
    );
  }
}
