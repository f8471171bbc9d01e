/**
 * What this process wrote a moment ago, by agent, on engines whose indexes may be late: an agent that appends a message and then asks
 * for its context must find it there. On other engines it does nothing.
 */
import type { Scope } from "../../domain/scope.ts";
import type { Clock } from "../../ports/clock.ts";

const rememberedMs = 30_000;
const tokensPerAgentMax = 8;
const agentsMax = 1_000;

interface Noted {
  readonly token: string;
  readonly at: number;
  /** Indexes that were seen to show it: they need not be waited for again. */
  readonly shown: Set<string>;
}

export class OwnWrites {
  readonly #needed: boolean;
  readonly #clock: Clock;
  readonly #agents = new Map<string, readonly Noted[]>();

  constructor(needed: boolean, clock: Clock) {
    this.#needed = needed;
    this.#clock = clock;
  }

  note(scope: Scope, agentId: string, token: () => string): void {
    if (!this.#needed) return;
    const key = keyOf(scope, agentId);
    const noted = [
      ...(this.#agents.get(key) ?? []),
      { token: token(), at: this.#clock.now(), shown: new Set<string>() },
    ].slice(-tokensPerAgentMax);
    // Again at the end: the one that wrote least recently is forgotten first.
    this.#agents.delete(key);
    this.#agents.set(key, noted);
    if (this.#agents.size > agentsMax) this.#agents.delete(this.#agents.keys().next().value as string);
  }

  /** Runs a read of an index with the tokens of what it must show. */
  async reading<T>(
    scope: Scope,
    agentId: string,
    index: string,
    read: (tokens: readonly string[]) => Promise<T>,
  ): Promise<T> {
    const since = this.#clock.now() - rememberedMs;
    const waiting = (this.#agents.get(keyOf(scope, agentId)) ?? []).filter(
      ({ at, shown }) => at > since && !shown.has(index),
    );
    const result = await read(waiting.map(({ token }) => token));
    for (const { shown } of waiting) shown.add(index);
    return result;
  }
}

function keyOf({ tenant }: Scope, agentId: string): string {
  return JSON.stringify([tenant, agentId]);
}
