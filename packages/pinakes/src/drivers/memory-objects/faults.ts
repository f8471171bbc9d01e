/**
 * Fault injection before any object driver: the nth call of a kind fails, fails after it succeeded, waits, or stores too little.
 *
 * @example
 * const faults = new ObjectFaults();
 * const objects = openMemoryObjects({ faults });
 * faults.add({ call: "put", nth: 2, kind: "fail-after" }); // the second put from here on succeeds, but reports an error
 */
import { setTimeout } from "node:timers/promises";
import { PinakesError } from "../../domain/errors.ts";
import type { ObjectDriver } from "../../objects/object-driver.ts";

export type FaultyCall = "put" | "get" | "stream" | "head" | "list" | "delete";

export type ObjectFault = {
  readonly call: FaultyCall;
  /** Counted from the moment the fault is added; 1 is the next call. */
  readonly nth: number;
  /** Thrown by "fail" and "fail-after"; default UNAVAILABLE. */
  readonly error?: Error;
} & (
  | { readonly kind: "fail" | "fail-after" }
  /** Waits for these milliseconds, or for a promise that the test settles. */
  | { readonly kind: "delay"; readonly until: number | Promise<unknown> }
  /** A faulty store: keeps only the first bytes of a put and reports success. */
  | { readonly kind: "truncate"; readonly bytes: number }
);

export class ObjectFaults {
  #waiting: { fault: ObjectFault; left: number }[] = [];

  add(fault: ObjectFault): void {
    if (fault.kind === "truncate" && fault.call !== "put")
      throw new PinakesError("INVALID", "Only a put can be truncated.");
    this.#waiting.push({ fault, left: fault.nth });
  }

  /** Faults that have not happened yet; a test ends with 0. */
  get pending(): number {
    return this.#waiting.length;
  }

  /** Counts one call and returns the faults that are due. */
  take(call: FaultyCall): ObjectFault[] {
    for (const entry of this.#waiting) if (entry.fault.call === call) entry.left -= 1;
    const due = this.#waiting.filter(({ left }) => left === 0);
    this.#waiting = this.#waiting.filter(({ left }) => left > 0);
    return due.map(({ fault }) => fault);
  }
}

export function withFaults(driver: ObjectDriver, faults: ObjectFaults): ObjectDriver {
  const run = async <T>(call: FaultyCall, action: () => Promise<T>): Promise<T> =>
    inject(faults.take(call), call, action);
  return {
    capabilities: driver.capabilities,
    async put(key, chunks, options) {
      const due = faults.take("put");
      const short = due.find((fault) => fault.kind === "truncate");
      return inject(due, "put", () =>
        driver.put(key, short === undefined ? chunks : firstBytes(chunks, short.bytes), options),
      );
    },
    get: (key, range, bytesMax, signal) => run("get", () => driver.get(key, range, bytesMax, signal)),
    stream: (key, range, signal) => run("stream", () => driver.stream(key, range, signal)),
    head: (key, signal) => run("head", () => driver.head(key, signal)),
    list: (request) => run("list", () => driver.list(request)),
    delete: (keys, signal) => run("delete", () => driver.delete(keys, signal)),
    close: () => driver.close(),
  };
}

async function inject<T>(due: readonly ObjectFault[], call: FaultyCall, action: () => Promise<T>): Promise<T> {
  const failing = (kind: ObjectFault["kind"]) => due.find((fault) => fault.kind === kind);
  for (const fault of due) {
    if (fault.kind === "delay") await (typeof fault.until === "number" ? setTimeout(fault.until) : fault.until);
  }
  const before = failing("fail");
  if (before !== undefined)
    throw before.error ?? new PinakesError("UNAVAILABLE", `Injected: ${call} failed before it did anything.`);
  const result = await action();
  const after = failing("fail-after");
  if (after !== undefined)
    throw after.error ?? new PinakesError("UNAVAILABLE", `Injected: ${call} succeeded, but its answer was lost.`);
  return result;
}

async function* firstBytes(chunks: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Uint8Array, void> {
  let left = bytes;
  for await (const chunk of chunks) {
    if (left > 0) yield chunk.subarray(0, left);
    left -= Math.min(left, chunk.byteLength);
  }
}
