import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, it } from "vitest";
import { limits } from "../../domain/limits.ts";
import { systemScope, tenantScope } from "../../domain/scope.ts";
import { normaliseDefinition } from "../../items/compiled-container.ts";
import type { CommitMessage } from "./messages.ts";
import { prepareDocument } from "../../items/prepare.ts";
import type { ContainerDefinition, ItemStore } from "../../ports/item-store.ts";
import { itemStoreSuite } from "../../testing/item-store-suite.ts";
import { openSqliteItems } from "./index.ts";
import { createMeta, openDatabase, type SqliteContainer } from "./schema.ts";
import { Writer } from "./writer.ts";

const folders: string[] = [];
function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), "pinakes-sqlite-"));
  folders.push(dir);
  return dir;
}
afterAll(() => {
  for (const dir of folders) rmSync(dir, { recursive: true, force: true });
});

const dir = folder();
itemStoreSuite({
  name: "sqlite",
  open: ({ clock }) => openSqliteItems({ dir, clock }),
  reopen: ({ clock }) => openSqliteItems({ dir, clock }),
});

const scope = tenantScope("acme");
const notes: ContainerDefinition = {
  name: "notes",
  partitionKey: ["p"],
  ttl: -1,
  feed: true,
  uniqueKeys: { name: ["name"] },
  indexes: { byN: { partition: ["p"], sort: ["n"] } },
};

function inspect<T>(at: string, read: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(join(at, "pinakes.sqlite"), { readOnly: true });
  try {
    return read(db);
  } finally {
    db.close();
  }
}

async function indexesReady(store: ItemStore): Promise<void> {
  while ((await store.indexes("notes")).some(({ state }) => state === "building"))
    await new Promise((resolve) => setTimeout(resolve, 5));
}

describe("the SQLite file", () => {
  it("R-AGT-01 is named after the database, is created by opening, and opening again changes nothing in it", async () => {
    const at = folder();
    const schemas: unknown[] = [];
    for (let i = 0; i < 2; i += 1) {
      await using store = await openSqliteItems({ dir: at });
      await store.openContainer(notes);
      schemas.push(
        inspect(at, (db) => [
          db.prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY name").all(),
          db.prepare("SELECT * FROM containers").all(),
          db.prepare("SELECT * FROM meta").all(),
        ]),
      );
    }
    expect(schemas[1]).toEqual(schemas[0]);
    await using named = await openSqliteItems({ dir: at, database: "other" });
    await named.openContainer(notes);
    expect(await named.count(scope, "notes", { equals: { p: "a" } })).toBe(0);
  });

  it("is durable by its settings: WAL, synchronous FULL, 8 KB pages", () => {
    const db = openDatabase(join(folder(), "x.sqlite"));
    const pragma = (name: string) => Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0];
    expect([pragma("journal_mode"), pragma("synchronous"), pragma("page_size")]).toEqual(["wal", 2, 8192]);
    db.close();
  });

  it("serves queries from indexes, never by scanning the table", async () => {
    const at = folder();
    await using store = await openSqliteItems({ dir: at });
    await store.openContainer(notes);
    const plan = (sql: string) =>
      inspect(at, (db) =>
        db
          .prepare(`EXPLAIN QUERY PLAN ${sql}`)
          .all()
          .map((row) => String(row["detail"]))
          .join("; "),
      );
    expect(
      plan(`SELECT doc FROM "c_notes" WHERE k_byN_1 >= x'01' AND k_byN_1 < x'02' ORDER BY k_byN_1 LIMIT 5`),
    ).toMatch(/^SEARCH c_notes USING INDEX c_notes\.k_byN_1/);
    expect(plan(`SELECT doc FROM "c_notes" WHERE pk = 'x' AND id >= '' ORDER BY id DESC LIMIT 5`)).toMatch(
      /^SEARCH c_notes USING INDEX sqlite_autoindex/,
    );
    expect(
      plan(`SELECT id FROM "c_notes" WHERE own_expiry IS NOT NULL AND own_expiry <= 5 ORDER BY own_expiry LIMIT 5`),
    ).toMatch(/by_own_expiry/);
    expect(
      plan(`SELECT id FROM "c_notes" WHERE ttl IS NULL AND modified_at <= 5 ORDER BY modified_at LIMIT 5`),
    ).toMatch(/by_default_expiry/);
    expect(plan(`SELECT id FROM "c_notes" WHERE pk = 'x' AND "u_name" = 'n'`)).toMatch(/u_name/);
    expect(plan(`SELECT seq FROM "f_notes" WHERE tenant = 'x' AND seq > 5 AND seq <= 10 ORDER BY seq LIMIT 5`)).toMatch(
      /^SEARCH/,
    );
  });
});

