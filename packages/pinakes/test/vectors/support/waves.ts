/** Counts dependent round trips: concurrent calls are answered together. */
import type { ObjectStore } from "../../../src/ports/object-store.ts";

export class Waves {
  #count = 0;
  #calls = 0;
  #waiting: (() => void)[] = [];

  /** How often a call had to wait for the answer of another. */
  get count(): number {
    return this.#count;
  }

  get calls(): number {
    return this.#calls;
  }

  /** Intercepts `get` of this store. */
  watch(objects: ObjectStore): void {
    const { get } = objects;
    objects.get = async (...args) => {
      this.#calls += 1;
      await this.#turn();
      return get.apply(objects, args);
    };
  }

  async #turn(): Promise<void> {
    const first = this.#waiting.length === 0;
    const answered = new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (first) void this.#answer();
    return answered;
  }

  /** When no more calls come without an answer. */
  async #answer(): Promise<void> {
    for (let seen = -1; seen !== this.#waiting.length;) {
      seen = this.#waiting.length;
      for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
    }
    this.#count += 1;
    for (const answer of this.#waiting.splice(0)) answer();
  }
}
