/** The same program on every engine: only the address of the items changes. */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { startDynamo, type DynamoServer } from "./drivers/dynamodb/test-server.ts";
import { startPostgres, type TestServer } from "./drivers/postgres/test-server.ts";
import { defineContainer, open, tenantScope } from "./index.ts";

const scope = tenantScope("acme");
const notes = defineContainer({
  name: "notes",
  partitionKey: ["user_id"],
  schema: z.object({ id: z.string(), user_id: z.string(), topic: z.string(), text: z.string() }),
  indexes: { byTopic: { partition: ["topic"], sort: ["id"] } },
});

const base = await mkdtemp(join(tmpdir(), "pinakes-engines-"));
let postgres: TestServer;
let dynamo: DynamoServer;

beforeAll(async () => {
  vi.stubEnv("AWS_ACCESS_KEY_ID", "test");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "test");
  [postgres, dynamo] = await Promise.all([startPostgres(), startDynamo()]);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await Promise.all([postgres.stop(), dynamo.stop(), rm(base, { recursive: true, force: true })]);
});

describe("open on every engine", () => {
  it.each([
    ["memory", () => "memory:"],
    ["sqlite", () => `sqlite:${join(base, "sqlite")}`],
    ["postgres", () => postgres.url],
    ["dynamodb", () => `dynamodb://local/engines?endpoint=${dynamo.endpoint}`],
  ])("R-AGT-01 %s: declare, write, query, be ready; opening it all again changes nothing", async (engine, address) => {
    for (const round of [1, 2]) {
      await using pinakes = await open({ dir: join(base, engine), items: address() });
      expect(pinakes.info().items.engine).toBe(engine);
      expect(await pinakes.ready()).toEqual({ ready: true, reasons: {}, warnings: {} });
      const repository = await notes.open(pinakes.items);
      if (round === 2 && engine !== "memory") expect(await repository.read(scope, { user_id: "u", id: "n1" })).toMatchObject({ text: "1" });
      const { session } = await repository.batch(scope, { user_id: "u" }, [{ op: "upsert", document: { id: "n1", user_id: "u", topic: "t", text: "1" } }]);
      expect((await repository.query(scope, "byTopic", { equals: { topic: "t" }, session })).items).toMatchObject([{ id: "n1" }]);
      await pinakes.queue.send(scope, "jobs", { group: "g", body: { round } });
      const [message] = await pinakes.queue.receive(scope, "jobs", { owner: "w", waitMs: 5_000 });
      expect(message?.body).toEqual({ round });
      await pinakes.queue.done(scope, message?.receipt ?? "");
    }
  });

  it("dynamodb: a document too large for an item goes to the object store that was chosen, and is refused where none was", async () => {
    const dir = join(base, "spill");
    const items = `dynamodb://local/spill?endpoint=${dynamo.endpoint}`;
    const text = "x".repeat(600_000);
    {
      await using alone = await open({ dir, items });
      const refused = notes.open(alone.items).then((repository) => repository.create(scope, { id: "big", user_id: "u", topic: "t", text }));
      await expect(refused).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
    }
    await using pinakes = await open({ dir, items, objects: `file:${join(dir, "objects")}` });
    const repository = await notes.open(pinakes.items);
    await repository.create(scope, { id: "big", user_id: "u", topic: "t", text });
    expect(await repository.read(scope, { user_id: "u", id: "big" })).toMatchObject({ text });
    expect(await readdir(join(dir, "objects", "v1"))).not.toEqual([]);
  });

  it("a server that goes away makes it not ready, with the reason, and back again", async () => {
    await using pinakes = await open({ dir: join(base, "away"), items: postgres.url, objects: "memory:", database: "away" });
    await postgres.kill9();
    // A session that lives on for a moment after its server may still answer once.
    let away = await pinakes.ready();
    for (; away.ready; away = await pinakes.ready()) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(away.reasons["items"]).toEqual(expect.any(String));
    await postgres.restart();
    while (!(await pinakes.ready()).ready) await new Promise((resolve) => setTimeout(resolve, 20));
  });
});
