/** The pool's end of one search thread. Messages of one turn of the event loop are sent together; if the thread dies, its calls fail. */
import { PinakesError } from "../../domain/errors.ts";
import { receiveError } from "../../runtime/sent-error.ts";
import { Thread } from "../../runtime/thread.ts";
import type { Bitmap } from "../segment/bitmap.ts";
import type { Answer, Order, SearchTask, TaskInput } from "./messages.ts";

export class PoolThread {
  readonly #thread: Thread<readonly Answer[]>;
  readonly #orders: Order[] = [];
  /** The current bitmap of the thread for each segment. */
  readonly #dead = new Map<string, Bitmap>();

  /** @param onEnd called once, when the thread ends without having been asked to */
  constructor(script: URL, slot: number, onEnd: () => void) {
    this.#thread = new Thread(script, {
      workerData: { slot },
      name: `search-${slot}`,
      onMessage: (answers) => this.#receive(answers),
      onExit: (cause) => {
        queueMicrotask(onEnd); // After its calls have failed.
        return new PinakesError("UNAVAILABLE", "A search thread stopped; try again, another replaces it.", {
          cause,
        });
      },
    });
  }

  /** Searches that wait for their answer. */
  get waiting(): number {
    return this.#thread.waiting;
  }

  order(order: Order): void {
    if (this.#orders.length === 0) queueMicrotask(() => this.#flush());
    this.#orders.push(order);
    if (order.kind === "drop") this.#dead.delete(order.id);
  }

  /** Makes sure that the thread has this bitmap for the following orders. */
  useDead(id: string, dead: Bitmap): void {
    if (this.#dead.get(id) === dead) return;
    this.#dead.set(id, dead);
    this.order({ kind: "dead", id, rows: dead.rows, words: dead.words });
  }

  async search(task: SearchTask): Promise<TaskInput> {
    const { call, promise } = this.#thread.open<TaskInput>();
    this.order({ kind: "search", call, task });
    return promise;
  }

  async close(): Promise<void> {
    this.#thread.refuseAll(new PinakesError("UNAVAILABLE", "The search pool is closed.", { retryable: false }));
    await this.#thread.terminate();
  }

  #flush(): void {
    const orders = this.#orders.splice(0);
    if (this.#thread.ended === undefined) this.#thread.post(orders);
  }

  #receive(answers: readonly Answer[]): void {
    for (const answer of answers) {
      if ("error" in answer) this.#thread.reject(answer.call, receiveError(answer.error));
      else this.#thread.resolve(answer.call, answer);
    }
  }
}
