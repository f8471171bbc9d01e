/** A port whose every call a test can count, fail, hold, or let the process die at: see `Calls`. */
import type { Calls } from "../vectors/support/calls.ts";

export interface Watching {
  readonly calls: Calls;
  /** The call's name in `calls`; undefined: it does not count. */
  readonly nameOf: (method: string, given: readonly unknown[]) => string | undefined;
  /** Absent: every call counts, from the first on. */
  readonly gate?: { readonly on: boolean };
}

/** Declaring a container is not watched, nor what is answered from memory; a call that returns rows one by one is iterated, not awaited: its source is watched. */
const unwatched = new Set(["openContainer", "defaultTtl", "rows"]);

export function watchedBy<Port extends object>(port: Port, { calls, nameOf, gate }: Watching): Port {
  return new Proxy(port, {
    get: (target, method) => {
      const value: unknown = bound(target, method);
      if (typeof value !== "function" || typeof method !== "string" || unwatched.has(method)) return value;
      const call = value as (...given: readonly unknown[]) => unknown;
      return (...given: readonly unknown[]) => {
        const name = gate?.on === false ? undefined : nameOf(method, given);
        return name === undefined ? call(...given) : calls.call(name, async () => call(...given));
      };
    },
  });
}

/** Named by the store, the method, and its subject: a container, a key, a space. */
export function watched<Port extends object>(
  label: string,
  port: Port,
  calls: Calls,
  gate: { readonly on: boolean },
): Port {
  return watchedBy(port, { calls, gate, nameOf: (method, given) => `${label}.${method} ${String(given[1])}` });
}

export function bound(target: object, name: string | symbol): unknown {
  const value: unknown = Reflect.get(target, name, target);
  return typeof value === "function" ? value.bind(target) : value;
}
