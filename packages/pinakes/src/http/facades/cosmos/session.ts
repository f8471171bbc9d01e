/**
 * Session tokens in Cosmos DB's form (`{range}:{version}#{lsn}`). Reads of the item store see every acknowledged write, so a token only
 * has to say which writes there were: the number goes up with each write of a container in this process, and reads repeat it. A number
 * from the future is none of ours.
 */
import type { Clock } from "../../../ports/clock.ts";
import { CosmosError } from "./errors.ts";

const containersMax = 10_000;
const aheadSubstatus = 1002;
/** How far the clocks of several processes may differ. */
const aheadMsMax = 5 * 60_000;

export class Sessions {
  readonly #clock: Clock;
  readonly #began: number;
  readonly #numbers = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#began = clock.now();
  }

  wrote(container: string): void {
    const next = Math.max(this.#clock.now(), this.number(container) + 1);
    this.#numbers.delete(container);
    this.#numbers.set(container, next);
    if (this.#numbers.size > containersMax) this.#numbers.delete(this.#numbers.keys().next().value as string);
  }

  number(container: string): number {
    return this.#numbers.get(container) ?? this.#began;
  }

  check(token: string | undefined): void {
    if (token === undefined) return;
    for (const part of token.split(",")) {
      const lsn = Number(/^[^:]*:-?\d+#(\d+)/.exec(part.trim())?.[1] ?? "NaN");
      if (Number.isNaN(lsn) || lsn <= this.#clock.now() + aheadMsMax) continue;
      throw new CosmosError(404, "The read session is not available for the input session token.", {
        substatus: aheadSubstatus,
      });
    }
  }
}
