/** What every part of the item-store suite uses: one store, a manual clock, one container per test. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PinakesError, type ErrorCode } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { systemScope, tenantScope, type Scope } from "../../domain/scope.ts";
import type { Clock } from "../../ports/clock.ts";
import type * as port from "../../ports/item-store.ts";

export class ManualClock implements Clock {
  #now = Date.UTC(2030, 0, 1);
  now(): number {
    return this.#now;
  }
  advance(milliseconds: number): void {
    this.#now += milliseconds;
  }
}

export interface ItemStoreHarness {
  readonly name: string;
  /** A fresh, empty store. The suite closes it. */
  open(options: { clock: Clock }): Promise<port.ItemStore>;
  /** Durable engines: reopens the data of the last opened store after it was closed. */
  reopen?(options: { clock: Clock }): Promise<port.ItemStore>;
  /** How many random histories the property test tries (default 40). */
  readonly propertyRuns?: number;
}

/** A test that an engine cannot pass, and why. The reason is printed. */
export interface Skip {
  readonly test: string;
  readonly reason: string;
  readonly capability: keyof port.ItemStoreCapabilities;
}

export type Suite = (fixture: Fixture) => void;

export class Fixture {
  readonly clock = new ManualClock();
  readonly scope: Scope = tenantScope("acme");
  readonly otherScope: Scope = tenantScope("acme2");
  readonly system = systemScope("conformance suite", () => {});
  readonly harness: ItemStoreHarness;
  readonly #skip: readonly Skip[];
  #store: port.ItemStore | undefined;
  #containers = 0;

  constructor(harness: ItemStoreHarness, skip: readonly Skip[]) {
    this.harness = harness;
    this.#skip = skip;
    beforeAll(async () => {
      this.#store = await harness.open({ clock: this.clock });
    });
    afterAll(async () => {
      await this.#store?.close();
    });
  }

  get store(): port.ItemStore {
    if (this.#store === undefined) throw new Error("the store is not open yet");
    return this.#store;
  }

  /** Closes the store and opens the same data again. */
  async reopen(): Promise<void> {
    await this.store.close();
    this.#store = await this.harness.reopen?.({ clock: this.clock });
  }

  test(title: string, run: () => Promise<void>): void {
    const skipped = this.#skip.find(({ test }) => title.includes(test));
    if (skipped === undefined) it(title, run);
    else
      describe(`not on ${this.harness.name}: ${skipped.reason} (${skipped.capability})`, () =>
        void it.skipIf(true)(title, run));
  }

  /** A new container, partitioned by `p` unless specified otherwise. */
  async container(definition: Partial<port.ContainerDefinition> = {}): Promise<Handle> {
    this.#containers += 1;
    const full: port.ContainerDefinition = { name: `c${this.#containers}`, partitionKey: ["p"], ...definition };
    await this.store.openContainer(full);
    return new Handle(this, full);
  }
}

/** One container as one tenant sees it; index queries carry the session tokens of its own writes, as an SDK would. */
export class Handle {
  readonly definition: port.ContainerDefinition;
  readonly #fixture: Fixture;
  readonly scope: Scope;
  #sessions: string[] = [];

  constructor(fixture: Fixture, definition: port.ContainerDefinition, scope = fixture.scope) {
    this.#fixture = fixture;
    this.definition = definition;
    this.scope = scope;
  }

  get name(): string {
    return this.definition.name;
  }

  get store(): port.ItemStore {
    return this.#fixture.store;
  }

  as(scope: Scope): Handle {
    return new Handle(this.#fixture, this.definition, scope);
  }

  async write(operation: port.Operation, partition: port.Partition = ["a"]): Promise<port.WriteResult> {
    const result = await this.store.write(this.scope, this.name, partition, operation);
    this.#sessions.push(result.session);
    return result;
  }

  async batch(operations: readonly port.Operation[], partition: port.Partition = ["a"]): Promise<port.BatchResult> {
    const result = await this.store.batch(this.scope, this.name, partition, operations);
    this.#sessions.push(result.session);
    return result;
  }

  /** Creates documents in partition "a" (or the document's own `p`). */
  async put(...documents: JsonObject[]): Promise<void> {
    for (const document of documents) {
      const full = { p: "a", ...document };
      await this.write({ op: "upsert", document: full }, [full.p]);
    }
  }

  async read(id: string, partition: port.Partition = ["a"]): Promise<JsonObject | undefined> {
    return (await this.store.read(this.scope, this.name, { partition, id }))?.document;
  }

  async query(query: Partial<port.Query> = {}): Promise<port.Page> {
    return this.store.query(this.scope, this.name, { equals: { p: "a" }, session: this.#sessions, ...query });
  }

  async count(query: Partial<port.Query> = {}): Promise<number> {
    return this.store.count(this.scope, this.name, { equals: { p: "a" }, session: this.#sessions, ...query });
  }

  /** The ids of all pages. */
  async ids(query: Partial<port.Query> = {}): Promise<string[]> {
    const ids: string[] = [];
    for (let cursor: string | undefined, pages = 0; ; pages += 1) {
      const page = await this.query(cursor === undefined ? query : { ...query, cursor });
      ids.push(...page.items.map(({ id }) => id));
      cursor = page.cursor;
      if (cursor === undefined) return ids;
      expect(pages).toBeLessThan(1_000);
    }
  }

  /** The whole feed from `cursor`, page by page. */
  async feed(cursor?: string, limit = 100): Promise<{ changes: port.Change[]; cursor: string }> {
    const changes: port.Change[] = [];
    let at = cursor;
    for (;;) {
      const page = await this.store.changes(
        this.scope,
        this.name,
        at === undefined ? { limit } : { cursor: at, limit },
      );
      changes.push(...page.changes);
      at = page.cursor;
      if (!page.more) return { changes, cursor: at };
    }
  }
}

/** The error of a call that must fail; asserts its code and a non-empty detail. */
export async function failure(promise: Promise<unknown>, code: ErrorCode): Promise<PinakesError> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if (!("error" in outcome))
    throw new Error(`expected ${code}, but the call succeeded with ${JSON.stringify(outcome.value)}`);
  if (!PinakesError.isInstance(outcome.error)) throw outcome.error;
  expect({ code: outcome.error.code, detail: outcome.error.detail }).toMatchObject({
    code,
    detail: expect.stringMatching(/.{15,}/) as string,
  });
  return outcome.error;
}
