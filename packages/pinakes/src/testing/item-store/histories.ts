/**
 * Random histories: the same operations on the engine under test and on the memory engine, step by step. Every outcome must be equal:
 * results, error codes, failing operations, documents, order, counts, the feed. Etags differ, so they are compared by the write that made
 * them.
 */
import fc from "fast-check";
import { expect } from "vitest";
import { openMemoryItems } from "../../drivers/memory/index.ts";
import { PinakesError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { tenantScope, type Scope } from "../../domain/scope.ts";
import type { ContainerDefinition, ItemStore, Operation, Query } from "../../ports/item-store.ts";
import type { Fixture, Suite } from "./fixture.ts";

const partitions = ["a", "b"];
const ids = ["1", "2", "3", "é"];

type EtagChoice = "none" | "current" | "stale";
interface Draft {
  readonly operation: Operation;
  readonly etag: EtagChoice;
}
type Step =
  | { readonly do: "batch"; readonly tenant: number; readonly p: string; readonly drafts: readonly Draft[] }
  | { readonly do: "query"; readonly tenant: number; readonly query: Query }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "purge"; readonly limit: number }
  | { readonly do: "clear"; readonly tenant: number; readonly p: string; readonly limit: number }
  | { readonly do: "follow"; readonly tenant: number };

const scalar = fc.constantFrom<(string | number | boolean | null)[]>("x", "y", "", 1, 2, -1, true, false, null);
const document = fc.record(
  {
    v: scalar,
    w: scalar,
    u: fc.constantFrom("k1", "k2", 3),
    n: fc.integer({ min: -3, max: 3 }),
    ttl: fc.constantFrom(-1, 1, 5),
    extra: fc.constantFrom<JsonObject[]>({ a: [1] }, {}),
  },
  { requiredKeys: [] },
);
const patch = fc.array(
  fc.oneof(
    fc.record({
      op: fc.constant("incr" as const),
      path: fc.constantFrom("/n", "/v"),
      value: fc.integer({ min: -2, max: 2 }),
    }),
    fc.record({
      op: fc.constantFrom("set" as const, "add" as const, "replace" as const),
      path: fc.constantFrom("/v", "/w", "/u", "/extra/a/-"),
      value: scalar,
    }),
    fc.record({ op: fc.constant("remove" as const), path: fc.constantFrom("/v", "/u", "/ttl", "/extra") }),
    fc.record({
      op: fc.constant("move" as const),
      from: fc.constantFrom("/v", "/w"),
      path: fc.constantFrom("/w", "/moved"),
    }),
  ),
  { minLength: 1, maxLength: 3 },
);
const where = fc.option(
  fc.oneof(
    fc.record({ n: fc.record({ gte: fc.integer({ min: -2, max: 2 }) }) }),
    fc.record({ v: scalar }),
    fc.record({ u: fc.record({ exists: fc.boolean() }) }),
  ),
  { nil: undefined, freq: 3 },
);

function draftFor(p: string): fc.Arbitrary<Draft> {
  const id = fc.constantFrom(...ids);
  const withId = fc.tuple(id, document).map(([itemId, body]) => ({ id: itemId, p, ...body }));
  const etag = fc.constantFrom<EtagChoice[]>("none", "none", "none", "current", "stale");
  const guarded = <T extends object>(operation: fc.Arbitrary<T>) =>
    fc.tuple(operation, where, etag).map(([op, filter, choice]) => ({
      operation: (filter === undefined ? op : { ...op, where: filter }) as Operation,
      etag: choice,
    }));
  return fc.oneof(
    {
      weight: 3,
      arbitrary: withId.map((body): Draft => ({ operation: { op: "create", document: body }, etag: "none" })),
    },
    { weight: 3, arbitrary: guarded(withId.map((body) => ({ op: "upsert", document: body }))) },
    { weight: 2, arbitrary: guarded(withId.map((body) => ({ op: "replace", document: body }))) },
    {
      weight: 3,
      arbitrary: guarded(fc.tuple(id, patch).map(([itemId, steps]) => ({ op: "patch", id: itemId, patch: steps }))),
    },
    { weight: 2, arbitrary: guarded(id.map((itemId) => ({ op: "delete", id: itemId }))) },
    {
      weight: 1,
      arbitrary: guarded(fc.tuple(id, fc.boolean()).map(([itemId, exists]) => ({ op: "check", id: itemId, exists }))),
    },
  );
}

