/** Writes to containers of the system keep the rules of their features, and what features keep for themselves stays hidden. */
import { describe, expect, it } from "vitest";
import { companionField } from "../../src/state/system-container.ts";
import { failure } from "../../src/testing/item-store/fixture.ts";
import { nearEngines, openNearEngine } from "./containers-engines.ts";
import { openContainers } from "./containers-fixture.ts";
import { forAllTests } from "../support/for-tests.ts";

describe.each(nearEngines)("rules of containers on %s", (engine) => {
  const opened = forAllTests(() => openNearEngine(engine));
  const test = forAllTests(() => openContainers(opened.items, opened.clock));

  const task = (more: object = {}) => ({ id: "x", list: "l1", created_at: "2030-01-01T00:00:00.000Z", ...more });

  it("R-AGT-07 R-AGT-08 R-AGT-10 writes to a container of the system keep its schema and its rules; unknown properties stay", async () => {
    const { containers, user } = test;
    expect((await failure(containers.create(user, "test-tasks", task({ state: "paused" })), "INVALID")).detail).toMatch(
      /state: .*"open".*"done"/,
    );
    expect(
      (await failure(containers.create(user, "test-tasks", task({ created_at: "yesterday" })), "INVALID")).detail,
    ).toMatch(/created_at: .*ISO 8601/);
    expect(
      (await failure(containers.create(user, "test-tasks", task({ workspace_id: "other" })), "FORBIDDEN")).detail,
    ).toContain("workspace_id");
    const made = await containers.create(user, "test-tasks", { id: "x", list: "l1", extra: { y: [1] } });
    expect(made).toMatchObject({ state: "open", extra: { y: [1] }, workspace_id: "acme" });
    const done = await containers.patch(user, "test-tasks", "l1", "x", [{ op: "set", path: "/state", value: "done" }], {
      condition: "from c where c.state = 'open'",
    });
    expect(done).toMatchObject({ state: "done", created_at: made["created_at"] });
    for (const back of [
      () => containers.upsert(user, "test-tasks", task({ id: "x", state: "open" })),
      () => containers.replace(user, "test-tasks", task({ id: "x", state: "open" })),
      () => containers.patch(user, "test-tasks", "l1", "x", [{ op: "set", path: "/state", value: "open" }]),
      () => containers.batch(user, "test-tasks", "l1", [{ op: "upsert", document: task({ id: "x", state: "open" }) }]),
    ])
      expect((await failure(back(), "INVALID")).detail).toContain("stays done");
    await failure(
      containers.patch(user, "test-tasks", "l1", "x", [{ op: "set", path: "/workspace_id", value: "other" }]),
      "FORBIDDEN",
    );
    // A stale etag is told first, whatever the rules would say.
    for (const late of [
      () => containers.upsert(user, "test-tasks", task({ state: "open" }), { ifMatch: made._etag }),
      () => containers.replace(user, "test-tasks", task({ state: "open" }), { ifMatch: made._etag }),
      () =>
        containers.patch(user, "test-tasks", "l1", "x", [{ op: "set", path: "/state", value: "open" }], {
          ifMatch: made._etag,
        }),
    ])
      expect((await failure(late(), "PRECONDITION_FAILED")).context.currentEtag).toBe(done._etag);
    await failure(
      containers.batch(user, "test-tasks", "l1", [
        { op: "create", document: task({ id: "y", state: "done" }) },
        { op: "patch", id: "y", operations: [{ op: "set", path: "/state", value: "open" }] },
      ]),
      "INVALID",
    );
    await failure(containers.read(user, "test-tasks", "l1", "y"), "NOT_FOUND");
  });

  it("a rule is checked against what is stored when the write happens: writers at once never get past it", async () => {
    const { containers, user } = test;
    await containers.create(user, "test-tasks", task({ id: "race", list: "l2" }));
    const writes = Array.from({ length: 40 }, (_, i) =>
      containers
        .upsert(user, "test-tasks", task({ id: "race", list: "l2", state: i === 20 ? "done" : "open", n: i }))
        .catch(() => undefined),
    );
    await Promise.all(writes);
    expect(await containers.read(user, "test-tasks", "l2", "race")).toMatchObject({ state: "done" });
    const stored = await opened.items.read(user.scope, "test-tasks", { partition: ["l2"], id: "race" });
    const accepted = (await Promise.all(writes)).filter((outcome) => outcome !== undefined).length;
    expect(stored?.document["pinakes_seen"]).toBe(accepted + 1);
  });

  it("companions are written along with documents, and never shown, changed or deleted through here", async () => {
    const { containers, user, items } = test;
    const made = await containers.create(user, "test-tasks", task({ id: "doc", list: "l3" }));
    const tally = await items.read(user.scope, "test-tasks", { partition: ["l3"], id: "~tally" });
    expect(tally?.document[companionField]).toBe("tally");
    expect(Object.keys(made)).not.toContain("pinakes_seen");
    await failure(containers.read(user, "test-tasks", "l3", "~tally"), "NOT_FOUND");
    expect(
      await containers.readMany(user, "test-tasks", [
        { pk: "l3", id: "~tally" },
        { pk: "l3", id: "doc" },
      ]),
    ).toEqual({ items: [null, made] });
    await failure(containers.batch(user, "test-tasks", "l3", [{ op: "read", id: "~tally" }]), "NOT_FOUND");
    await failure(containers.batch(user, "test-tasks", "l3", [{ op: "check", id: "~tally" }]), "INVALID");
    expect(await containers.query(user, "test-tasks", { equals: { list: "l3" } })).toEqual({
      items: [made],
      next_cursor: null,
    });
    expect(
      await containers.query(user, "test-tasks", { index: "byState", equals: { "/list": "l3", state: "open" } }),
    ).toEqual({
      items: [made],
      next_cursor: null,
    });
    expect(await containers.query(user, "test-tasks", { query: "SELECT * FROM c", pk: "l3" })).toMatchObject({
      items: [made],
    });
    expect(
      await containers.query(user, "test-tasks", { query: "SELECT VALUE COUNT(1) FROM c", pk: "l3" }),
    ).toMatchObject({ items: [1] });
    expect(
      await containers.query(user, "test-tasks", {
        query: "SELECT VALUE COUNT(1) FROM c WHERE c.list = 'l3' AND c.state = 'open'",
      }),
    ).toMatchObject({
      items: [1],
    });
    for (const id of ["~tally", "~mine"]) {
      await failure(containers.create(user, "test-tasks", task({ id, list: "l3" })), "INVALID");
      await failure(containers.upsert(user, "test-tasks", task({ id, list: "l3" })), "INVALID");
      await failure(containers.patch(user, "test-tasks", "l3", id, [{ op: "set", path: "/x", value: 1 }]), "INVALID");
      await failure(containers.deleteItem(user, "test-tasks", "l3", id), "INVALID");
    }
    await failure(
      containers.create(user, "test-tasks", task({ id: "z", list: "l3", [companionField]: "tally" })),
      "INVALID",
    );
    expect(await containers.deletePartition(user, "test-tasks", "l3")).toEqual({ deleted: 1 });
    expect((await items.read(user.scope, "test-tasks", { partition: ["l3"], id: "~tally" }))?.document["removed"]).toBe(
      1,
    );
    let cursor: string | undefined;
    const seen: string[] = [];
    for (let more = true; more;) {
      const page = await containers.changes(user, "test-tasks", { mode: "all", cursor });
      seen.push(...page.items.map(({ id }) => id));
      ({ cursor, more } = page);
    }
    expect(seen).toContain("doc");
    expect(seen.filter((id) => id.startsWith("~"))).toEqual([]);
  });

  it("what is only added is never changed, deleted or replaced through here", async () => {
    const { containers, user } = test;
    const entry = await containers.create(user, "test-log", { id: "e1", day: "d" });
    expect(entry).toMatchObject({ workspace_id: "acme" });
    for (const attempt of [
      () => containers.upsert(user, "test-log", { id: "e2", day: "d" }),
      () => containers.replace(user, "test-log", { id: "e1", day: "d" }),
      () => containers.patch(user, "test-log", "d", "e1", [{ op: "set", path: "/x", value: 1 }]),
      () => containers.deleteItem(user, "test-log", "d", "e1"),
      () => containers.deletePartition(user, "test-log", "d"),
      () => containers.batch(user, "test-log", "d", [{ op: "delete", id: "e1" }]),
    ])
      expect((await failure(attempt(), "CONFLICT")).detail).toContain("only added");
    expect((await containers.bulk(user, "test-log", [{ op: "delete", pk: "d", id: "e1" }])).lines[0]).toMatchObject({
      status: 409,
    });
    expect(await containers.read(user, "test-log", "d", "e1")).toEqual(entry);
  });
});
