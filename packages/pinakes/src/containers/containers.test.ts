import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { openMemoryItems } from "../drivers/memory/index.ts";
import { tenantScope } from "../domain/scope.ts";
import { failure, ManualClock } from "../testing/item-store/fixture.ts";
import { days, defineContainer, timestamp } from "./index.ts";

const scope = tenantScope("w1");

const Task = z.object({
  id: z.string().optional(),
  workflow_id: z.string(),
  workspace_id: z.string(),
  status: z.enum(["pending", "done"]).default("pending"),
  created_at: timestamp(),
  steps: z.number().int().min(0).default(0),
  metadata: z.object({ user_id: z.string().nullable().default(null) }).optional(),
  ttl: z.number().optional(),
});

const tasks = defineContainer({
  name: "tasks",
  partitionKey: ["workflow_id"],
  schema: Task,
  indexes: {
    byStatus: { partition: ["workspace_id"], sort: ["status", { path: "created_at", order: "desc" }] },
    byUser: { partition: ["metadata.user_id"], sort: ["created_at"] },
  },
  uniqueKeys: { created: ["created_at"] },
  ttl: days(30),
  feed: true,
});

async function open() {
  const clock = new ManualClock();
  const store = await openMemoryItems({ clock });
  return { store, clock, repository: await tasks.open(store) };
}

const task = (more: Partial<z.output<typeof Task>> = {}): z.output<typeof Task> =>
  Task.parse({ workflow_id: "wf", workspace_id: "w1", created_at: "2030-01-01T00:00:00.000Z", ...more });

