/** The pool's end of one search thread. Orders of one turn of the event loop are sent together; if the thread dies, its calls are refused. */
import { Worker } from "node:worker_threads";
import { PinakesError } from "../../domain/errors.ts";
import type { Bitmap } from "../segment/bitmap.ts";
import type { Answer, Order, SearchTask, TaskParts } from "./messages.ts";

interface Waiting {
  readonly resolve: (parts: TaskParts) => void;
  readonly reject: (error: unknown) => void;
}

export class PoolThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  readonly #orders: Order[] = [];
  /** The bitmap that the thread has for each segment. */
  readonly #dead = new Map<string, Bitmap>();
  #calls = 0;
  #ended = false;

  /** @param onEnd called once, when the thread ends without having been told to */
  constructor(script: URL, slot: number, onEnd: () => void) {
    this.#worker = new Worker(script, { workerData: { slot }, name: `search-${slot}`, execArgv: [] });
    this.#worker.on("message", (answers: readonly Answer[]) => this.#receive(answers));
    let cause: unknown;
    this.#worker.on("error", (error) => {
      cause = error;
    });
    this.#worker.on("exit", () => {
      if (this.#ended) return;
      this.#end(
        new PinakesError("UNAVAILABLE", "A search thread stopped; ask again, another takes its place.", { cause }),
      );
      onEnd();
    });
    // The process may end while the pool is idle.
    this.#worker.unref();
  }

  /** Searches that wait for their answer. */
  get waiting(): number {
    return this.#waiting.size;
  }

  order(order: Order): void {
    if (this.#orders.length === 0) queueMicrotask(() => this.#flush());
    this.#orders.push(order);
    if (order.kind === "drop") this.#dead.delete(order.id);
  }

  /** Makes sure that the thread has this bitmap when it comes to the orders that follow. */
  useDead(id: string, dead: Bitmap): void {
    if (this.#dead.get(id) === dead) return;
    this.#dead.set(id, dead);
    this.order({ kind: "dead", id, rows: dead.rows, words: dead.words });
  }

  search(task: SearchTask): Promise<TaskParts> {
    this.#calls += 1;
    const call = this.#calls;
    // While somebody waits for an answer the process must not end.
    if (this.#waiting.size === 0) this.#worker.ref();
    const answer = new Promise<TaskParts>((resolve, reject) => this.#waiting.set(call, { resolve, reject }));
    this.order({ kind: "search", call, task });
    return answer;
  }

  async close(): Promise<void> {
    this.#end(new PinakesError("UNAVAILABLE", "The search pool is closed.", { retryable: false }));
    await this.#worker.terminate();
  }

  #flush(): void {
    const orders = this.#orders.splice(0);
    if (!this.#ended) this.#worker.postMessage(orders);
  }

  #receive(answers: readonly Answer[]): void {
    for (const answer of answers) {
      const waiting = this.#waiting.get(answer.call);
      this.#waiting.delete(answer.call);
      if ("error" in answer) waiting?.reject(new PinakesError(answer.error.code, answer.error.detail));
      else waiting?.resolve(answer);
    }
    if (this.#waiting.size === 0) this.#worker.unref();
  }

  #end(error: PinakesError): void {
    this.#ended = true;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