const tenant = fc.constantFrom(0, 1);
const order = fc.constantFrom<("asc" | "desc")[]>("asc", "desc");
const limit = fc.constantFrom(1, 2, 100);
const filter = fc.constantFrom<Query["filter"][]>(undefined, undefined, { n: { gte: 0 } });
const range = fc.constantFrom<Query["range"][]>(
  undefined,
  { gt: 0 },
  { lte: 1 },
  { gte: "x" },
  { prefix: "" },
  { lt: "y" },
);
const query: fc.Arbitrary<Query> = fc
  .tuple(
    fc.constantFrom("partition", "byV", "byVW", "all"),
    fc.constantFrom(...partitions),
    scalar,
    order,
    limit,
    filter,
    range,
  )
  .map(([kind, p, v, direction, max, residual, bounds]) => {
    const base = { order: direction, limit: max, ...(residual === undefined ? {} : { filter: residual }) };
    const ranged = bounds === undefined ? {} : { range: bounds };
    if (kind === "partition") return { ...base, equals: { p } };
    if (kind === "byV") return { ...base, ...ranged, index: "byV", equals: { p } };
    if (kind === "byVW") return { ...base, ...ranged, index: "byVW", equals: { p, v } };
    return { ...base, ...ranged, index: "all", equals: {} };
  });

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(tenant, fc.constantFrom(...partitions))
      .chain(([t, p]) =>
        fc
          .array(draftFor(p), { minLength: 1, maxLength: 4 })
          .map((drafts): Step => ({ do: "batch", tenant: t, p, drafts })),
      ),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("query" as const), tenant, query }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.constantFrom(1, 999, 1_000, 5_000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("purge" as const), limit: fc.constantFrom(1, 100) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("clear" as const),
      tenant,
      p: fc.constantFrom(...partitions),
      limit: fc.constantFrom(1, 100),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("follow" as const), tenant }) },
);

/** One store's side of a history: the outcome of each step in a comparable form. */
class Side {
  readonly #store: ItemStore;
  readonly #fixture: Fixture;
  readonly #container: string;
  readonly #scopes: readonly Scope[] = [tenantScope("t0"), tenantScope("t1")];
  readonly #sessions: string[][] = [[], []];
  readonly #cursors: (string | undefined)[] = [undefined, undefined];
  /** Which write of the history made an etag: the same on both sides. */
  readonly #authors = new Map<string, string>();
  #stale = "never-was";

  constructor(store: ItemStore, fixture: Fixture, container: string) {
    this.#store = store;
    this.#fixture = fixture;
    this.#container = container;
  }

  async run(number: number, action: Step): Promise<unknown> {
    try {
      return await this.#act(number, action);
    } catch (error) {
      if (!PinakesError.isInstance(error)) throw error;
      const { currentEtag, batch } = error.context;
      return {
        code: error.code,
        batch,
        author: currentEtag === undefined ? undefined : this.#authors.get(currentEtag),
      };
    }
  }