describe("two stores on one file", () => {
  it("R-AGT-62 a writer with the old definition keeps a new index complete", async () => {
    const at = folder();
    await using old = await openSqliteItems({ dir: at });
    await old.openContainer(notes);
    for (let n = 0; n < 30; n += 1)
      await old.write(scope, "notes", ["a"], { op: "create", document: { id: `i${n}`, p: "a", n } });
    await using next = await openSqliteItems({ dir: at });
    await next.openContainer({ ...notes, indexes: { ...notes.indexes, byM: { partition: ["p"], sort: ["m"] } } });
    await old.write(scope, "notes", ["a"], { op: "create", document: { id: "late", p: "a", n: 99, m: 1 } });
    await indexesReady(next);
    expect(await next.count(scope, "notes", { index: "byM", equals: { p: "a", m: 1 } })).toBe(1);
    expect(await next.count(scope, "notes", { index: "byM", equals: { p: "a" } })).toBe(31);
    // Opened again by the older code: the index it does not declare is kept.
    await old.openContainer(notes);
    expect((await next.indexes("notes")).map(({ name }) => name)).toEqual(["byM", "byN"]);
  });

  it("the other store sees a changed index or ttl at once in queries", async () => {
    const at = folder();
    await using one = await openSqliteItems({ dir: at });
    await using two = await openSqliteItems({ dir: at });
    const x: ContainerDefinition = {
      name: "notes",
      partitionKey: ["p"],
      ttl: 3_600,
      indexes: { byX: { partition: ["p"], sort: ["x"] } },
    };
    for (const store of [one, two]) await store.openContainer(x);
    for (let n = 0; n < 5; n += 1)
      await one.write(scope, "notes", ["a"], { op: "create", document: { id: `i${n}`, p: "a", x: n, y: -n } });
    await two.openContainer({ ...x, ttl: null, indexes: { byX: { partition: ["p"], sort: ["y"] } } });
    await indexesReady(two);
    for (const limit of [10, 200]) {
      const page = await one.query(scope, "notes", { index: "byX", equals: { p: "a" }, limit });
      expect(page.items.map(({ id }) => id)).toEqual(["i4", "i3", "i2", "i1", "i0"]);
    }
    await two.openContainer({ name: "notes", partitionKey: ["p"] }, { dropUndeclaredIndexes: true });
    await expect(one.query(scope, "notes", { index: "byX", equals: { p: "a" } })).rejects.toThrow(/has no index/);
  });

  it("a changed ttl reaches the other store's point reads, also while it is busy with another container", async () => {
    const at = folder();
    await using one = await openSqliteItems({ dir: at });
    await using two = await openSqliteItems({ dir: at });
    const busy: ContainerDefinition = { name: "busy", partitionKey: ["p"] };
    const changing: ContainerDefinition = { name: "changing", partitionKey: ["p"], ttl: 3_600 };
    for (const store of [one, two]) for (const definition of [busy, changing]) await store.openContainer(definition);
    await one.write(scope, "changing", ["a"], { op: "create", document: { id: "x", p: "a" } });
    await two.openContainer({ ...changing, ttl: 1 });
    const key = { partition: ["a"], id: "x" };
    // By the old ttl it would be visible for an hour.
    for (let there = true; there; there = (await one.read(scope, "changing", key)) !== undefined) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      await one.read(scope, "busy", key);
    }
  });

  it("both write, and each sees the other's writes", async () => {
    const at = folder();
    await using one = await openSqliteItems({ dir: at });
    await using two = await openSqliteItems({ dir: at });
    for (const store of [one, two]) await store.openContainer(notes);
    await one.write(scope, "notes", ["a"], { op: "create", document: { id: "x", p: "a", n: 0 } });
    await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        (i % 2 ? one : two).write(scope, "notes", ["a"], {
          op: "patch",
          id: "x",
          patch: [{ op: "incr", path: "/n", value: 1 }],
        }),
      ),
    );
    for (const store of [one, two])
      expect((await store.read(scope, "notes", { partition: ["a"], id: "x" }))?.document).toMatchObject({ n: 60 });
    expect((await two.changes(scope, "notes", { limit: 1_000 })).changes).toHaveLength(61);
  });
});

