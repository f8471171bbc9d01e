/**
 * So much work, and no more, in one turn of the event loop. Small searches are done by the caller's thread, because waking another one
 * costs more than they do; but a program that awaits one after the other would never let its timers and sockets have a turn, and many
 * at once would keep one processor busy while others are idle.
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

  /** True: do it now, in this turn or the next one. False: somebody waits already, let another thread do it. */
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

  /** Resolves when the event loop has been round. */
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
