/** Commits that share a transaction: each has the outcome it would have alone, whatever happens to its neighbours. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { until } from "../../../test/support/until.ts";
import { PinakesError } from "../../domain/errors.ts";
import type { Change, ContainerDefinition, ItemStore, Operation } from "../../ports/item-store.ts";
import { openMemoryItems } from "../memory/index.ts";
import { lanesMax } from "./commit-groups.ts";
import { Names } from "./names.ts";
import { refusal, scope, TestDatabases } from "./test-databases.ts";

const databases = new TestDatabases();
const container: ContainerDefinition = {
  name: "notes",
  partitionKey: ["p"],
  ttl: 3_600,
  feed: true,
  uniqueKeys: { title: ["title"] },
};

async function open(database: string): Promise<ItemStore> {
  const store = await databases.store(database);
  await store.openContainer(container);
  return store;
}

const create = (store: ItemStore, p: string, more: object = {}) =>
  store.write(scope, "notes", [p], { op: "create", document: { id: "x", p, ...more } });

/** Runs `calls` as one group: they queue while the lanes wait for a locked container. Does not wait for their outcomes. */
async function together<T>(
  store: ItemStore,
  database: string,
  calls: () => Promise<T>[],
): Promise<{ readonly told: Promise<PromiseSettledResult<T>[]> }> {
  const raw = await databases.raw();
  const key = new Names(database).lockKey("container", "notes");
  await raw.query("SELECT pg_advisory_lock($1)", [key]);
  const first = Promise.all(Array.from({ length: lanesMax }, (_, i) => create(store, `lane${i}`)));
  const told = Promise.allSettled(calls());
  const waiting = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND (classid::bigint << 32) | objid::bigint = $1`;
  await until(async () => (await raw.query(waiting, [key])).rowCount === lanesMax);
  await raw.query("SELECT pg_advisory_unlock($1)", [key]);
  await first;
  return { told };
}

/** How many changes each transaction made, without those of the lanes. */
async function perTransaction(database: string): Promise<number[]> {
  const raw = await databases.raw();
  const { rows } = await raw.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM "${database}"."f_notes" WHERE pk NOT LIKE '%lane%' AND pk NOT LIKE '%before%' GROUP BY xid ORDER BY min(n), xid`,
  );
  return rows.map(({ n }) => n);
}

const codes = (outcomes: readonly PromiseSettledResult<unknown>[]) =>
  outcomes.map((one) => (one.status === "fulfilled" ? "ok" : (one.reason as PinakesError).code));

const ids = async (store: ItemStore, partitions: readonly string[]) => {
  const found = await Promise.all(partitions.map((p) => store.read(scope, "notes", { partition: [p], id: "x" })));
  return partitions.filter((_, i) => found[i] !== undefined);
};

it("R-AGT-55 waiting requests share a transaction; a failed condition or unique key does not affect its neighbours", async () => {
  const database = databases.fresh();
  const store = await open(database);
  await store.write(scope, "notes", ["before"], { op: "create", document: { id: "y", p: "before", title: "taken" } });
  const { told } = await together(store, database, () => [
    create(store, "a"),
    store.write(scope, "notes", ["b"], { op: "replace", document: { id: "x", p: "b" }, ifMatch: "stale" }),
    create(store, "c", { title: "taken" }),
    create(store, "before", { title: "taken" }),
    store.write(scope, "notes", ["d"], { op: "patch", id: "x", patch: [{ op: "incr", path: "/n", value: 1 }] }),
    create(store, "e"),
  ]);
  expect(codes(await told)).toEqual(["ok", "NOT_FOUND", "ok", "CONFLICT", "NOT_FOUND", "ok"]);
  expect(await ids(store, ["a", "b", "c", "before", "d", "e"])).toEqual(["a", "c", "e"]);
  expect(await perTransaction(database)).toEqual([3]);
});

it("documents of every size, and deletes, pass through one group unchanged", async () => {
  const database = databases.fresh();
  const store = await open(database);
  const sizes = [1, 8_000, 8_200, 9_000, 20_000, 30_000, 40_000, 50_000, 60_000, 70_000, 700_000];
  const text = (size: number) => `"\\{},\né`.repeat(size).slice(0, size);
  await create(store, "before");
  for (const i of [9, 10]) await create(store, `p${i}`, { text: text(600_000) });
  const { told } = await together(store, database, () => [
    ...sizes.slice(0, 9).map((size, i) => create(store, `p${i}`, { text: text(size) })),
    ...[9, 10].map((i) =>
      store.write(scope, "notes", [`p${i}`], {
        op: "patch",
        id: "x",
        patch: [{ op: "set", path: "/text", value: text(sizes[i] as number) }],
      }),
    ),
    store.write(scope, "notes", ["before"], { op: "delete", id: "x" }),
  ]);
  expect(new Set(codes(await told))).toEqual(new Set(["ok"]));
  expect((await perTransaction(database)).at(-1)).toBe(11);
  for (const [i, size] of sizes.entries()) {
    expect((await store.read(scope, "notes", { partition: [`p${i}`], id: "x" }))?.document["text"]).toBe(text(size));
  }
  expect(await ids(store, ["before"])).toEqual([]);
});