describe("a declared container", () => {
  it("R-AGT-04 returns documents with _etag and _ts, and ignores those sent", async () => {
    const { repository, clock } = await open();
    const made = await repository.create(scope, { ...task(), _etag: "mine", _ts: 5 } as never);
    expect(made._etag).not.toBe("mine");
    expect(made._ts).toBe(Math.floor(clock.now() / 1000));
    expect(made.id).toMatch(/^[0-9a-f-]{36}$/);
    expect(await repository.read(scope, { workflow_id: "wf", id: made.id })).toEqual(made);
    const raw = await repository.readBytes(scope, { workflow_id: "wf", id: made.id });
    expect(JSON.parse(Buffer.from(raw?.bytes ?? []).toString("utf8"))).toEqual(made);
    expect(await repository.readBytes(scope, { workflow_id: "wf", id: "none" })).toBeUndefined();
  });

  it("R-AGT-10 keeps properties that the schema does not name, at every depth, and fills defaults", async () => {
    const { repository } = await open();
    const sent = {
      id: "x",
      workflow_id: "wf",
      workspace_id: "w1",
      created_at: "2030-01-01T00:00:00.000Z",
      extra: [{ a: 1 }],
      metadata: { color: "red" },
    };
    await repository.create(scope, sent as never);
    expect(await repository.read(scope, { workflow_id: "wf", id: "x" })).toMatchObject({
      ...sent,
      status: "pending",
      steps: 0,
      metadata: { color: "red", user_id: null },
    });
  });

  it("R-AGT-10 rejects them if the schema is strict", async () => {
    const strict = defineContainer({
      name: "strict",
      partitionKey: ["p"],
      schema: z.strictObject({ id: z.string(), p: z.string() }),
    });
    const repository = await strict.open(await openMemoryItems());
    const error = await failure(repository.create(scope, { id: "x", p: "a", extra: 1 } as never), "INVALID");
    expect(error.detail).toContain("extra");
  });

  it("R-AGT-07 a bad timestamp is rejected with its path", async () => {
    const { repository } = await open();
    for (const created_at of [
      "yesterday",
      "2030-01-01",
      "2030-01-01T00:00:00+02:00",
      "2030-13-01T00:00:00Z",
      5,
      null,
    ]) {
      const error = await failure(repository.create(scope, { ...task(), created_at } as never), "INVALID");
      expect(error.detail).toMatch(/created_at: .*ISO 8601/);
    }
    await repository.create(scope, task({ created_at: "2030-01-01T00:00:00Z" }));
  });

  it("R-AGT-08 an unknown enum value is rejected, naming the field and the allowed values", async () => {
    const { repository } = await open();
    const error = await failure(repository.create(scope, { ...task(), status: "paused" } as never), "INVALID");
    expect(error.detail).toMatch(/status: .*"pending".*"done"/);
    await repository.create(scope, task({ id: "x" }));
    await failure(
      repository.patch(scope, { workflow_id: "wf", id: "x" }, [{ op: "set", path: "/status", value: "paused" }]),
      "INVALID",
    );
    await failure(
      repository.update(scope, { workflow_id: "wf", id: "x" }, (document) => ({ ...document, steps: -1 })),
      "INVALID",
    );
    await failure(
      repository.batch(scope, { workflow_id: "wf" }, [
        { op: "check", id: "x" },
        { op: "upsert", document: { id: "y" } as never },
      ]),
      "INVALID",
    );
    expect(await repository.read(scope, { workflow_id: "wf", id: "x" })).toMatchObject({ status: "pending", steps: 0 });
  });

  it("R-AGT-53 100 parallel updates through update() end at exactly +100, over two repositories of one store", async () => {
    const { store, repository } = await open();
    const other = await tasks.open(store);
    await repository.create(scope, task({ id: "x" }));
    const key = { workflow_id: "wf", id: "x" };
    await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        (i % 2 ? repository : other).update(scope, key, (document) => ({ ...document, steps: document.steps + 1 }), {
          attempts: 1_000,
        }),
      ),
    );
    expect(await repository.read(scope, key)).toMatchObject({ steps: 100 });
  });

  it("patch and update: conditions of the caller are final, a missing item is NOT_FOUND", async () => {
    const { repository } = await open();
    const made = await repository.create(scope, task({ id: "x" }));
    const key = { workflow_id: "wf", id: "x" };
    const patched = await repository.patch(scope, key, [{ op: "incr", path: "/steps", value: 2 }], {
      ifMatch: made._etag,
      where: { status: "pending" },
    });
    expect(patched).toMatchObject({ steps: 2 });
    expect(
      (
        await failure(
          repository.patch(scope, key, [{ op: "incr", path: "/steps", value: 2 }], { ifMatch: made._etag }),
          "PRECONDITION_FAILED",
        )
      ).context.currentEtag,
    ).toBe(patched._etag);
    await failure(
      repository.patch(scope, key, [{ op: "incr", path: "/steps", value: 2 }], { where: { status: "done" } }),
      "PRECONDITION_FAILED",
    );
    await failure(
      repository.update(scope, { workflow_id: "wf", id: "none" }, (document) => document),
      "NOT_FOUND",
    );
    expect(await repository.read(scope, key)).toEqual(patched);
    await repository.delete(scope, key, { ifMatch: patched._etag });
    expect(await repository.read(scope, key)).toBeUndefined();
  });

  it("queries by declared index, page by page or as an iterator; other queries are type errors", async () => {
    const { repository } = await open();
    for (let i = 0; i < 7; i += 1)
      await repository.create(
        scope,
        task({
          id: `t${i}`,
          created_at: `2030-01-0${i + 1}T00:00:00.000Z`,
          status: i % 2 ? "done" : "pending",
          metadata: { user_id: "u" },
        } as never),
      );
    const page = await repository.query(scope, "byStatus", {
      equals: { workspace_id: "w1", status: "pending" },
      limit: 3,
    });
    expect(page.items.map(({ id }) => id)).toEqual(["t6", "t4", "t2"]);
    expect(page.cursor).toBeDefined();
    const ids: string[] = [];
    for await (const { id } of repository.all(scope, "byUser", { equals: { "metadata.user_id": "u" }, limit: 2 }))
      ids.push(id);
    expect(ids).toEqual(["t0", "t1", "t2", "t3", "t4", "t5", "t6"]);
    expect(await repository.count(scope, "byStatus", { equals: { workspace_id: "w1", status: "done" } })).toBe(3);
    expect((await repository.list(scope, { workflow_id: "wf" })).items).toHaveLength(7);
    expect(
      await repository.readMany(scope, [
        { workflow_id: "wf", id: "t1" },
        { workflow_id: "wf", id: "none" },
      ]),
    ).toMatchObject([{ id: "t1" }, undefined]);
    expect((await repository.changes(scope)).changes).toHaveLength(7);
    // @ts-expect-error: there is no such index
    await failure(repository.query(scope, "byColor", { equals: {} }), "INVALID");
    // @ts-expect-error: the index's partition path is missing
    await failure(repository.query(scope, "byStatus", { equals: { status: "done" } }), "INVALID");
    // @ts-expect-error: the path is not part of the index; the error names the index to add
    const refused = repository.query(scope, "byStatus", { equals: { workspace_id: "w1", steps: 1 } });
    const error = await failure(refused, "INVALID");
    expect(error.detail).toContain('Add an index { partition: ["workspace_id", "steps"]');
    // @ts-expect-error: a value that the field can never have
    expect(await repository.count(scope, "byStatus", { equals: { workspace_id: "w1", status: "paused" } })).toBe(0);
  });

  it("a path that the schema does not have is a type error in a declaration", () => {
    const schema = z.object({ id: z.string(), a: z.object({ b: z.number() }) });
    defineContainer({
      name: "ok",
      partitionKey: ["a.b"],
      schema,
      indexes: { x: { partition: ["id"], sort: ["a.b", "/a/b"] } },
    });
    // @ts-expect-error: no property c
    defineContainer({ name: "bad", partitionKey: ["c"], schema });
    // @ts-expect-error: no property a.c
    defineContainer({ name: "bad", partitionKey: ["id"], schema, indexes: { x: { partition: ["a.c"], sort: [] } } });
    expectTypeOf(tasks.definition.name).toBeString();
  });

  it("accepts what the schema accepts: properties with a default may be left out", async () => {
    const { repository } = await open();
    const made = await repository.create(scope, {
      workflow_id: "wf",
      workspace_id: "w1",
      created_at: "2030-01-01T00:00:00.000Z",
    });
    expect(made).toMatchObject({ status: "pending", steps: 0 });
    await repository.batch(scope, { workflow_id: "wf" }, [
      { op: "create", document: { workflow_id: "wf", workspace_id: "w1", created_at: "2031-01-01T00:00:00.000Z" } },
    ]);
    const page = await repository.query(scope, "byStatus", {
      equals: { workspace_id: "w1" },
      filter: { steps: { lt: 5 }, "metadata.user_id": { exists: false } },
    });
    expect(page.items).toHaveLength(2);
    // @ts-expect-error: no such property to filter by
    const none = await repository.query(scope, "byStatus", { equals: { workspace_id: "w1" }, filter: { stepz: 1 } });
    expect(none.items).toEqual([]);
    // @ts-expect-error: the partition key is a string
    expect(await repository.read(scope, { workflow_id: 5, id: "x" })).toBeUndefined();
  });

  it("names the invalid operation of a batch, and rejects patches there", async () => {
    const { repository } = await open();
    const bad = await failure(
      repository.batch(scope, { workflow_id: "wf" }, [
        { op: "check", id: "a", exists: false },
        { op: "create", document: {} as never },
      ]),
      "INVALID",
    );
    expect(bad.context.batch).toEqual({ index: 1, statuses: [424, 400] });
    const patch = await failure(
      repository.batch(scope, { workflow_id: "wf" }, [
        { op: "patch", id: "a", patch: [{ op: "set", path: "/status", value: 5 }] } as never,
      ]),
      "INVALID",
    );
    expect(patch.detail).toContain("schema");
    await failure(repository.batch(scope, { workflow_id: "wf" }, "no list" as never), "INVALID");
    await failure(repository.batch(scope, { workflow_id: "wf" }, [null as never]), "INVALID");
  });

  it("rejects a missing scope first, then a missing document from update(), and invalid keys", async () => {
    const { repository } = await open();
    await repository.create(scope, task({ id: "x" }));
    const key = { workflow_id: "wf", id: "x" };
    await failure(repository.create(task() as never, undefined as never), "UNAUTHENTICATED");
    await failure(
      repository.update({} as never, key, (document) => document),
      "UNAUTHENTICATED",
    );
    await failure(
      repository.update(scope, key, () => undefined as never),
      "INVALID",
    );
    await failure(repository.read(scope, undefined as never), "INVALID");
    await failure(repository.readMany(scope, "x" as never), "INVALID");
    expect(
      await repository.create(scope, {
        ...task({ id: "y", created_at: "2033-01-01T00:00:00.000Z" }),
        _self: "s",
        _rid: "r",
        _mine: 1,
      } as never),
    ).toEqual(await repository.read(scope, { ...key, id: "y" }));
  });

  it("returns the session token of each write that returned a document", async () => {
    const { repository } = await open();
    const made = await repository.create(scope, task({ id: "x" }));
    const session = repository.sessionOf(made);
    expect(session).toMatch(/^[\w-]+$/);
    expect((await repository.query(scope, "byStatus", { equals: { workspace_id: "w1" }, session })).items).toHaveLength(
      1,
    );
    expect(repository.sessionOf({ ...made })).toBeUndefined();
  });

  it("follows the feed across restarts: every change once, also when each run stops in the middle", async () => {
    const { repository } = await open();
    for (let i = 0; i < 9; i += 1)
      await repository.create(scope, task({ id: `t${i}`, created_at: `2030-01-0${i + 1}T00:00:00.000Z` }));
    const ids: string[] = [];
    let cursor: string | undefined;
    for (let run = 0; run < 5; run += 1) {
      const stop = new AbortController();
      let handled = 0;
      for await (const change of repository.follow(scope, { cursor, signal: stop.signal, pollMs: 1 })) {
        expect(change.document?.workflow_id).toBe("wf");
        ids.push(change.id);
        cursor = change.cursor;
        handled += 1;
        if (handled === 2 || ids.length === 9) stop.abort();
      }
    }
    expect(ids).toEqual(Array.from({ length: 9 }, (_, i) => `t${i}`));
  });
});
