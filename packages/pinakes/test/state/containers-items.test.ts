/** Documents in containers: one by one, in batches and in bulk; of one's own and of the system's. */
import { describe, expect, it } from "vitest";
import type { BatchOperation } from "@pinakes/client";
import { companionField } from "../../src/state/system-container.ts";
import { bulkOperationsMax } from "../../src/state/containers/bulk.ts";
import { failure } from "../../src/testing/item-store/fixture.ts";
import { nearEngines, openNearEngine } from "./containers-engines.ts";
import { openContainers } from "./containers-fixture.ts";
import { forAllTests } from "../support/for-tests.ts";

describe.each(nearEngines)("items of containers on %s", (engine) => {
  const opened = forAllTests(() => openNearEngine(engine));
  const test = forAllTests(() => openContainers(opened.items, opened.clock));

  let count = 0;
  async function fresh(spec: object = {}): Promise<string> {
    count += 1;
    const name = `c${count}`;
    await test.containers.put(test.user, name, { partition_key: "/p", ...spec });
    return name;
  }

  it("R-AGT-04 R-AGT-05 R-AGT-10 a document comes back with a new _etag at each write, _ts, an id, and everything that was sent", async () => {
    const { containers, user, clock } = test;
    const name = await fresh();
    const sent = { p: "a", deep: { list: [1, { x: null }] }, ünï: "ö", _etag: "mine", _ts: 5 };
    const made = await containers.create(user, name, sent);
    const { _etag, _ts, id, ...rest } = made;
    expect(rest).toEqual({ p: "a", deep: { list: [1, { x: null }] }, ünï: "ö", workspace_id: "acme" });
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect([_etag === "mine", _ts]).toEqual([false, Math.floor(clock.now() / 1000)]);
    expect(await containers.read(user, name, "a", id)).toEqual(made);
    expect(await containers.read(user, name, ["a"], id)).toEqual(made);
    const etags = new Set([_etag]);
    for (let i = 0; i < 5; i += 1) etags.add((await containers.replace(user, name, { id, p: "a", same: true }))._etag);
    expect(etags.size).toBe(6);
    expect((await containers.create(user, name, { id: "msg-550e8400", p: "a" })).id).toBe("msg-550e8400");
    await failure(containers.create(user, name, { id: "msg-550e8400", p: "a" }), "CONFLICT");
    expect((await containers.create(user, name, { id: "msg-550e8400", p: "b" })).id).toBe("msg-550e8400");
  });

  it("R-AGT-06 the partition key is required, never changes, and is where a document is looked for", async () => {
    const { containers, user } = test;
    const name = await fresh({ partition_key: ["/org", "/meta/team"] });
    await failure(containers.create(user, name, { id: "x", org: "o" }), "INVALID");
    await containers.create(user, name, { id: "x", org: "o", meta: { team: 5 } });
    expect(await containers.read(user, name, ["o", 5], "x")).toMatchObject({ org: "o", meta: { team: 5 } });
    await failure(containers.read(user, name, ["o", "5"], "x"), "NOT_FOUND");
    await failure(containers.read(user, name, "o", "x"), "INVALID");
    await failure(containers.read(user, name, ["o", null], "x"), "INVALID");
    await failure(containers.replace(user, name, { id: "x", org: "other", meta: { team: 5 } }), "NOT_FOUND");
    const moved = await failure(
      containers.replace(user, name, { id: "x", org: "other", meta: { team: 5 } }, {}, ["o", 5]),
      "INVALID",
    );
    expect(moved.detail).toContain("partition key cannot change");
    await failure(
      containers.patch(user, name, ["o", 5], "x", [{ op: "set", path: "/org", value: "other" }]),
      "INVALID",
    );
    expect(await containers.read(user, name, ["o", 5], "x")).toMatchObject({ org: "o" });
  });

  it("R-AGT-52 R-AGT-54 stale etags change nothing and tell the current one; upsert, replace, patch and delete take them", async () => {
    const { containers, user } = test;
    const name = await fresh();
    const first = await containers.upsert(user, name, { id: "x", p: "a", n: 1 });
    const second = await containers.upsert(user, name, { id: "x", p: "a", n: 2 }, { ifMatch: first._etag });
    const stale = { ifMatch: first._etag };
    for (const attempt of [
      () => containers.upsert(user, name, { id: "x", p: "a", n: 3 }, stale),
      () => containers.replace(user, name, { id: "x", p: "a", n: 3 }, stale),
      () => containers.patch(user, name, "a", "x", [{ op: "incr", path: "/n", value: 1 }], stale),
      () =>
        containers.patch(user, name, "a", "x", [{ op: "incr", path: "/n", value: 1 }], {
          ...stale,
          condition: "from c where c.n = 9",
        }),
      () => containers.deleteItem(user, name, "a", "x", stale),
      () => containers.batch(user, name, "a", [{ op: "delete", id: "x", if_match: first._etag }]),
    ]) {
      expect((await failure(attempt(), "PRECONDITION_FAILED")).context.currentEtag).toBe(second._etag);
    }
    expect(await containers.read(user, name, "a", "x")).toEqual(second);
    await failure(containers.replace(user, name, { id: "none", p: "a" }), "NOT_FOUND");
    await failure(containers.deleteItem(user, name, "a", "none"), "NOT_FOUND");
    await containers.deleteItem(user, name, "a", "x", { ifMatch: second._etag });
    await failure(containers.read(user, name, "a", "x"), "NOT_FOUND");
  });

  it("R-AGT-56 patches: six operations, at most ten, escapes, conditions, and the documented errors", async () => {
    const { containers, user } = test;
    const name = await fresh();
    await containers.create(user, name, { id: "x", p: "a", n: 1, "a/b": 1, "t~d": 2, tags: ["one"], old: "v" });
    const patched = await containers.patch(user, name, "a", "x", [
      { op: "incr", path: "/n", value: 2 },
      { op: "incr", path: "/fresh", value: 5 },
      { op: "set", path: "/a~1b", value: 7 },
      { op: "remove", path: "/t~0d" },
      { op: "add", path: "/tags/-", value: "two" },
      { op: "add", path: "/tags/0", value: "zero" },
      { op: "replace", path: "/tags/1", value: "ONE" },
      { op: "move", from: "/old", path: "/new" },
    ]);
    expect(patched).toMatchObject({ n: 3, fresh: 5, "a/b": 7, tags: ["zero", "ONE", "two"], new: "v" });
    expect([Object.hasOwn(patched, "t~d"), Object.hasOwn(patched, "old")]).toEqual([false, false]);
    const steps = (n: number) => Array.from({ length: n }, () => ({ op: "incr", path: "/n", value: 1 }) as const);
    expect(
      await containers.patch(user, name, "a", "x", steps(10), {
        condition: "FROM c WHERE c.n = 3 AND ARRAY_CONTAINS(c.tags, 'two')",
      }),
    ).toMatchObject({
      n: 13,
    });
    const before = await containers.read(user, name, "a", "x");
    const wrong: readonly (readonly [unknown, RegExp])[] = [
      [steps(11), /at most 10/],
      [[], /1 or more/],
      [[{ op: "replace", path: "/none", value: 1 }], /nothing to replace/],
      [[{ op: "remove", path: "/none" }], /nothing to remove/],
      [[{ op: "add", path: "/tags/9", value: 1 }], /outside the array/],
      [[{ op: "incr", path: "/tags", value: 1 }], /not a number/],
      [[{ op: "set", path: "n", value: 1 }], /RFC 6901/],
      [[{ op: "set", path: "/a~2", value: 1 }], /RFC 6901/],
      [[{ op: "set", path: "/id", value: 1 }], /cannot be patched/],
      [[{ op: "set", path: "/_etag", value: 1 }], /cannot be patched/],
      [[{ op: "set", path: `/${companionField}`, value: 1 }], /cannot be patched/],
      [[{ op: "copy", path: "/n", value: 1 }], /must be add, set/],
    ];
    for (const [operations, expected] of wrong)
      expect((await failure(containers.patch(user, name, "a", "x", operations as never), "INVALID")).detail).toMatch(
        expected,
      );
    const unmet = await failure(
      containers.patch(user, name, "a", "x", steps(1), { condition: "from c where c.n = 3" }),
      "PRECONDITION_FAILED",
    );
    expect(unmet.context.currentEtag).toBe(before._etag);
    for (const condition of [
      "c.n = 3",
      "from c",
      "from c where",
      "from c where c.n = 13 order by c.n",
      "from c join t in c.tags where t = 'two'",
      5,
    ])
      await failure(containers.patch(user, name, "a", "x", steps(1), { condition: condition as never }), "INVALID");
    expect(await containers.read(user, name, "a", "x")).toEqual(before);
    await failure(containers.patch(user, name, "a", "none", steps(1)), "NOT_FOUND");
    await failure(
      containers.patch(user, name, "a", "none", steps(1), { condition: "from c where c.n = 3" }),
      "NOT_FOUND",
    );
  });

  it("R-AGT-56 a condition is decided and the patch written in one step: of thirty at once ten get through", async () => {
    const { containers, user } = test;
    const name = await fresh();
    await containers.create(user, name, { id: "x", p: "a", n: 0 });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 30 }, () =>
        containers.patch(user, name, "a", "x", [{ op: "incr", path: "/n", value: 1 }], {
          condition: "from c where c.n < 10",
        }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
    expect(await containers.read(user, name, "a", "x")).toMatchObject({ n: 10 });
  });

  it("R-AGT-55 R-AGT-52 a batch: everything or nothing, the failing operation with its status and 424 for the others; at 100 and at 101", async () => {
    const { containers, user } = test;
    const name = await fresh();
    const old = await containers.create(user, name, { id: "old", p: "a", n: 1 });
    const { results } = await containers.batch(user, name, "a", [
      { op: "check", id: "new", exists: false },
      { op: "create", document: { id: "new", p: "a", n: 1 } },
      { op: "read", id: "old" },
      { op: "patch", id: "old", operations: [{ op: "incr", path: "/n", value: 1 }], if_match: old._etag },
      { op: "read", id: "old" },
      { op: "upsert", document: { id: "up", p: "a" } },
      { op: "replace", document: { id: "new", p: "a", n: 5 } },
      { op: "read", id: "new" },
      { op: "delete", id: "up" },
    ]);
    expect(results.map(({ status }) => status)).toEqual([200, 201, 200, 200, 200, 200, 200, 200, 204]);
    expect(results[2]?.document).toEqual(old);
    expect([results[3]?.document, results[4]?.document, results[7]?.document]).toMatchObject([
      { n: 2 },
      { n: 2 },
      { n: 5 },
    ]);
    expect(results[4]?.etag).toBe((await containers.read(user, name, "a", "old"))._etag);
    expect(results[7]).toMatchObject({ etag: (await containers.read(user, name, "a", "new"))._etag });
    await failure(containers.read(user, name, "a", "up"), "NOT_FOUND");
    const failing: readonly (readonly [
      BatchOperation,
      "CONFLICT" | "NOT_FOUND" | "PRECONDITION_FAILED" | "INVALID",
      number,
    ])[] = [
      [{ op: "create", document: { id: "old", p: "a" } }, "CONFLICT", 409],
      [{ op: "replace", document: { id: "none", p: "a" } }, "NOT_FOUND", 404],
      [{ op: "read", id: "none" }, "NOT_FOUND", 404],
      [{ op: "delete", id: "none" }, "NOT_FOUND", 404],
      [{ op: "delete", id: "old", if_match: "stale" }, "PRECONDITION_FAILED", 412],
      [{ op: "check", id: "old", if_match: "stale" }, "PRECONDITION_FAILED", 412],
      [{ op: "create", document: { id: "y", p: "elsewhere" } }, "INVALID", 400],
      [{ op: "create", document: { id: "~y", p: "a" } }, "INVALID", 400],
      [{ op: "patch", id: "old", operations: [] }, "INVALID", 400],
      [{ op: "nonsense" } as never, "INVALID", 400],
    ];
    for (const [operation, code, status] of failing) {
      const write = { op: "create", document: { id: "written", p: "a" } } as const;
      const error = await failure(
        containers.batch(user, name, "a", [write, operation, { op: "delete", id: "new" }]),
        code,
      );
      expect(error.context.batch).toEqual({ index: 1, statuses: [424, status, 424] });
      await failure(containers.read(user, name, "a", "written"), "NOT_FOUND");
    }
    const many = (n: number): BatchOperation[] =>
      Array.from({ length: n }, (_, i) => ({ op: "create", document: { id: `n${i}`, p: "a" } }));
    expect((await failure(containers.batch(user, name, "a", many(101)), "LIMIT_EXCEEDED")).detail).toContain(
      "at most 100",
    );
    await failure(containers.read(user, name, "a", "n0"), "NOT_FOUND");
    expect((await containers.batch(user, name, "a", many(100))).results).toHaveLength(100);
    await failure(containers.batch(user, name, "a", []), "INVALID");
    const large = (id: string): BatchOperation => ({
      op: "create",
      document: { id, p: "a", text: "x".repeat(1_100_000) },
    });
    expect(
      (await failure(containers.batch(user, name, "a", [large("l1"), large("l2")]), "LIMIT_EXCEEDED")).detail,
    ).toMatch(/bytes/);
  });

  it("readMany: in the order of the keys, null where there is none, at most 100", async () => {
    const { containers, user } = test;
    const name = await fresh();
    const made = await containers.create(user, name, { id: "x", p: "a" });
    expect(
      await containers.readMany(user, name, [
        { pk: "b", id: "x" },
        { pk: "a", id: "x" },
      ]),
    ).toEqual({ items: [null, made] });
    const keys = (n: number) => Array.from({ length: n }, (_, i) => ({ pk: "a", id: `k${i}` }));
    expect((await containers.readMany(user, name, keys(100))).items).toHaveLength(100);
    await failure(containers.readMany(user, name, keys(101)), "INVALID");
    await failure(containers.readMany(user, name, [{ pk: "a" }] as never), "INVALID");
  });

  it("bulk: any partitions, each operation by itself, in order within a partition; 10,000 and no more", async () => {
    const { containers, user } = test;
    const name = await fresh();
    const stale = await containers.create(user, name, { id: "there", p: "p1", n: 1 });
    await containers.replace(user, name, { id: "there", p: "p1", n: 2 });
    const good = Array.from(
      { length: 200 },
      (_, i) => ({ op: "create", document: { id: `g${i}`, p: `p${i % 3}` } }) as const,
    );
    const result = await containers.bulk(user, name, [
      ...good,
      { op: "create", document: { id: "there", p: "p1" } },
      { op: "upsert", document: { id: "made", p: "p2", n: 1 } },
      { op: "patch", pk: "p2", id: "made", operations: [{ op: "incr", path: "/n", value: 1 }] },
      { op: "patch", id: "made", operations: [{ op: "incr", path: "/n", value: 1 }] },
      { op: "delete", pk: "p0", id: "g0" },
      { op: "delete", pk: "p0", id: "g0" },
      { op: "replace", document: { id: "there", p: "p1" }, if_match: stale._etag },
      { op: "create", document: { p: "new partition" } },
      { op: "read", pk: "p1", id: "there" },
      { op: "create", document: { id: "no partition" } },
      "nonsense" as never,
    ]);
    expect(result.lines).toHaveLength(211);
    expect(result.lines.map(({ line }) => line)).toEqual(Array.from({ length: 211 }, (_, i) => i + 1));
    expect(result.lines.slice(200).map(({ status }) => status)).toEqual([
      409, 200, 200, 400, 204, 404, 412, 201, 400, 400, 400,
    ]);
    expect([result.succeeded, result.failed]).toEqual([204, 7]);
    expect(result.lines[203]?.error).toMatchObject({
      code: "INVALID",
      detail: expect.stringContaining("pk") as string,
    });
    expect(await containers.read(user, name, "p2", "made")).toMatchObject({ n: 2 });
    expect(await containers.read(user, name, "p1", "there")).toMatchObject({ n: 2 });
    expect(await containers.read(user, name, "new partition", result.lines[207]?.id as string)).toMatchObject({
      p: "new partition",
    });
    const many = (n: number) =>
      Array.from({ length: n }, (_, i) => ({ op: "upsert", document: { id: `m${i}`, p: `q${i % 50}` } }) as const);
    expect(
      (await failure(containers.bulk(user, name, many(bulkOperationsMax + 1)), "LIMIT_EXCEEDED")).detail,
    ).toContain("10000");
    expect(await containers.bulk(user, name, many(bulkOperationsMax))).toMatchObject({ succeeded: 10_000, failed: 0 });
    expect(
      await containers.query(user, name, { query: "SELECT VALUE COUNT(1) FROM c WHERE STARTSWITH(c.p, 'q')" }),
    ).toMatchObject({ items: [10_000] });
  });

  it("deletePartition removes a partition and nothing else, also when it is large", async () => {
    const { containers, user } = test;
    const name = await fresh();
    await containers.bulk(
      user,
      name,
      Array.from(
        { length: 2_100 },
        (_, i) => ({ op: "create", document: { id: `i${i}`, p: i === 0 ? "b" : "a" } }) as const,
      ),
    );
    expect(await containers.deletePartition(user, name, "a")).toEqual({ deleted: 2_099 });
    expect(await containers.deletePartition(user, name, "a")).toEqual({ deleted: 0 });
    expect(await containers.query(user, name, { query: "SELECT VALUE c.id FROM c" })).toMatchObject({ items: ["i0"] });
  });

  it("every method asks for a caller first", async () => {
    const { containers } = test;
    for (const name of [
      "list",
      "put",
      "get",
      "delete",
      "indexes",
      "create",
      "upsert",
      "replace",
      "read",
      "patch",
      "deleteItem",
      "readMany",
      "batch",
      "bulk",
      "query",
      "explain",
      "changes",
      "deletePartition",
    ] as const) {
      const method = containers[name].bind(containers) as (...args: unknown[]) => Promise<unknown>;
      await failure(method(undefined, "test-tasks", "x"), "UNAUTHENTICATED");
      await failure(method({ scope: test.user.scope, role: "admin" }, "test-tasks", "x"), "UNAUTHENTICATED");
    }
  });

  it("R-AGT-46 R-AGT-47 R-AGT-48 R-AGT-49 R-AGT-51 time to live: nine cases, edges, and a default that changes for what is there", async () => {
    const { containers, user, admin, clock } = test;
    const names = new Map<string, string>();
    for (const default_ttl of [null, -1, 10]) {
      const name = await fresh({ default_ttl });
      names.set(String(default_ttl), name);
      for (const ttl of [undefined, -1, 5])
        await containers.create(user, name, { id: `t${ttl}`, p: "a", ...(ttl === undefined ? {} : { ttl }) });
    }
    const left = async (): Promise<string[]> => {
      const lists = await Promise.all(
        [...names].map(async ([key, name]) =>
          (await containers.query(user, name, { query: "SELECT VALUE c.id FROM c ORDER BY c.id" })).items.map(
            (id) => `${key}:${id as string}`,
          ),
        ),
      );
      return lists.flat();
    };
    const all = [
      "null:t-1",
      "null:t5",
      "null:tundefined",
      "-1:t-1",
      "-1:t5",
      "-1:tundefined",
      "10:t-1",
      "10:t5",
      "10:tundefined",
    ];
    expect(await left()).toEqual(all);
    clock.advance(4_999);
    expect(await left()).toEqual(all);
    await containers.patch(user, names.get("10") as string, "a", "t5", [{ op: "set", path: "/touched", value: true }]);
    clock.advance(1);
    expect(await left()).toEqual(all.filter((key) => key !== "-1:t5"));
    await failure(containers.read(user, names.get("-1") as string, "a", "t5"), "NOT_FOUND");
    await failure(containers.batch(user, names.get("-1") as string, "a", [{ op: "read", id: "t5" }]), "NOT_FOUND");
    clock.advance(4_999);
    expect(await left()).toEqual(all.filter((key) => key !== "-1:t5" && key !== "10:t5"));
    clock.advance(1);
    expect(await left()).toEqual(["null:t-1", "null:t5", "null:tundefined", "-1:t-1", "-1:tundefined", "10:t-1"]);
    await containers.put(admin, names.get("null") as string, { partition_key: "/p", default_ttl: 1_000 });
    expect(await left()).toEqual(["null:t-1", "null:tundefined", "-1:t-1", "-1:tundefined", "10:t-1"]);
    clock.advance(1_000_000);
    expect(await left()).toEqual(["null:t-1", "-1:t-1", "-1:tundefined", "10:t-1"]);
    const name = names.get("-1") as string;
    for (const ttl of [0, null, -2, 2_147_483_648, 1.5, "5"])
      await failure(containers.create(user, name, { id: "bad", p: "a", ttl }), "INVALID");
    for (const ttl of [1, 2_147_483_647]) await containers.upsert(user, name, { id: "edge", p: "a", ttl });
  });

  it("documents that are none, ids that are none, workspaces of others", async () => {
    const { containers, user } = test;
    const name = await fresh();
    for (const document of [null, [], "x", 5, new Date()])
      await failure(containers.create(user, name, document as never), "INVALID");
    for (const id of ["", 5, "a/b", "x".repeat(1_024), "~x"])
      await failure(containers.create(user, name, { id, p: "a" } as never), "INVALID");
    await failure(containers.create(user, name, { id: "x", p: "a", workspace_id: "other" }), "FORBIDDEN");
    await containers.create(user, name, { id: "x", p: "a", workspace_id: "acme" });
    for (const operation of [
      { op: "set", path: "/workspace_id", value: "other" },
      { op: "remove", path: "/workspace_id" },
      { op: "move", from: "/workspace_id", path: "/w" },
      { op: "move", from: "/p", path: "/workspace_id" },
    ] as const)
      await failure(containers.patch(user, name, "a", "x", [operation]), "FORBIDDEN");
    const same = await containers.patch(user, name, "a", "x", [{ op: "set", path: "/workspace_id", value: "acme" }]);
    expect(same["workspace_id"]).toBe("acme");
    await failure(containers.replace(user, name, { p: "a" } as never), "INVALID");
  });
});