it("R-AGT-55 a request that PostgreSQL rejects gets the error, and its neighbours are stored", async () => {
  const database = databases.fresh();
  const store = await open(database);
  const raw = await databases.raw();
  await raw.query(
    `CREATE FUNCTION "${database}".refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''not this one''; END'`,
  );
  await raw.query(
    `CREATE TRIGGER refuse BEFORE INSERT ON "${database}"."c_notes" FOR EACH ROW WHEN (NEW.pk LIKE '%bad%') EXECUTE FUNCTION "${database}".refuse()`,
  );
  const { told } = await together(store, database, () => ["a", "bad", "c"].map((p) => create(store, p)));
  const outcomes = await told;
  expect(codes(outcomes)).toEqual(["ok", "INTERNAL", "ok"]);
  expect(((outcomes[1] as PromiseRejectedResult).reason as Error).message).toMatch(/not this one/);
  expect(await ids(store, ["a", "bad", "c"])).toEqual(["a", "c"]);
  expect(await perTransaction(database)).toEqual([1, 1]);
});

it("R-AGT-55 a connection that is cut while a group commits is an unknown outcome for all of it, and loses nothing acknowledged", async () => {
  const database = databases.fresh();
  const store = await open(database);
  const raw = await databases.raw();
  await raw.query(
    `CREATE FUNCTION "${database}".slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(42); RETURN NULL; END'`,
  );
  await raw.query(
    `CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON "${database}"."c_notes" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.pk LIKE '%slow%') EXECUTE FUNCTION "${database}".slow()`,
  );
  await raw.query("SELECT pg_advisory_lock(42)");
  const partitions = ["a", "slow", "c"];
  const { told } = await together(store, database, () => partitions.map((p) => create(store, p)));
  const committing = `FROM pg_stat_activity WHERE application_name = 'pinakes' AND query = 'COMMIT' AND wait_event_type = 'Lock'`;
  await until(async () => (await raw.query(`SELECT 1 ${committing}`)).rowCount === 1);
  await raw.query(`SELECT pg_terminate_backend(pid) ${committing}`);
  const outcomes = await told;
  expect(outcomes.map((one) => (one as PromiseRejectedResult).reason as unknown)).toEqual(
    partitions.map(() => expect.objectContaining({ code: "UNAVAILABLE", retryable: false }) as unknown),
  );
  await raw.query("SELECT pg_advisory_unlock(42)");
  const lanes = Array.from({ length: lanesMax }, (_, i) => `lane${i}`);
  expect(await ids(store, [...lanes, ...partitions])).toEqual(lanes);
  await Promise.all(partitions.map((p) => create(store, p)));
  expect(await ids(store, partitions)).toEqual(partitions);
});

it("a partition that another process holds delays only its own request", async () => {
  const database = databases.fresh();
  const store = await open(database);
  const raw = await databases.raw();
  const key = new Names(database).lockKey("partition", "notes", '["acme","held"]');
  await raw.query("SELECT pg_advisory_lock($1)", [key]);
  const held: Promise<unknown>[] = [];
  const { told } = await together(store, database, () => {
    held.push(create(store, "held"));
    return ["a", "b"].map((p) => create(store, p));
  });
  expect(codes(await told)).toEqual(["ok", "ok"]);
  await create(store, "later");
  expect(await ids(store, ["a", "b", "held", "later"])).toEqual(["a", "b", "later"]);
  await raw.query("SELECT pg_advisory_unlock($1)", [key]);
  await Promise.all(held);
  expect(await ids(store, ["held"])).toEqual(["held"]);
  await refusal(create(store, "held"), "CONFLICT");
});

