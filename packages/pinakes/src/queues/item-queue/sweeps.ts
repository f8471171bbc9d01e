/** When a queue is swept: at the first look of this process, and then by the first receiver after every `sweepMs`. */
import type { Scope } from "../../domain/scope.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Registry } from "./registry.ts";

/** Queues whose times are remembered; one that is forgotten is swept once more. */
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

  /** The groups a sweep has found; none when it is not time. */
  async due(scope: Scope, queue: string): Promise<readonly string[]> {
    const key = `${scope.tenant}/${queue}`;
    const now = this.#clock.now();
    const next = this.#next.get(key);
    if (next !== undefined && now < next.at) return [];
    // Noted before, so that others who look meanwhile do not sweep as well.
    this.#note(key, { at: now + this.#everyMs, cursor: next?.cursor });
    try {
      const { due, cursor } = await this.#registry.sweep(scope, queue, next?.cursor);
      // One that did not get to the end goes on at the next look.
      this.#note(key, { at: cursor === undefined ? now + this.#everyMs : now, cursor });
      return due;
    } catch (error) {
      this.#next.delete(key);
      throw error;
    }
  }

  /** How long until the next one: who waits for work looks then at the latest, whatever the pause between his looks. */
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
