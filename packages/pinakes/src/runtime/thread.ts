/**
 * A worker thread as a function: each call waits for one answer, and fails if the thread ends first. The caller that starts the thread
 * defines what its messages mean, and decides what is sent when.
 *
 * The thread does not keep the process alive while no call is open.
 */
import { Worker, type Transferable, type WorkerOptions } from "node:worker_threads";
import type { PinakesError } from "../domain/errors.ts";

export interface ThreadOptions<Message> extends Pick<WorkerOptions, "workerData" | "resourceLimits" | "env"> {
  readonly name: string;
  readonly onMessage: (message: Message) => void;
  /** Called once, when the thread ended without `refuseAll`; open calls fail with its result. */
  readonly onExit: (cause: Error | undefined) => PinakesError;
}

export class Thread<Message> {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, PromiseWithResolvers<never>>();
  #calls = 0;
  #ended: PinakesError | undefined;

  constructor(script: URL, { onMessage, onExit, ...options }: ThreadOptions<Message>) {
    // The flags of this process do not apply to it.
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

  /** Open calls. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Why it accepts no more calls. */
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

  /** A call whose message the caller sends itself through `post`, perhaps together with others. */
  open<Result>(): { readonly call: number; readonly promise: Promise<Result> } {
    if (this.#ended !== undefined) throw this.#ended;
    this.#calls += 1;
    // The process must stay alive while a call is open.
    if (this.#waiting.size === 0) this.#worker.ref();
    const waiting = Promise.withResolvers<Result>();
    this.#waiting.set(this.#calls, waiting as unknown as PromiseWithResolvers<never>);
    return { call: this.#calls, promise: waiting.promise };
  }

  post(message: unknown, transfer: readonly Transferable[] = []): void {
    this.#worker.postMessage(message, transfer);
  }

  /** The answer of a call; ignored if the call is no longer open. */
  resolve(call: number, result: unknown): void {
    this.#take(call)?.resolve(result as never);
  }

  reject(call: number, error: unknown): void {
    this.#take(call)?.reject(error);
  }

  /** Fails every open call and every further one. */
  refuseAll(error: PinakesError): void {
    this.#ended ??= error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    this.#worker.unref();
  }

  /** Terminates it immediately. */
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
