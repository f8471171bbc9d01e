/** Own containers: how they are declared and changed, who may, and what other workspaces learn of it (nothing). */
import { describe, expect, it } from "vitest";
import type { ContainerSpec } from "@pinakes/client";
import { containersPerWorkspaceMax } from "../../src/state/containers/user-containers.ts";
import { makeCaller } from "../../src/domain/caller.ts";
import { failure } from "../../src/testing/item-store/fixture.ts";
import { nearEngines, openNearEngine } from "./containers-engines.ts";
import { openContainers } from "./containers-fixture.ts";
import { beforeEachCall } from "./support/before-each-call.ts";
import { forAllTests } from "../support/for-tests.ts";

describe.each(nearEngines)("own containers on %s", (engine) => {
  const opened = forAllTests(() => openNearEngine(engine));
  const test = forAllTests(() => openContainers(opened.items, opened.clock));

  let count = 0;
  const newName = (): string => `own${(count += 1)}`;
  const spec: ContainerSpec = { partition_key: "/p" };

  it("R-AGT-01 declaring a container twice changes nothing; what it was declared as is shown", async () => {
    const { containers, user } = test;
    const name = newName();
    const whole: ContainerSpec = {
      partition_key: ["/org", "/team"],
      indexes: { byAge: { partition: ["/org"], sort: [{ path: "/age", order: "desc" }] } },
      indexing_policy: { includedPaths: [{ path: "/status/?" }], excludedPaths: [{ path: "/items/*/text/*" }] },
      unique_keys: { email: ["/email"] },
      default_ttl: 60,
      strict: true,
    };
    const info = await containers.put(user, name, whole);
    expect(info).toEqual({
      ...whole,
      name,
      kind: "own",
      indexes: { byAge: { partition: ["org"], sort: [{ path: "age", order: "desc" }] } },
      unique_keys: { email: ["email"] },
      normalised_policy: {
        indexingMode: "consistent",
        automatic: true,
        includedPaths: [{ path: "/status/?" }],
        excludedPaths: [{ path: "/items/[]/text/*" }, { path: "/_etag/?" }, { path: "/*" }],
        compositeIndexes: [],
      },
      optional_key: false,
      append_only: false,
      etag: info.etag,
    });
    expect(await containers.put(user, name, whole)).toEqual(info);
    expect(await containers.get(user, name)).toEqual(info);
    expect((await containers.indexes(user, name)).items).toEqual([
      { name: "all", state: "ready", progress: 1, partition: [], sort: ["id"] },
      { name: "byAge", state: "ready", progress: 1, partition: ["org"], sort: [{ path: "age", order: "desc" }] },
      { name: "by_status", state: "ready", progress: 1, partition: [], sort: ["status"] },
    ]);
    const listed = (await containers.list(user)).items;
    expect(listed.map((container) => container.name)).toEqual(expect.arrayContaining(["test-tasks", "test-log", name]));
    expect(listed.find((container) => container.name === "test-tasks")).toMatchObject({
      kind: "system",
      partition_key: "/list",
      append_only: false,
      normalised_policy: { excludedPaths: [{ path: "/_etag/?" }, { path: "/notes/[]/text/*" }, { path: "/*" }] },
    });
    expect(await containers.get(user, "test-log")).toMatchObject({
      kind: "system",
      append_only: true,
      default_ttl: null,
      indexing_policy: null,
    });
  });

  it("one that must be new is made once, whoever else makes it at the same time, and nothing of one that is there changes", async () => {
    const { containers, user, admin } = test;
    const name = newName();
    const asNew = { ifNoneMatch: "*" } as const;
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, () => containers.put(admin, name, spec, asNew)),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "PRECONDITION_FAILED" });
    const made = await containers.get(user, name);
    const refused = await failure(
      containers.put(admin, name, { ...spec, default_ttl: 5 }, asNew),
      "PRECONDITION_FAILED",
    );
    expect([refused.detail, refused.context.currentEtag]).toEqual([
      `Container "${name}" already exists; choose another name.`,
      made.etag,
    ]);
    expect(await containers.get(user, name)).toEqual(made);
    await failure(containers.put(admin, name, spec, { ifNoneMatch: made.etag as "*" }), "INVALID");
    // The name of one that was deleted is free.
    await containers.delete(admin, name);
    expect(await containers.put(user, name, { ...spec, default_ttl: 5 }, asNew)).toMatchObject({ default_ttl: 5 });
  });

  it("anybody makes one and declares it again; only an admin changes or deletes it; partition and unique keys never change", async () => {
    const { containers, user, admin } = test;
    const name = newName();
    const made = await containers.put(user, name, { ...spec, unique_keys: { u: ["/email"] } });
    await failure(containers.put(user, name, { ...spec, unique_keys: { u: ["/email"] }, default_ttl: 5 }), "FORBIDDEN");
    await failure(containers.delete(user, name), "FORBIDDEN");
    expect(
      (await failure(containers.put(admin, name, { partition_key: "/q", unique_keys: { u: ["/email"] } }), "CONFLICT"))
        .detail,
    ).toContain("partition_key is immutable");
    expect((await failure(containers.put(admin, name, spec), "CONFLICT")).detail).toContain("unique_keys is immutable");
    expect(
      (
        await failure(
          containers.put(
            admin,
            name,
            { ...spec, unique_keys: { u: ["/email"] }, default_ttl: 5 },
            { ifMatch: "stale" },
          ),
          "PRECONDITION_FAILED",
        )
      ).context.currentEtag,
    ).toBe(made.etag);
    await failure(containers.put(admin, newName(), spec, { ifMatch: "any" }), "PRECONDITION_FAILED");
    const changed = await containers.put(
      admin,
      name,
      { ...spec, unique_keys: { u: ["/email"] }, default_ttl: 5 },
      { ifMatch: made.etag },
    );
    expect(changed).toMatchObject({ default_ttl: 5 });
    expect(changed.etag).not.toBe(made.etag);
    await containers.create(user, name, { id: "a", p: "x", email: "e" });
    await failure(containers.create(user, name, { id: "b", p: "x", email: "e" }), "CONFLICT");
    await containers.create(user, name, { id: "b", p: "y", email: "e" });
    for (const taken of ["test-tasks", "test-log"]) {
      await failure(containers.put(admin, taken, { partition_key: "/p" }), "CONFLICT");
      await failure(containers.delete(admin, taken), "CONFLICT");
    }
    for (const bad of ["", "Upper", "1a", "a_b", "a.b", "../x", "x".repeat(61), 5 as never]) {
      await failure(containers.put(user, bad, spec), "INVALID");
      await failure(containers.get(user, bad), "INVALID");
    }
    await containers.put(user, "x".repeat(60), spec);
  });

  it("R-AGT-62 indexes change online: queries stay right, the new index is built and told, the old one is gone", async () => {
    const { containers, user, admin } = test;
    const name = newName();
    await containers.put(user, name, { ...spec, indexes: { byN: { partition: [], sort: ["/n"] } } });
    await containers.bulk(
      user,
      name,
      Array.from(
        { length: 500 },
        (_, i) => ({ op: "create", document: { id: `i${i}`, p: `p${i % 7}`, n: i, m: -i } }) as const,
      ),
    );
    const query = { query: "SELECT VALUE c.n FROM c WHERE c.m <= -490 ORDER BY c.m", limit: 100 };
    const right = [499, 498, 497, 496, 495, 494, 493, 492, 491, 490];
    expect((await containers.query(user, name, query)).items).toEqual(right);
    await containers.put(admin, name, { ...spec, indexes: { byM: { partition: [], sort: ["/m"] } } });
    expect((await containers.query(user, name, query)).items).toEqual(right);
    await expect
      .poll(async () =>
        (await containers.indexes(user, name)).items.map((index) => `${index.name} ${index.state} ${index.progress}`),
      )
      .toEqual(["all ready 1", "byM ready 1"]);
    expect(await containers.explain(user, name, query)).toMatchObject({
      access: "index",
      index: "byM",
      order_served: true,
    });
    expect((await containers.query(user, name, query)).items).toEqual(right);
    expect(
      (await containers.query(user, name, { index: "byM", equals: {}, range: { lte: -498 } })).items,
    ).toMatchObject([{ n: 499 }, { n: 498 }]);
    await failure(containers.query(user, name, { index: "byN", equals: {} }), "INVALID");
  });

  it("another process sees a change at once where it matters: writes, and whatever no longer fits", async () => {
    const { containers, user, admin } = test;
    const other = await test.another();
    const name = newName();
    await containers.put(user, name, spec);
    await other.containers.create(user, name, { id: "a", p: "x" });
    await containers.put(admin, name, { ...spec, indexes: { byN: { partition: [], sort: ["/n"] } } });
    await expect
      .poll(async () => (await containers.indexes(user, name)).items.every(({ state }) => state === "ready"))
      .toBe(true);
    expect((await other.containers.query(user, name, { index: "byN", equals: {} })).items).toMatchObject([{ id: "a" }]);
    await containers.delete(admin, name);
    await failure(other.containers.create(user, name, { id: "b", p: "x" }), "NOT_FOUND");
    await failure(other.containers.read(user, name, "x", "b"), "NOT_FOUND");
    await containers.put(user, name, spec);
    await containers.create(user, name, { id: "new", p: "x" });
    expect(await other.containers.read(user, name, "x", "new")).toMatchObject({ id: "new" });
    await failure(other.containers.read(user, name, "x", "a"), "NOT_FOUND");
  });

  it("a process with an older definition never has the last word", async () => {
    const { containers, user, admin, clock, items } = test;
    const name = newName();
    await containers.put(user, name, { ...spec, default_ttl: 100 });
    const reached = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    let opens = 0;
    const slow = beforeEachCall(items, async (method, args) => {
      if (method !== "openContainer" || !(args[0] as { name: string }).name.startsWith("own-") || (opens += 1) > 1)
        return;
      reached.resolve();
      await released.promise;
    });
    const other = await test.another(slow);
    const late = other.containers.get(user, name);
    await reached.promise;
    await containers.put(admin, name, {
      ...spec,
      default_ttl: 1_000_000,
      indexes: { byN: { partition: [], sort: ["/n"] } },
    });
    released.resolve();
    expect(await late).toMatchObject({ default_ttl: 1_000_000 });
    expect(opens).toBe(2);
    await containers.create(user, name, { id: "a", p: "x", n: 1 });
    clock.advance(500_000);
    for (const process of [test, other, await test.another()])
      expect(await process.containers.read(user, name, "x", "a")).toMatchObject({ id: "a" });
    await expect
      .poll(async () => (await containers.indexes(user, name)).items.map((index) => `${index.name} ${index.state}`))
      .toEqual(["all ready", "byN ready"]);
    expect((await containers.query(user, name, { index: "byN", equals: { n: 1 } })).items).toHaveLength(1);
  });

  it("R-AGT-09 a container of the same name in another workspace: its definition, items, changes and existence stay its own", async () => {
    const { containers, user, admin, stranger } = test;
    const name = newName();
    const never = newName();
    await containers.put(user, name, { ...spec, indexes: { byN: { partition: [], sort: ["/n"] } } });
    await containers.create(user, name, { id: "secret", p: "a", n: 1 });
    const { cursor } = await containers.changes(user, name, { mode: "all" });
    const page = await containers.query(user, name, { query: "SELECT * FROM c", limit: 1 });
    const attempts = (target: string): readonly (() => Promise<unknown>)[] => [
      () => containers.get(stranger, target),
      () => containers.delete(stranger, target),
      () => containers.indexes(stranger, target),
      () => containers.create(stranger, target, { id: "x", p: "a" }),
      () => containers.upsert(stranger, target, { id: "x", p: "a" }),
      () => containers.replace(stranger, target, { id: "secret", p: "a" }),
      () => containers.read(stranger, target, "a", "secret"),
      () => containers.patch(stranger, target, "a", "secret", [{ op: "set", path: "/n", value: 2 }]),
      () => containers.deleteItem(stranger, target, "a", "secret"),
      () => containers.readMany(stranger, target, [{ pk: "a", id: "secret" }]),
      () => containers.batch(stranger, target, "a", [{ op: "read", id: "secret" }]),
      () => containers.bulk(stranger, target, [{ op: "delete", pk: "a", id: "secret" }]),
      () => containers.query(stranger, target, { query: "SELECT * FROM c" }),
      () => containers.explain(stranger, target, { query: "SELECT * FROM c" }),
      () => containers.changes(stranger, target, { mode: "all", cursor }),
      () => containers.deletePartition(stranger, target, "a"),
    ];
    for (const [i, attempt] of attempts(name).entries()) {
      const real = await failure(attempt(), "NOT_FOUND");
      const absent = await failure((attempts(never)[i] as () => Promise<unknown>)(), "NOT_FOUND");
      expect(real.detail.replaceAll(name, "*")).toBe(absent.detail.replaceAll(never, "*"));
    }
    expect((await containers.list(stranger)).items.map((container) => container.name)).not.toContain(name);
    await containers.put(stranger, name, { partition_key: "/q" });
    expect(await containers.get(stranger, name)).toMatchObject({ partition_key: "/q" });
    expect((await containers.query(stranger, name, { query: "SELECT * FROM c" })).items).toEqual([]);
    expect((await containers.changes(stranger, name, { mode: "all" })).items).toEqual([]);
    await failure(containers.changes(stranger, name, { mode: "all", cursor }), "INVALID");
    if (page.next_cursor !== null)
      await failure(
        containers.query(stranger, name, { query: "SELECT * FROM c", limit: 1, cursor: page.next_cursor }),
        "INVALID",
      );
    await containers.delete(stranger, name);
    expect(await containers.read(admin, name, "a", "secret")).toMatchObject({ n: 1 });
    await containers.create(user, "test-tasks", { id: "mine", list: "shared", created_at: "2030-01-01T00:00:00Z" });
    await failure(containers.read(stranger, "test-tasks", "shared", "mine"), "NOT_FOUND");
    expect((await containers.query(stranger, "test-tasks", { query: "SELECT * FROM c" })).items).toEqual([]);
    expect(
      (await containers.query(stranger, "test-tasks", { query: "SELECT * FROM c WHERE c.workspace_id = 'acme'" }))
        .items,
    ).toEqual([]);
    expect((await containers.changes(stranger, "test-tasks", { mode: "all" })).items).toEqual([]);
  });

  it("of many that make one name at once all get the same container; 100 of a workspace, and no more, also at once", async () => {
    const { containers } = test;
    const tenant = `full${engine}`;
    const user = makeCaller({ tenant, userId: "u" });
    const admin = makeCaller({ tenant, userId: "a", role: "admin" });
    const same = await Promise.all(Array.from({ length: 10 }, () => containers.put(user, "same", spec)));
    expect(new Set(same.map(({ etag }) => etag)).size).toBe(1);
    for (let i = 1; i < containersPerWorkspaceMax - 1; i += 1) await containers.put(user, `n${i}`, spec);
    const last = await Promise.allSettled(Array.from({ length: 4 }, (_, i) => containers.put(user, `last${i}`, spec)));
    expect(last.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of last)
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "LIMIT_EXCEEDED" });
    await containers.put(user, "n1", spec);
    await containers.delete(admin, "n1");
    await containers.put(user, "n1", spec);
    await failure(containers.put(user, "more", spec), "LIMIT_EXCEEDED");
  });
});
