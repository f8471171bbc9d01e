/**
 * A budget of work per turn of the event loop. Small searches run in the caller's thread, because waking another one costs more than they
 * do; but a program that awaits one after the other would starve its timers and sockets, and many at once would keep one processor busy
 * while others are idle.
 */
export class TurnBudget {
  readonly #perTurn: number;
  #left: number;
  #next: Promise<void> | undefined;
  #waiting = false;

  constructor(perTurn: number) {
    this.#perTurn = perTurn;
    this.#left = perTurn;
  }

  /** True: run it now, in this turn or the next one. False: another task waits already, let another thread run it. */
  async take(cost: number): Promise<boolean> {
    if (cost <= this.#left) return this.#spend(cost);
    if (this.#waiting) return false;
    this.#waiting = true;
    await this.#turn();
    this.#waiting = false;
    return this.#spend(cost);
  }

  #spend(cost: number): true {
    this.#left -= cost;
    void this.#turn();
    return true;
  }

  /** Resolves in the next turn of the event loop. */
  #turn(): Promise<void> {
    this.#next ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#next = undefined;
        this.#left = this.#perTurn;
        resolve();
      });
    });
    return this.#next;
  }
}
