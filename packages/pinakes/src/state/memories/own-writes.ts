/**
 * Recent writes of this process, by agent, for engines with eventually consistent indexes: an agent that appends a message and then
 * reads its context must see it there. A no-op on other engines.
 */
import type { Scope } from "../../domain/scope.ts";
import type { Clock } from "../../ports/clock.ts";

const rememberedMs = 30_000;
const tokensPerAgentMax = 8;
const agentsMax = 1_000;

interface Noted {
  readonly token: string;
  readonly at: number;
  /** Indexes already known to include it. */
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
    // Re-inserted at the end: the least recent writer is evicted first.
    this.#agents.delete(key);
    this.#agents.set(key, noted);
    if (this.#agents.size > agentsMax) this.#agents.delete(this.#agents.keys().next().value as string);
  }

  /** Runs an index read with the session tokens of the writes that it must include. */
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
