/**
 * A worker thread as a function: each call waits for one answer, and is refused when the thread ends before. Who starts the thread says what
 * its messages mean, and decides what is sent when.
 *
 * The process may end while nobody waits for an answer.
 */
import { Worker, type Transferable, type WorkerOptions } from "node:worker_threads";
import type { PinakesError } from "../domain/errors.ts";

export interface ThreadOptions<Message> extends Pick<WorkerOptions, "workerData" | "resourceLimits" | "env"> {
  readonly name: string;
  readonly onMessage: (message: Message) => void;
  /** Called once, when the thread has ended without `refuseAll`; its result is what open calls are refused with. */
  readonly onExit: (cause: Error | undefined) => PinakesError;
}

export class Thread<Message> {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, PromiseWithResolvers<never>>();
  #calls = 0;
  #ended: PinakesError | undefined;

  constructor(script: URL, { onMessage, onExit, ...options }: ThreadOptions<Message>) {
    // The flags of this process do not concern it.
    this.#worker = new Worker(script, { ...options, execArgv: [] });
    this.#worker.on("message", onMessage);
    let cause: Error | undefined;
    this.#worker.on("error", (error: unknown) => {
      cause = error instanceof Error ? error : new Error(String(error));
    });
    this.#worker.on("exit", () => {
      if (this.#ended === undefined) this.refuseAll(onExit(cause));
    });
    this.#worker.unref();
  }

  /** Calls that wait for their answer. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Why it takes no calls any more. */
  get ended(): PinakesError | undefined {
    return this.#ended;
  }

  /** A call whose message is sent at once. */
  call<Result>(message: (call: number) => unknown, transfer: readonly Transferable[] = []): Promise<Result> {
    const { call, promise } = this.open<Result>();
    try {
      this.post(message(call), transfer);
    } catch (error) {
      this.reject(call, error);
    }
    return promise;
  }

  /** A call whose message the caller sends itself, perhaps together with others, through `post`. */
  open<Result>(): { readonly call: number; readonly promise: Promise<Result> } {
    if (this.#ended !== undefined) throw this.#ended;
    this.#calls += 1;
    // While somebody waits for an answer the process must not end.
    if (this.#waiting.size === 0) this.#worker.ref();
    const waiting = Promise.withResolvers<Result>();
    this.#waiting.set(this.#calls, waiting as unknown as PromiseWithResolvers<never>);
    return { call: this.#calls, promise: waiting.promise };
  }

  post(message: unknown, transfer: readonly Transferable[] = []): void {
    this.#worker.postMessage(message, transfer);
  }

  /** The answer of a call; one that waits no more is left out. */
  resolve(call: number, result: unknown): void {
    this.#take(call)?.resolve(result as never);
  }

  reject(call: number, error: unknown): void {
    this.#take(call)?.reject(error);
  }

  /** Every open call is refused, and so is every further one. */
  refuseAll(error: PinakesError): void {
    this.#ended ??= error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    this.#worker.unref();
  }

  /** Stops it where it is. */
  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  heapStatistics(): ReturnType<Worker["getHeapStatistics"]> {
    return this.#worker.getHeapStatistics();
  }

  #take(call: number): PromiseWithResolvers<never> | undefined {
    const waiting = this.#waiting.get(call);
    this.#waiting.delete(call);
    if (this.#waiting.size === 0) this.#worker.unref();
    return waiting;
  }
}

/** The script of a thread beside the module: TypeScript in the repository, JavaScript in the published package. */
export function threadScript(moduleUrl: string, name: string): URL {
  return new URL(`./${name}${moduleUrl.endsWith(".ts") ? ".ts" : ".js"}`, moduleUrl);
}
