/**
 * Work that shares a key runs sequentially, in call order; everything else runs concurrently. Within one process this avoids conflicts
 * between writers, and locks that would each hold a connection while waiting. Between processes, conditional writes decide.
 *
 * All keys are taken together and synchronously, so two pieces of work cannot deadlock.
 */
import { PinakesError } from "../domain/errors.ts";

const waitingMax = 10_000;

export class KeyedQueue {
  readonly #tails = new Map<string, Promise<void>>();
  #waiting = 0;

  async run<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    if (this.#waiting >= waitingMax)
      throw new PinakesError(
        "UNAVAILABLE",
        `More than ${waitingMax} writes wait their turn in this process. Try again later.`,
      );
    this.#waiting += 1;
    const before = Promise.all(keys.flatMap((key) => this.#tails.get(key) ?? []));
    const result = before.then(work);
    const leave = (): void => this.#leave(keys, tail);
    const tail: Promise<void> = result.then(leave, leave);
    for (const key of keys) this.#tails.set(key, tail);
    return result;
  }

  /** Resolves when all work queued so far is done. */
  async idle(): Promise<void> {
    await Promise.all(this.#tails.values());
  }

  #leave(keys: readonly string[], tail: Promise<void>): void {
    this.#waiting -= 1;
    for (const key of keys) if (this.#tails.get(key) === tail) this.#tails.delete(key);
  }
}
