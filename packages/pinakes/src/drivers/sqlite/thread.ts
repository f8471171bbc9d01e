/** A worker thread as a function call: each call gets one answer; if the thread dies, every open call is refused. */
import { Worker } from "node:worker_threads";
import { PinakesError } from "../../domain/errors.ts";
import { receiveError, type Reply, type WriterReply } from "./messages.ts";

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

export class Thread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #calls = 0;
  #dead: PinakesError | undefined;

  constructor(script: URL, file: string) {
    this.#worker = new Worker(script, {
      workerData: { file },
      name: script.pathname.split("/").at(-1) ?? "sqlite",
      execArgv: [],
    });
    this.#worker.on("message", (message: Reply | WriterReply) => this.#receive(message));
    this.#worker.on("error", (error) =>
      this.#die(
        new PinakesError(
          "UNAVAILABLE",
          `The SQLite thread stopped: ${String(error)}. The outcome of writes in flight is unknown; repeating them with a condition is safe.`,
          { cause: error },
        ),
      ),
    );
    this.#worker.on("exit", () =>
      this.#die(new PinakesError("UNAVAILABLE", "The store is closed.", { retryable: false })),
    );
    // The process may end while the store is open and idle: everything acknowledged is on disk.
    this.#worker.unref();
  }

  /** Calls that wait for their answer. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** A call whose message is sent at once. */
  call<T>(message: (call: number) => unknown): Promise<T> {
    const { call, promise } = this.open<T>();
    try {
      this.#worker.postMessage(message(call));
    } catch (error) {
      this.refuse(call, error);
    }
    return promise;
  }

  /** A call whose message the caller sends itself, together with others, through `post`. */
  open<T>(): { call: number; promise: Promise<T> } {
    if (this.#dead !== undefined) throw this.#dead;
    this.#calls += 1;
    const call = this.#calls;
    // While somebody waits for an answer the process must not end.
    if (this.#waiting.size === 0) this.#worker.ref();
    const promise = new Promise<T>((resolve, reject) => this.#waiting.set(call, { resolve, reject }));
    return { call, promise };
  }

  /** A call whose message could not be sent. */
  refuse(call: number, error: unknown): void {
    this.#take(call)?.reject(error);
  }

  post(message: unknown): void {
    this.#worker.postMessage(message);
  }

  #receive(message: Reply | WriterReply): void {
    switch (message.kind) {
      case "committed":
        for (const call of message.plain) this.#take(call)?.resolve(undefined as never);
        for (const { call, outcome } of message.outcomes) this.#take(call)?.resolve(outcome as never);
        return;
      case "answer":
        this.#take(message.call)?.resolve(message.value as never);
        return;
      case "error":
        this.#take(message.call)?.reject(receiveError(message.error));
        return;
    }
  }

  #take(call: number): Waiting | undefined {
    const waiting = this.#waiting.get(call);
    this.#waiting.delete(call);
    if (this.#waiting.size === 0) this.#worker.unref();
    return waiting;
  }

  #die(error: PinakesError): void {
    this.#dead ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.#dead);
    this.#waiting.clear();
  }
}