  async #act(number: number, action: Step): Promise<unknown> {
    switch (action.do) {
      case "batch":
        return this.#batch(number, action);
      case "query":
        return this.#query(action.tenant, action.query);
      case "wait":
        return undefined;
      case "purge":
        return this.#store.purgeExpired(this.#fixture.system, this.#container, { limit: action.limit });
      case "clear":
        return this.#store.deletePartition(this.#scope(action.tenant), this.#container, [action.p], {
          limit: action.limit,
        });
      case "follow":
        return this.follow(action.tenant);
    }
  }

  #scope(number: number): Scope {
    return this.#scopes[number] as Scope;
  }

  async #batch(number: number, { tenant: t, p, drafts }: Extract<Step, { do: "batch" }>): Promise<unknown> {
    const operations = await Promise.all(drafts.map((draft) => this.#withEtag(t, p, draft)));
    const { results, session } = await this.#store.batch(this.#scope(t), this.#container, [p], operations);
    this.#sessions[t]?.push(session);
    results.forEach(({ id, etag }) => {
      if (etag === undefined) return;
      this.#authors.set(etag, `${number} ${id}`);
      this.#stale = this.#stale === "never-was" ? etag : this.#stale;
    });
    return results.map(({ id, modifiedAt, document: body, etag }) => ({
      id,
      modifiedAt,
      body,
      author: etag === undefined ? undefined : this.#authors.get(etag),
    }));
  }

  async #withEtag(t: number, p: string, { operation, etag }: Draft): Promise<Operation> {
    if (etag === "none" || operation.op === "create") return operation;
    const id = "id" in operation ? operation.id : (operation.document["id"] as string);
    const current = await this.#store.read(this.#scope(t), this.#container, { partition: [p], id });
    return { ...operation, ifMatch: etag === "stale" ? this.#stale : (current?.etag ?? "absent") };
  }

  async #query(t: number, spec: Query): Promise<unknown> {
    const items: unknown[] = [];
    let cursor: string | undefined;
    const session = this.#sessions[t] ?? [];
    do {
      const page = await this.#store.query(this.#scope(t), this.#container, {
        ...spec,
        session,
        ...(cursor === undefined ? {} : { cursor }),
      });
      items.push(
        ...page.items.map(({ document: body, etag, modifiedAt }) => ({
          body,
          modifiedAt,
          author: this.#authors.get(etag),
        })),
      );
      cursor = page.cursor;
    } while (cursor !== undefined);
    const { limit: _limit, order: _order, ...countable } = spec;
    return { items, count: await this.#store.count(this.#scope(t), this.#container, { ...countable, session }) };
  }

  /** Grouped by partition: the feed promises no order across partitions. */
  async follow(t: number): Promise<unknown> {
    const events: Record<string, unknown[]> = {};
    for (;;) {
      const cursor = this.#cursors[t];
      const page = await this.#store.changes(this.#scope(t), this.#container, { limit: 3, cursor });
      this.#cursors[t] = page.cursor;
      for (const { partition, kind, id, at, expired, document: body, etag } of page.changes) {
        (events[String(partition[0])] ??= []).push({
          kind,
          id,
          at,
          expired,
          body,
          author: kind === "put" ? this.#authors.get(etag) : undefined,
        });
      }
      if (!page.more) return events;
    }
  }

  async everything(): Promise<unknown> {
    const results: unknown[] = [];
    for (const t of [0, 1]) {
      for (const p of partitions) results.push(await this.#query(t, { equals: { p } }));
      results.push(await this.#query(t, { index: "all", equals: {} }), await this.follow(t));
    }
    return results;
  }
}

export const histories: Suite = (fixture) => {
  let run = 0;
  fixture.test("any history gives the same answers as the in-memory oracle", async () => {
    const oracle = await openMemoryItems({ clock: fixture.clock });
    const containerTtl = fc.constantFrom(null, -1, 3);
    await fc.assert(
      fc.asyncProperty(containerTtl, fc.array(step, { minLength: 5, maxLength: 30 }), async (ttl, steps) => {
        run += 1;
        const definition: ContainerDefinition = {
          name: `history-${run}`,
          partitionKey: ["p"],
          ttl,
          feed: true,
          uniqueKeys: { u: ["u"] },
          indexes: {
            byV: { partition: ["p"], sort: ["v"] },
            byVW: { partition: ["p", "v"], sort: [{ path: "w", order: "desc" }] },
            all: { partition: [], sort: ["n"] },
          },
        };
        for (const store of [oracle, fixture.store]) await store.openContainer(definition);
        const [expected, actual] = [
          new Side(oracle, fixture, definition.name),
          new Side(fixture.store, fixture, definition.name),
        ];
        for (const [number, action] of steps.entries()) {
          if (action.do === "wait") fixture.clock.advance(action.ms);
          expect(await actual.run(number, action), `step ${number}: ${JSON.stringify(action)}`).toEqual(
            await expected.run(number, action),
          );
        }
        expect(await actual.everything()).toEqual(await expected.everything());
      }),
      {
        numRuns: fixture.harness.propertyRuns ?? 40,
        ...(process.env["FC_SEED"] === undefined ? {} : { seed: Number(process.env["FC_SEED"]) }),
      },
    );
    await oracle.close();
  });
};
