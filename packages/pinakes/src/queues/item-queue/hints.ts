/**
 * Groups that this process knows to have work, for engines whose indexes are late. Losing a hint costs time but never a message: the index
 * soon shows the group, and the sweep always finds it.
 */
import type { Scope } from "../../domain/scope.ts";

const groupsMax = 1_000;
const queuesMax = 10_000;

export class Hints {
  readonly #enabled: boolean;
  readonly #groups = new Map<string, Set<string>>();

  constructor(enabled: boolean) {
    this.#enabled = enabled;
  }

  add(scope: Scope, queue: string, group: string): void {
    if (!this.#enabled) return;
    const key = `${scope.tenant}/${queue}`;
    const groups = this.#groups.get(key) ?? new Set();
    if (groups.size >= groupsMax || (groups.size === 0 && this.#groups.size >= queuesMax)) return;
    this.#groups.set(key, groups.add(group));
  }

  /** One after the other; each is removed as it is returned. */
  *take(scope: Scope, queue: string): Generator<string, void> {
    const key = `${scope.tenant}/${queue}`;
    const groups = this.#groups.get(key);
    for (const group of groups ?? []) {
      groups?.delete(group);
      if (groups?.size === 0) this.#groups.delete(key);
      yield group;
    }
  }
}