it("R-AGT-53 two processes that commit to the same partitions in groups lose no update and never deadlock", async () => {
  const database = databases.fresh();
  const stores = [await open(database), await open(database)];
  const partitions = Array.from({ length: 6 }, (_, i) => `p${i}`);
  for (const p of partitions) await create(stores[0] as ItemStore, p, { n: 0 });
  const raw = await databases.raw();
  const deadlocks = async () =>
    (
      await raw.query<{ deadlocks: string }>(
        "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()",
      )
    ).rows[0];
  const before = await deadlocks();
  const increment = (store: ItemStore, p: string) =>
    store.write(scope, "notes", [p], { op: "patch", id: "x", patch: [{ op: "incr", path: "/n", value: 1 }] });
  const rounds = 12;
  // One goes through the partitions forwards, the other backwards.
  const run = async (store: ItemStore, order: readonly string[]) => {
    for (let i = 0; i < rounds; i += 1) await Promise.all([...order, ...order].map((p) => increment(store, p)));
  };
  await Promise.all(stores.map((store, i) => run(store, i === 0 ? partitions : partitions.toReversed())));
  for (const p of partitions) {
    const item = await stores[0]?.read(scope, "notes", { partition: [p], id: "x" });
    expect(item?.document["n"]).toBe(rounds * 2 * stores.length);
  }
  expect(await deadlocks()).toEqual(before);
});

interface Batch {
  readonly p: string;
  readonly operations: readonly Operation[];
}

const places = ["a", "b", "c", "d", "e"];
const batch: fc.Arbitrary<Batch> = fc.constantFrom(...places).chain((p) => {
  const id = fc.constantFrom("1", "2", "3");
  const body = fc.record(
    { id, p: fc.constant(p), n: fc.integer({ min: 0, max: 3 }), title: fc.constantFrom("t1", "t2", "t3") },
    { requiredKeys: ["id", "p"] },
  );
  const operation: fc.Arbitrary<Operation> = fc.oneof(
    fc.record({ op: fc.constantFrom("create" as const, "upsert" as const, "replace" as const), document: body }),
    fc.record({
      op: fc.constant("upsert" as const),
      document: body,
      where: fc.record({ n: fc.record({ gte: fc.constantFrom(0, 2) }) }),
    }),
    fc.record({
      op: fc.constant("patch" as const),
      id,
      patch: fc.constant([{ op: "incr" as const, path: "/n", value: 1 }]),
    }),
    fc.record({ op: fc.constant("delete" as const), id }),
    fc.record({ op: fc.constant("check" as const), id, exists: fc.boolean() }),
  );
  return fc.array(operation, { minLength: 1, maxLength: 3 }).map((operations) => ({ p, operations }));
});

/** What a caller learns, without the etags, which are random. */
async function outcomeOf(store: ItemStore, name: string, { p, operations }: Batch): Promise<unknown> {
  try {
    const { results } = await store.batch(scope, name, [p], operations);
    return results.map(({ id, document, modifiedAt }) => ({ id, document, modifiedAt }));
  } catch (error) {
    if (!PinakesError.isInstance(error)) throw error;
    return { code: error.code, batch: error.context.batch };
  }
}

/** Per partition: its items, and its changes in order. */
async function everything(store: ItemStore, name: string): Promise<unknown> {
  const changes: Change[] = [];
  for (let cursor: string | undefined, more = true; more;) {
    const page = await store.changes(scope, name, { limit: 1_000, ...(cursor === undefined ? {} : { cursor }) });
    changes.push(...page.changes);
    ({ cursor, more } = page);
  }
  const states = places.map(async (p) => ({
    items: (await store.query(scope, name, { equals: { p } })).items.map(({ document }) => document),
    changes: changes
      .filter(({ partition }) => partition[0] === p)
      .map(({ kind, id, at, document }) => ({ kind, id, at, document })),
  }));
  return Promise.all(states);
}

it("R-AGT-55 concurrent batches over a few partitions give the same result as sequential ones", async () => {
  const clock = { now: () => Date.UTC(2030, 0, 1) };
  const database = databases.fresh();
  const store = await databases.store(database, { clock });
  await using oracle = await openMemoryItems({ clock });
  const raw = await databases.raw();
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(batch, { minLength: 10, maxLength: 60 }), async (random) => {
      // The first of each partition always writes: more partitions than lanes, so some of these are grouped.
      const batches = [
        ...places.map((p): Batch => ({ p, operations: [{ op: "create", document: { id: "0", p } }] })),
        ...random,
      ];
      const name = `run-${(run += 1)}`;
      for (const one of [store, oracle]) await one.openContainer({ ...container, name });
      // Those of one partition keep the order in which they were called.
      const actual = await Promise.all(batches.map((one) => outcomeOf(store, name, one)));
      const expected: unknown[] = [];
      for (const one of batches) expected.push(await outcomeOf(oracle, name, one));
      expect(actual).toEqual(expected);
      expect(await everything(store, name)).toEqual(await everything(oracle, name));
      const { rowCount } = await raw.query(
        `SELECT xid FROM "${database}"."f_${name}" GROUP BY xid HAVING count(DISTINCT pk) > 1`,
      );
      expect(rowCount).toBeGreaterThan(0);
    }),
    { numRuns: 15 },
  );
});
