/** When a queue is swept: at the first poll of this process, and then by the first receiver after every `sweepMs`. */
import type { Scope } from "../../domain/scope.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Registry } from "./registry.ts";

/** Queues whose times are remembered; a forgotten one is swept once more. */
const queuesMax = 10_000;

export class Sweeps {
  readonly #registry: Registry;
  readonly #clock: Clock;
  readonly #everyMs: number;
  readonly #next = new Map<string, { at: number; cursor: string | undefined }>();

  constructor(registry: Registry, clock: Clock, everyMs: number) {
    this.#registry = registry;
    this.#clock = clock;
    this.#everyMs = everyMs;
  }

  /** The groups a sweep found; none if none is due. */
  async due(scope: Scope, queue: string): Promise<readonly string[]> {
    const key = `${scope.tenant}/${queue}`;
    const now = this.#clock.now();
    const next = this.#next.get(key);
    if (next !== undefined && now < next.at) return [];
    // Set first, so that concurrent receivers do not sweep as well.
    this.#note(key, { at: now + this.#everyMs, cursor: next?.cursor });
    try {
      const { due, cursor } = await this.#registry.sweep(scope, queue, next?.cursor);
      // A sweep that did not reach the end continues at the next poll.
      this.#note(key, { at: cursor === undefined ? now + this.#everyMs : now, cursor });
      return due;
    } catch (error) {
      this.#next.delete(key);
      throw error;
    }
  }

  /** How long until the next sweep: a waiting receiver polls then at the latest, whatever its own interval. */
  inMs(scope: Scope, queue: string): number {
    return Math.max(0, (this.#next.get(`${scope.tenant}/${queue}`)?.at ?? 0) - this.#clock.now());
  }

  #note(key: string, next: { at: number; cursor: string | undefined }): void {
    if (this.#next.size >= queuesMax && !this.#next.has(key)) {
      for (const oldest of this.#next.keys()) {
        this.#next.delete(oldest);
        break;
      }
    }
    this.#next.set(key, next);
  }
}
