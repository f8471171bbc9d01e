/**
 * Work that shares a key runs one after the other, in the order it was given; everything else runs at once. Within one process this
 * spares writers conflicts with each other, and locks that each would hold a connection to wait for. Between processes conditions decide.
 *
 * Keys are taken all together and synchronously, so two pieces of work can never wait for each other.
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

  /** When everything that was given so far is done. */
  async idle(): Promise<void> {
    await Promise.all(this.#tails.values());
  }

  #leave(keys: readonly string[], tail: Promise<void>): void {
    this.#waiting -= 1;
    for (const key of keys) if (this.#tails.get(key) === tail) this.#tails.delete(key);
  }
}
