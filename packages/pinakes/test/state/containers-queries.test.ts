/** Queries and changes of containers. */
import { beforeAll, describe, expect, it } from "vitest";
import type { IndexQuery, SqlQuery } from "@pinakes/client";
import { failure } from "../../src/testing/item-store/fixture.ts";
import { itemsOf, pagesOf } from "../../src/runtime/pages.ts";
import { nearEngines, openNearEngine } from "./containers-engines.ts";
import { openContainers } from "./containers-fixture.ts";
import { forAllTests } from "../support/for-tests.ts";

const documents = Array.from({ length: 120 }, (_, i) => ({
  id: `i${String(i).padStart(3, "0")}`,
  p: `p${i % 4}`,
  status: ["open", "done", "held"][i % 3] as string,
  rank: (i * 37) % 50,
  body: `text ${i % 10}`,
  meta: { kind: i % 2 === 0 ? "even" : "odd" },
}));
const policy = {
  includedPaths: [{ path: "/status/?" }, { path: "/rank/?" }, { path: "/meta/kind/?" }],
  excludedPaths: [{ path: "/body/?" }],
  compositeIndexes: [[{ path: "/status" }, { path: "/rank", order: "descending" as const }]],
};

describe.each(nearEngines)("queries of containers on %s", (engine) => {
  const opened = forAllTests(() => openNearEngine(engine));
  const test = forAllTests(() => openContainers(opened.items, opened.clock));
  beforeAll(async () => {
    const { containers, user } = test;
    await containers.put(user, "docs", { partition_key: "/p", indexing_policy: policy });
    await containers.put(user, "strictly", { partition_key: "/p", indexing_policy: policy, strict: true });
    for (const name of ["docs", "strictly"])
      await containers.bulk(
        user,
        name,
        documents.map((document) => ({ op: "create", document }) as const),
      );
  });

  async function all(name: string, query: IndexQuery | SqlQuery): Promise<unknown[]> {
    return Array.fromAsync(itemsOf((cursor) => test.containers.query(test.user, name, { ...query, cursor })));
  }

  it("R-AGT-57 SELECT * FROM c WHERE c.workspace_id = @workspace_id runs on every container, in pages", async () => {
    const { containers, user } = test;
    for (let i = 0; i < 30; i += 1)
      await containers.create(user, "test-tasks", {
        id: `t${i}`,
        list: `l${i % 3}`,
        created_at: "2030-01-01T00:00:00Z",
      });
    for (let i = 0; i < 30; i += 1)
      await containers.create(user, "test-log", { id: `e${i}`, day: `d${i % 3}`, workspace_id: "acme" });
    const query = {
      query: "SELECT * FROM c WHERE c.workspace_id = @workspace_id",
      parameters: [{ name: "@workspace_id", value: "acme" }],
      limit: 7,
    };
    for (const [name, count] of [
      ["docs", 120],
      ["test-tasks", 30],
      ["test-log", 30],
    ] as const) {
      const found = (await all(name, query)) as { id: string; _etag: string; _ts: number }[];
      expect(new Set(found.map(({ id }) => id)).size).toBe(count);
      expect(found).toHaveLength(count);
      for (const document of found)
        expect(document).toMatchObject({
          workspace_id: "acme",
          _etag: expect.any(String) as string,
          _ts: 1_893_456_000,
        });
    }
    expect(await all("test-tasks", { query: "SELECT VALUE COUNT(1) FROM c" })).toEqual([30]);
    expect(await all("test-tasks", { query: "SELECT VALUE c.pinakes_seen FROM c" })).toEqual([]);
  });

  it("an index form and SQL give the same, with filters, ranges, orders and pages", async () => {
    const open = documents
      .filter(({ status }) => status === "open")
      .toSorted((a, b) => b.rank - a.rank || (a.id < b.id ? -1 : 1));
    const ids = (found: unknown[]) => (found as { id: string }[]).map(({ id }) => id);
    const index = "by_status_rank_desc";
    expect(ids(await all("docs", { index, equals: { status: "open" }, limit: 9 }))).toEqual(open.map(({ id }) => id));
    expect(
      ids(
        await all("docs", {
          index,
          equals: { "/status": "open" },
          range: { gte: 25 },
          filter: { "meta.kind": "even" },
        }),
      ),
    ).toEqual(open.filter(({ rank, meta }) => rank >= 25 && meta.kind === "even").map(({ id }) => id));
    expect(
      ids(await all("docs", { query: "SELECT * FROM c WHERE c.status = 'open' ORDER BY c.rank DESC", limit: 9 })),
    ).toEqual(open.map(({ id }) => id));
    expect(ids(await all("docs", { equals: { p: "p1" }, order: "desc", limit: 11 }))).toEqual(
      documents
        .filter(({ p }) => p === "p1")
        .map(({ id }) => id)
        .toReversed(),
    );
    expect(await all("docs", { query: "SELECT VALUE COUNT(1) FROM c WHERE c.rank < 10", pk: "p2" })).toEqual([
      documents.filter(({ p, rank }) => p === "p2" && rank < 10).length,
    ]);
  });

  it("R-AGT-59 ORDER BY of two properties: strict containers need the composite index or its reverse; others answer with advice", async () => {
    const { containers, user } = test;
    const served = [
      "SELECT * FROM c ORDER BY c.status, c.rank DESC",
      "SELECT * FROM c ORDER BY c.status DESC, c.rank ASC",
    ];
    for (const query of served) {
      expect(await containers.explain(user, "strictly", { query })).toMatchObject({
        access: "index",
        index: "by_status_rank_desc",
        order_served: true,
        advice: null,
      });
      expect(await containers.query(user, "strictly", { query })).not.toHaveProperty("advice");
    }
    const query = "SELECT * FROM c ORDER BY c.status ASC, c.rank ASC";
    const refused = await failure(containers.query(user, "strictly", { query }), "INVALID");
    expect(refused.detail).toMatch(/"\/status".*"\/rank"/);
    await failure(containers.query(user, "docs", { query, strict: true }), "INVALID");
    const page = await containers.query(user, "docs", { query, limit: 1_000 });
    expect(page.advice).toContain("/rank");
    expect((page.items as { id: string }[]).map(({ id }) => id)).toEqual(
      documents
        .toSorted((a, b) =>
          a.status === b.status ? a.rank - b.rank || (a.id < b.id ? -1 : 1) : a.status < b.status ? -1 : 1,
        )
        .map(({ id }) => id),
    );
  });

  it("R-AGT-61 a filter on an excluded path: refused in a strict container, answered with advice elsewhere", async () => {
    const { containers, user } = test;
    const query = "SELECT VALUE c.id FROM c WHERE c.body = 'text 3' AND c.status = 'open'";
    expect((await failure(containers.query(user, "strictly", { query }), "INVALID")).detail).toMatch(/excludes \/body/);
    await failure(containers.explain(user, "strictly", { query }), "INVALID");
    await failure(containers.query(user, "strictly", { query: "SELECT * FROM c WHERE c.other = 1" }), "INVALID");
    expect(
      (await containers.query(user, "strictly", { query: "SELECT * FROM c WHERE c.meta.kind = 'odd' AND c.p = 'p1'" }))
        .items,
    ).toHaveLength(30);
    const page = await containers.query(user, "docs", { query });
    expect(page.items).toHaveLength(
      documents.filter(({ body, status }) => body === "text 3" && status === "open").length,
    );
    expect(page.advice).toContain("/body");
    expect(await containers.explain(user, "docs", { query })).toMatchObject({
      access: "index",
      evaluated: ["body"],
      advice: expect.stringContaining("/body") as string,
    });
    expect(await containers.explain(user, "docs", { query: "SELECT * FROM c WHERE c.body = 'x'" })).toMatchObject({
      access: "scan",
      index: "all",
      evaluated: ["body"],
    });
    expect(await containers.explain(user, "docs", { query: "SELECT * FROM c WHERE c.p = 'p1'" })).toMatchObject({
      access: "partition",
      index: null,
    });
    const filter = { or: [{ body: "text 3" }, { not: { status: "open" } }] };
    await failure(containers.query(user, "strictly", { index: "all", equals: {}, filter }), "INVALID");
    expect(
      (await containers.query(user, "strictly", { index: "all", equals: {}, filter: { "/meta/kind": "odd" } })).items,
    ).toHaveLength(60);
    expect((await containers.query(user, "docs", { index: "all", equals: {}, filter })).advice).toContain("/body");
    expect(await containers.explain(user, "docs", { index: "all", equals: {}, filter })).toEqual({
      access: "index",
      index: "all",
      order_served: true,
      evaluated: ["body", "status"],
      advice: expect.stringContaining("/body") as string,
    });
    expect(
      await containers.explain(user, "test-tasks", { query: "SELECT * FROM c ORDER BY c.created_at" }),
    ).toMatchObject({
      index: "byTime",
      order_served: true,
    });
    await failure(containers.explain(user, "docs", { index: "none", equals: {} }), "INVALID");
  });

  it("R-AGT-60 a cursor goes on exactly where it was while others write, across partitions, in any order; tampered or foreign it is refused", async () => {
    const { containers, user } = test;
    await containers.put(user, "moving", { partition_key: "/p", indexing_policy: policy });
    await containers.bulk(
      user,
      "moving",
      documents.map((document) => ({ op: "create", document }) as const),
    );
    for (const query of [
      "SELECT * FROM c ORDER BY c.status, c.rank DESC",
      "SELECT * FROM c ORDER BY c.body",
      "SELECT * FROM c",
    ]) {
      const seen: string[] = [];
      for await (const page of pagesOf((cursor) => containers.query(user, "moving", { query, limit: 13, cursor }))) {
        seen.push(...(page.items as { id: string }[]).map(({ id }) => id));
        await containers.upsert(user, "moving", {
          id: `extra${seen.length}`,
          p: "p9",
          status: "aaa",
          rank: 1,
          body: "a",
        });
      }
      const original = seen.filter((id) => !id.startsWith("extra"));
      expect(new Set(seen).size).toBe(seen.length);
      expect(original.toSorted()).toEqual(documents.map(({ id }) => id));
      await containers.deletePartition(user, "moving", "p9");
    }
    const query = "SELECT * FROM c ORDER BY c.status, c.rank DESC";
    const { next_cursor } = await containers.query(user, "moving", { query, limit: 5 });
    const given = next_cursor as string;
    const middle = Math.floor(given.length / 2);
    const turned = `${given.slice(0, middle)}${given[middle] === "A" ? "B" : "A"}${given.slice(middle + 1)}`;
    for (const cursor of [turned, given.slice(0, -4), "nonsense", ""])
      await failure(containers.query(user, "moving", { query, limit: 5, cursor }), "INVALID");
    await failure(containers.query(user, "docs", { query, limit: 5, cursor: given }), "INVALID");
    await failure(containers.query(user, "moving", { query: "SELECT * FROM c", limit: 5, cursor: given }), "INVALID");
    const byIndex = await containers.query(user, "moving", { index: "all", equals: {}, limit: 5 });
    for (const cursor of [given, `${byIndex.next_cursor as string}x`])
      await failure(containers.query(user, "moving", { index: "all", equals: {}, limit: 5, cursor }), "INVALID");
    await failure(
      containers.query(user, "docs", { index: "all", equals: {}, limit: 5, cursor: byIndex.next_cursor as string }),
      "INVALID",
    );
  });

  it("what cannot be asked is refused in words, and with the name that the caller knows", async () => {
    const { containers, user } = test;
    const cases: readonly (readonly [unknown, RegExp])[] = [
      [null, /A query is/],
      [{}, /equals/],
      [{ query: "DELETE FROM c" }, /SELECT/],
      [{ query: "SELECT * FROM c WHERE ST_DISTANCE(c.a, c.b) < 1" }, /ST_DISTANCE/],
      [{ query: "SELECT udf.f(c) FROM c" }, /udf/i],
      [{ query: "SELECT * FROM c WHERE c.x = @missing" }, /@missing/],
      [{ query: "SELECT * FROM c", parameters: [{ name: "x", value: 1 }] }, /parameters\[0\]\.name/],
      [{ query: "SELECT * FROM c", parameters: [{ name: "@x" }] }, /parameters\[0\]\.value/],
      [
        {
          query: "SELECT * FROM c",
          parameters: [
            { name: "@x", value: 1 },
            { name: "@x", value: 2 },
          ],
        },
        /twice/,
      ],
      [{ query: "SELECT * FROM c", parameters: {} }, /parameters: must be a list/],
      [{ query: "SELECT * FROM c", strict: "yes" }, /strict/],
      [{ query: "SELECT * FROM c", pk: ["a", "b"] }, /pk/],
      [{ query: "SELECT * FROM c", limit: 1_001 }, /limit/],
      [{ query: "SELECT * FROM c", index: "all" }, /either/],
      [{ index: "none", equals: {} }, /"docs" has no index "none"/],
      [{ index: "all", equals: { status: "open" } }, /cannot serve/],
      [{ equals: {} }, /equals\.p/],
      [{ equals: { p: "a" }, limit: 0 }, /limit/],
      [{ equals: { p: "a" }, filter: { x: { nonsense: 1 } } }, /unknown operator/],
    ];
    for (const [query, expected] of cases) {
      const { detail } = await failure(containers.query(user, "docs", query as never), "INVALID");
      expect(detail).toMatch(expected);
      expect(detail).not.toContain("own-");
    }
    await failure(containers.query(user, "unknown", { query: "SELECT * FROM c" }), "NOT_FOUND");
  });

  it("changes: latest tells the newest of each, all tells deletes; the cursor is the container's own", async () => {
    const { containers, user, clock } = test;
    await containers.put(user, "feed", { partition_key: "/p", default_ttl: -1 });
    await containers.create(user, "feed", { id: "a", p: "x", n: 1 });
    const second = await containers.replace(user, "feed", { id: "a", p: "x", n: 2 });
    await containers.create(user, "feed", { id: "b", p: "x" });
    await containers.deleteItem(user, "feed", "x", "b");
    await containers.create(user, "feed", { id: "c", p: "x", ttl: 5 });
    const latest = await containers.changes(user, "feed");
    expect(latest.items.map(({ kind, id }) => `${kind} ${id}`)).toEqual(["put a", "put c"]);
    expect(latest.items[0]).toEqual({
      kind: "put",
      id: "a",
      pk: ["x"],
      etag: second._etag,
      at: new Date(clock.now()).toISOString(),
      document: second,
    });
    const every = await containers.changes(user, "feed", { mode: "all" });
    expect(every.items.map(({ kind, id, document }) => `${kind} ${id} ${document === undefined ? "-" : "+"}`)).toEqual([
      "put a -",
      "put a +",
      "put b -",
      "delete b -",
      "put c +",
    ]);
    clock.advance(5_000);
    for await (const entry of test.parts.work.due(Number.MAX_SAFE_INTEGER))
      if (entry.data?.["name"] === "feed") await opened.items.purgeExpired(test.parts.system, entry.key);
    const rest = await containers.changes(user, "feed", { mode: "all", cursor: every.cursor });
    expect(rest.items).toMatchObject([{ kind: "delete", id: "c", time_to_live_expired: true }]);
    expect(rest.more).toBe(false);
    expect((await containers.changes(user, "feed", { from: "now", mode: "all" })).items).toEqual([]);
    await failure(containers.changes(user, "docs", { cursor: every.cursor }), "INVALID");
    await failure(containers.changes(user, "feed", { cursor: `${every.cursor}x` }), "INVALID");
    for (const bad of [{ mode: "none" }, { from: "here" }, { limit: 0 }, { limit: 1_001 }])
      await failure(containers.changes(user, "feed", bad as never), "INVALID");
  });
});
