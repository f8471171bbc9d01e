/** The pool's end of one thread. It works on one text at a time. */
import { Worker } from "node:worker_threads";
import { PinakesError } from "../../../domain/errors.ts";
import { forgetGuard, guardExit, guardState } from "./exit-guard.ts";
import { receiveError, type Answer, type Order, type ThreadData } from "./messages.ts";

/** A thread that is asked to end first finishes its text, which takes milliseconds; past this it is left to itself. */
const closeMsMax = 5_000;

export type Outcome =
  | { readonly kind: "vector"; readonly vector: Float32Array }
  | { readonly kind: "error"; readonly error: PinakesError }
  /** The model cannot be loaded: no text can be embedded. */
  | { readonly kind: "failed"; readonly error: PinakesError }
  /** The thread stopped without a word. */
  | { readonly kind: "stopped"; readonly error: PinakesError };

export class ModelWorker {
  readonly #worker: Worker;
  readonly #exited = Promise.withResolvers<void>();
  #waiting: ((outcome: Outcome) => void) | undefined;

  /** @param onExit called once, when the thread has ended for whatever reason */
  constructor(script: URL, data: ThreadData, onExit: () => void) {
    const guard = guardState();
    // onnxruntime reports to its makers unless this is set, in the environment of the process itself: a thread's own does not reach it.
    process.env["ORT_DISABLE_TELEMETRY"] = "1";
    this.#worker = new Worker(script, { workerData: { ...data, guard }, name: "pinakes embedder", execArgv: [] });
    guardExit(guard);
    let cause: unknown;
    this.#worker.on("message", (answer: Answer) => this.#receive(answer));
    this.#worker.on("error", (error) => {
      cause = error;
    });
    this.#worker.on("exit", () => {
      forgetGuard(guard);
      onExit();
      const detail = `A thread of the local embedding model stopped${cause instanceof Error ? ` (${cause.message})` : ""}. Try again, another takes its place.`;
      this.#settle({ kind: "stopped", error: new PinakesError("UNAVAILABLE", detail, { cause }) });
      this.#exited.resolve();
    });
    // The process may end while nobody waits.
    this.#worker.unref();
  }

  get busy(): boolean {
    return this.#waiting !== undefined;
  }

  embed(text: string): Promise<Outcome> {
    this.#worker.ref();
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    this.#waiting = resolve;
    this.#send({ text });
    return promise;
  }

  async close(): Promise<void> {
    this.#worker.ref();
    this.#send("close");
    // Never terminated: see exit-guard.ts.
    const late = setTimeout(() => {
      this.#worker.unref();
      this.#exited.resolve();
    }, closeMsMax);
    await this.#exited.promise;
    clearTimeout(late);
  }

  #send(order: Order): void {
    this.#worker.postMessage(order);
  }

  #receive(answer: Answer): void {
    this.#settle(answer.kind === "vector" ? answer : { kind: answer.kind, error: receiveError(answer.error) });
  }

  #settle(outcome: Outcome): void {
    this.#worker.unref();
    const resolve = this.#waiting;
    this.#waiting = undefined;
    resolve?.(outcome);
  }
}
