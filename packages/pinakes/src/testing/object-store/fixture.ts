/** What every part of the object-store suite uses: one store, and a key prefix per test. */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PinakesError, type ErrorCode } from "../../domain/errors.ts";
import { systemScope, tenantScope, type Scope } from "../../domain/scope.ts";
import type { AnyScope, ObjectStore, ObjectStoreCapabilities } from "../../ports/object-store.ts";

export type OpenObjects = () => ObjectStore | Promise<ObjectStore>;

/** A test that a store cannot pass, and why. The reason is printed. */
export interface ObjectSkip {
  readonly test: string;
  readonly reason: string;
  readonly capability: keyof ObjectStoreCapabilities;
}

export class ObjectFixture {
  readonly scope: Scope = tenantScope("acme");
  readonly otherScope: Scope = tenantScope("acme2");
  readonly system = systemScope("conformance suite", () => {});
  readonly name: string;
  readonly open: OpenObjects;
  readonly reopen: OpenObjects | undefined;
  readonly #skip: readonly ObjectSkip[];
  #store: ObjectStore | undefined;
  #folders = 0;

  constructor(
    name: string,
    open: OpenObjects,
    options: { readonly skip?: readonly ObjectSkip[] | undefined; readonly reopen?: OpenObjects | undefined },
  ) {
    this.name = name;
    this.open = open;
    this.reopen = options.reopen;
    this.#skip = options.skip ?? [];
    beforeAll(async () => {
      this.#store = await open();
    });
    afterAll(async () => {
      await this.#store?.close();
    });
  }

  get store(): ObjectStore {
    if (this.#store === undefined) throw new Error("the store is not open yet");
    return this.#store;
  }

  replaceStore(store: ObjectStore): void {
    this.#store = store;
  }

  /** A prefix that no other test uses. */
  folder(): string {
    this.#folders += 1;
    return `f${this.#folders}/`;
  }

  test(title: string, run: () => Promise<void>): void {
    const skipped = this.#skip.find(({ test }) => title.includes(test));
    if (skipped === undefined) it(title, run);
    else
      describe(`not on ${this.name}: ${skipped.reason} (${skipped.capability})`, () =>
        void it.skipIf(true)(title, run));
  }

  async put(key: string, content: string, scope: AnyScope = this.scope): Promise<void> {
    await this.store.put(scope, key, utf8(content));
  }

  async text(key: string, scope: AnyScope = this.scope): Promise<string | undefined> {
    const bytes = await this.store.get(scope, key);
    return bytes === undefined ? undefined : Buffer.from(bytes).toString("utf8");
  }

  /** The keys of all pages. */
  async keys(prefix: string, limit = 1_000, scope: AnyScope = this.scope): Promise<string[]> {
    const found: string[] = [];
    for (let after: string | undefined, pages = 0; ; pages += 1) {
      const page = await this.store.list(scope, prefix, after === undefined ? { limit } : { after, limit });
      expect(page.keys.length).toBeLessThanOrEqual(limit);
      found.push(...page.keys.map(({ key }) => key));
      after = page.next;
      if (after === undefined) return found;
      expect(pages).toBeLessThan(1_000);
    }
  }
}

/** The error of a call that must fail; asserts its code and a non-empty detail. */
export async function failure(promise: Promise<unknown>, code: ErrorCode): Promise<PinakesError> {
  const error = await errorOf(promise);
  if (!PinakesError.isInstance(error)) throw new Error(`expected ${code}, got ${String(error)}`, { cause: error });
  expect(error.code).toBe(code);
  expect(error.detail).not.toBe("");
  return error;
}

export async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    return error;
  }
  throw new Error(`expected an error, got ${JSON.stringify(value)}`);
}

export function utf8(text: string): Uint8Array {
  return Buffer.from(text, "utf8");
}

export function sha256(...chunks: Uint8Array[]): string {
  const hash = createHash("sha256");
  for (const chunk of chunks) hash.update(chunk);
  return hash.digest("hex");
}

export async function collect(chunks: AsyncIterable<Uint8Array> | undefined): Promise<Uint8Array> {
  if (chunks === undefined) throw new Error("there is no such object");
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}