describe("an index build", () => {
  it("R-AGT-62 an interrupted one continues when the container is opened again", async () => {
    const at = folder();
    const { indexes: _, ...plain } = notes;
    {
      await using store = await openSqliteItems({ dir: at });
      await store.openContainer(plain);
      for (let start = 0; start < 1_000; start += 100) {
        await store.batch(
          scope,
          "notes",
          ["a"],
          Array.from({ length: 100 }, (_unused, i) => ({
            op: "create",
            document: { id: `i${start + i}`, p: "a", n: start + i },
          })),
        );
      }
    }
    // A writer that stops after the definition changed and two of five steps were done.
    const db = openDatabase(join(at, "pinakes.sqlite"));
    const writer = new Writer(db);
    writer.openContainer(normaliseDefinition(notes), {});
    expect([writer.buildStep("notes", false), writer.buildStep("notes", false)]).toEqual(["working", "working"]);
    db.close();
    await using store = await openSqliteItems({ dir: at });
    await store.openContainer(notes);
    await indexesReady(store);
    expect(await store.count(scope, "notes", { index: "byN", equals: { p: "a" } })).toBe(1_000);
    expect(
      (await store.query(scope, "notes", { index: "byN", equals: { p: "a" }, order: "desc", limit: 1 })).items[0]?.id,
    ).toBe("i999");
  });
});

describe("an index that cannot be built", () => {
  it("reports why, and blocks neither writes nor other indexes; it is built once the reason is gone", async () => {
    const at = folder();
    await using store = await openSqliteItems({ dir: at });
    await store.openContainer({ name: "notes", partitionKey: ["p"] });
    const tooLong = { id: "long", p: "a", n: 1, text: "t".repeat(1_000) };
    await store.write(scope, "notes", ["a"], { op: "create", document: tooLong });
    await store.openContainer({
      name: "notes",
      partitionKey: ["p"],
      indexes: { aText: { partition: ["p"], sort: ["text"] }, zN: { partition: ["p"], sort: ["n"] } },
    });
    const status = async (name: string) => (await store.indexes("notes")).find((index) => index.name === name);
    while ((await status("zN"))?.state !== "ready" || (await status("aText"))?.error === undefined)
      await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await status("aText")).toMatchObject({ state: "building", error: expect.stringContaining("900") as string });
    expect(await store.count(scope, "notes", { index: "zN", equals: { p: "a" } })).toBe(1);
    await store.write(scope, "notes", ["a"], { op: "replace", document: { ...tooLong, text: "short" } });
    await store.openContainer({ name: "notes", partitionKey: ["p"], ttl: -1 });
    while ((await status("aText"))?.state !== "ready") await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await status("aText")).toEqual({ name: "aText", state: "ready", progress: 1 });
    expect(await store.count(scope, "notes", { index: "aText", equals: { p: "a", text: "short" } })).toBe(1);
  });
});

