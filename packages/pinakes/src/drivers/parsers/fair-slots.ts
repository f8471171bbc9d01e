/**
 * The slots of a pool, shared fairly: waiting owners are served round-robin, however many files each of them has, and no owner holds all
 * slots, so slow files of one leave a slot for the others. Within an owner: first come, first served.
 */
import { PinakesError } from "../../domain/errors.ts";

interface Waiting {
  readonly start: () => void;
  readonly refuse: (reason: unknown) => void;
}

export class FairSlots {
  readonly #shareMax: number;
  readonly #queuedMax: number;
  /** In the order of their turns. */
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #held = new Map<string, number>();
  #free: number;
  #queued = 0;

  constructor(places: number, queuedMax: number) {
    this.#free = places;
    this.#shareMax = Math.max(1, places - 1);
    this.#queuedMax = queuedMax;
  }

  /** Resolves when the caller holds a slot; `give` returns it. */
  async take(share: string, signal?: AbortSignal): Promise<void> {
    if (this.#free > 0 && this.#heldBy(share) < this.#shareMax) return this.#hold(share);
    if (this.#queued >= this.#queuedMax)
      throw new PinakesError("THROTTLED", `${this.#queuedMax} files wait to be parsed already; try again later.`);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const entry = { start: resolve, refuse: reject };
    this.#waiting.set(share, [...(this.#waiting.get(share) ?? []), entry]);
    this.#queued += 1;
    const onAbort = () => {
      if (this.#leave(share, entry)) reject(signal?.reason);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    return promise.finally(() => signal?.removeEventListener("abort", onAbort));
  }

  give(share: string): void {
    const held = this.#heldBy(share) - 1;
    if (held === 0) this.#held.delete(share);
    else this.#held.set(share, held);
    this.#free += 1;
    for (const [next, [first]] of this.#waiting) {
      if (first === undefined || this.#heldBy(next) >= this.#shareMax) continue;
      this.#leave(next, first);
      this.#hold(next);
      first.start();
      return;
    }
  }

  refuseAll(reason: unknown): void {
    for (const entry of [...this.#waiting.values()].flat()) entry.refuse(reason);
    this.#waiting.clear();
    this.#queued = 0;
  }

  #heldBy(share: string): number {
    return this.#held.get(share) ?? 0;
  }

  #hold(share: string): void {
    this.#free -= 1;
    this.#held.set(share, this.#heldBy(share) + 1);
  }

  /** The owner goes to the end of the queue. */
  #leave(share: string, entry: Waiting): boolean {
    const entries = this.#waiting.get(share);
    if (entries?.includes(entry) !== true) return false;
    this.#queued -= 1;
    this.#waiting.delete(share);
    if (entries.length > 1) {
      this.#waiting.set(
        share,
        entries.filter((one) => one !== entry),
      );
    }
    return true;
  }
}
