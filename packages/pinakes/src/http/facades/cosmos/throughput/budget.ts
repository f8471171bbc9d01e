/**
 * Request units a second, container by container, where somebody set a throughput. What is not used is kept for a few seconds. A request
 * is let in while anything is left and may overdraw; those that follow wait until it is paid back. Each process counts for itself.
 */
import type { Clock } from "../../../../ports/clock.ts";
import { CosmosError, throttledSubstatus, throttleHeaders } from "../errors.ts";

export const savedSeconds = 20;
const bucketsMax = 10_000;

interface Bucket {
  units: number;
  at: number;
}

export interface Budget {
  readonly name: string;
  /** Request units a second. */
  readonly ru: number;
}

export class Budgets {
  readonly #clock: Clock;
  /** In the order of their last use. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Throws 429 where the budget is used up. */
  require(budget: Budget): void {
    const { units } = this.#bucket(budget);
    if (units > 0) return;
    const waitMs = ((1 - units) * 1_000) / budget.ru;
    throw new CosmosError(
      429,
      `The request rate is large: the throughput of ${budget.ru} request units a second is used up. Try again in ${Math.ceil(waitMs)} ms.`,
      { substatus: throttledSubstatus, headers: throttleHeaders(waitMs) },
    );
  }

  spend(budget: Budget, charge: number): void {
    this.#bucket(budget).units -= charge;
  }

  #bucket({ name, ru }: Budget): Bucket {
    const now = this.#clock.now();
    const full = ru * savedSeconds;
    const known = this.#buckets.get(name) ?? { units: full, at: now };
    const gained = (Math.max(0, now - known.at) * ru) / 1_000;
    const bucket = { units: Math.min(full, known.units + gained), at: now };
    this.#buckets.delete(name);
    this.#buckets.set(name, bucket);
    if (this.#buckets.size > bucketsMax) this.#buckets.delete(this.#buckets.keys().next().value as string);
    return bucket;
  }
}