describe("a busy feed", () => {
  it("is trimmed by age, however much that is, and its pages end at their byte limit", async () => {
    let now = 1_000_000;
    await using store = await openSqliteItems({ dir: folder(), clock: { now: () => now } });
    await store.openContainer(notes);
    for (let batch = 0; batch < 25; batch += 1) {
      await store.batch(
        scope,
        "notes",
        ["a"],
        Array.from({ length: 100 }, (_, i) => ({ op: "upsert", document: { id: `i${i}`, p: "a", batch } })),
      );
    }
    now += limits.feedRetentionMs + 1;
    await store.purgeExpired(
      systemScope("test", () => {}),
      "notes",
    );
    expect((await store.changes(scope, "notes")).changes).toEqual([]);
    for (let i = 0; i < 25; i += 1)
      await store.write(scope, "notes", ["b"], {
        op: "create",
        document: { id: `b${i}`, p: "b", text: "x".repeat(700_000) },
      });
    const first = await store.changes(scope, "notes");
    expect(first.changes.length).toBeLessThan(25);
    expect(first.more).toBe(true);
    const ids = first.changes.map(({ id }) => id);
    for (let { cursor, more } = first; more;) {
      const page = await store.changes(scope, "notes", { cursor });
      ids.push(...page.changes.map(({ id }) => id));
      ({ cursor, more } = page);
    }
    expect(ids).toEqual(Array.from({ length: 25 }, (_, i) => `b${i}`));
  });
});

describe("group commit", () => {
  function group(container: SqliteContainer, ids: readonly string[]): CommitMessage[] {
    const pk = JSON.stringify(["acme", "a"]);
    return ids.map((id, call) => ({
      call,
      container: "notes",
      request: {
        tenant: "acme",
        pk,
        now: 1,
        operations: [
          {
            op: "create",
            id,
            idKey: id,
            etag: `e${call}`,
            prepared: prepareDocument(container.compiled, "acme", pk, { id, p: "a" }),
          },
        ],
      },
    }));
  }

  it("an engine error in one request fails no other of its group", () => {
    const db = openDatabase(join(folder(), "x.sqlite"));
    createMeta(db);
    const writer = new Writer(db);
    const container = writer.openContainer(normaliseDefinition(notes), {});
    db.exec(
      `CREATE TRIGGER broken BEFORE INSERT ON "c_notes" WHEN new.id = 'bad' BEGIN SELECT raise(ABORT, 'disk on fire'); END`,
    );
    const results = writer.commitGroup(group(container, ["one", "bad", "two", "one"]));
    expect(results.map(({ outcome }) => (outcome instanceof Error ? outcome.message : outcome.ok))).toEqual([
      true,
      "disk on fire",
      true,
      false,
    ]);
    expect(db.prepare('SELECT id FROM "c_notes" ORDER BY id').all()).toEqual([{ id: "one" }, { id: "two" }]);
    expect(db.prepare('SELECT count(*) AS n FROM "f_notes"').get()).toEqual({ n: 2 });
    db.close();
  });

  it("more than 10,000 waiting writes are rejected, and those that wait are done", async () => {
    await using store = await openSqliteItems({ dir: folder() });
    await store.openContainer({ name: "notes", partitionKey: ["p"] });
    const writes = Array.from({ length: 10_001 }, (_, i) =>
      store.write(scope, "notes", ["a"], { op: "create", document: { id: `i${i}`, p: "a" } }),
    );
    const outcomes = await Promise.allSettled(writes);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(10_000);
    expect(outcomes.at(-1)).toMatchObject({ status: "rejected", reason: { code: "UNAVAILABLE", retryable: true } });
    expect(await store.count(scope, "notes", { equals: { p: "a" } })).toBe(10_000);
  });

  it("a closed store rejects calls, and closing waits for running ones", async () => {
    const at = folder();
    const store = await openSqliteItems({ dir: at });
    await store.openContainer(notes);
    const writing = Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        store.write(scope, "notes", ["a"], { op: "create", document: { id: `i${i}`, p: "a" } }),
      ),
    );
    await store.close();
    await writing;
    await expect(
      store.write(scope, "notes", ["a"], { op: "create", document: { id: "late", p: "a" } }),
    ).rejects.toThrow(/closed/);
    await using again = await openSqliteItems({ dir: at });
    await again.openContainer(notes);
    expect(await again.count(scope, "notes", { equals: { p: "a" } })).toBe(50);
  });
});
