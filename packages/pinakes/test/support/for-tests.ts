/**
 * What the tests of a file or of a describe block use: opened before them, closed after them, in reverse order. Call it where tests are
 * declared; use the result inside tests and hooks as if it were the opened object.
 */
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";

/** Opened once, before the first test. */
export function forAllTests<T extends object>(open: () => Promise<T> | T): T {
  const holder = new Holder(open);
  beforeAll(() => holder.open());
  afterAll(() => holder.close());
  return holder.proxy();
}

/** Opened anew before each test. */
export function forEachTest<T extends object>(open: () => Promise<T> | T): T {
  const holder = new Holder(open);
  beforeEach(() => holder.open());
  afterEach(() => holder.close());
  return holder.proxy();
}

type Closable = Partial<AsyncDisposable> & Partial<Record<"close" | "stop", () => unknown>>;

class Holder<T extends object> {
  readonly #open: () => Promise<T> | T;
  #current: T | undefined;

  constructor(open: () => Promise<T> | T) {
    this.#open = open;
  }

  async open(): Promise<void> {
    this.#current = await this.#open();
  }

  /** An opening that failed left nothing to close. */
  async close(): Promise<void> {
    const closable: Closable = this.#current ?? {};
    this.#current = undefined;
    if (closable[Symbol.asyncDispose] !== undefined) await closable[Symbol.asyncDispose]?.();
    else await (closable.close ?? closable.stop)?.call(closable);
  }

  /** Methods run on the object itself, because a proxy has no private fields. */
  proxy(): T {
    const current = () => {
      if (this.#current === undefined) throw new Error("It is open only inside tests and hooks.");
      return this.#current;
    };
    return new Proxy({} as T, {
      get: (_, name) => {
        const value: unknown = Reflect.get(current(), name, current());
        return typeof value === "function" ? value.bind(current()) : value;
      },
      set: (_, name, value) => Reflect.set(current(), name, value, current()),
      has: (_, name) => Reflect.has(current(), name),
      ownKeys: () => Reflect.ownKeys(current()),
      getOwnPropertyDescriptor: (_, name) => {
        const property = Reflect.getOwnPropertyDescriptor(current(), name);
        return property && { ...property, configurable: true };
      },
    });
  }
}
