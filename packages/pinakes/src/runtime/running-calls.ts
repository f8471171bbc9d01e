/** The calls of a store that have not ended, so that closing it can wait for them. */
export class RunningCalls {
  readonly #promises = new Set<Promise<unknown>>();

  async run<T>(call: () => Promise<T>): Promise<T> {
    const promise = call();
    this.#promises.add(promise);
    try {
      return await promise;
    } finally {
      this.#promises.delete(promise);
    }
  }

  /** Resolves when all have ended, failed ones included. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#promises);
  }
}
