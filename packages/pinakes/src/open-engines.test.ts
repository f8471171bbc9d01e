/** The same program on every engine: only the address of the items changes. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { temporaryFolder } from "../test/support/temporary-folder.ts";
import { useServers } from "../test/support/servers.ts";
import { defineContainer, open, tenantScope } from "./index.ts";

const scope = tenantScope("acme");
const notes = defineContainer({
  name: "notes",
  partitionKey: ["user_id"],
  schema: z.object({ id: z.string(), user_id: z.string(), topic: z.string(), text: z.string() }),
  indexes: { byTopic: { partition: ["topic"], sort: ["id"] } },
});

const base = temporaryFolder("engines");
const { postgres, dynamo, postgresServer } = useServers();

describe("open on every engine", () => {
  it.each([
    ["memory", () => "memory:"],
    ["sqlite", () => `sqlite:${join(base, "sqlite")}`],
    ["postgres", postgres],
    ["dynamodb", () => dynamo("engines")],
  ])("R-AGT-01 %s: declare, write, query, be ready; opening again changes nothing", async (engine, address) => {
    for (const round of [1, 2]) {
      await using pinakes = await open({
        database: "engines",
        dir: join(base, engine),
        items: address(),
        objects: `file:${join(base, engine, "objects")}`,
      });
      expect(pinakes.info().items.engine).toBe(engine);
      expect(await pinakes.ready()).toEqual({ ready: true, reasons: {}, warnings: {} });
      const repository = await notes.open(pinakes.items);
      if (round === 2 && engine !== "memory")
        expect(await repository.read(scope, { user_id: "u", id: "n1" })).toMatchObject({ text: "1" });
      const { session } = await repository.batch(scope, { user_id: "u" }, [
        { op: "upsert", document: { id: "n1", user_id: "u", topic: "t", text: "1" } },
      ]);
      expect((await repository.query(scope, "byTopic", { equals: { topic: "t" }, session })).items).toMatchObject([
        { id: "n1" },
      ]);
      await pinakes.queue.send(scope, "jobs", { group: "g", body: { round } });
      const [message] = await pinakes.queue.receive(scope, "jobs", { owner: "w", waitMs: 5_000 });
      expect(message?.body).toEqual({ round });
      await pinakes.queue.done(scope, message?.receipt ?? "");
    }
  });

  it.each([
    ["sqlite", (name: string) => `sqlite:${join(base, name)}`],
    ["postgres", postgres],
    ["dynamodb", () => dynamo("").replace(/\/\?/, "?")],
  ])(
    "%s: a store under the default name of earlier versions is found; a store under the default name takes precedence",
    async (engine, address) => {
      const dir = join(base, `former-${engine}`);
      const options = (database?: string) => ({
        dir,
        items: address(`former-${engine}`),
        objects: "memory:",
        ...(database === undefined ? {} : { database }),
      });
      const text = async (database?: string, wanted?: string): Promise<string | undefined> => {
        await using pinakes = await open(options(database));
        const repository = await notes.open(pinakes.items);
        if (wanted !== undefined) await repository.create(scope, { id: "n1", user_id: "u", topic: "t", text: wanted });
        const found = await repository.read(scope, { user_id: "u", id: "n1" });
        return `${pinakes.info().database}: ${found?.text ?? "nothing"}`;
      };
      expect(await text("project-ascension-db", "old")).toBe("project-ascension-db: old");
      expect(await text()).toBe("project-ascension-db: old");
      expect(await text("pinakes", "new")).toBe("pinakes: new");
      expect(await text()).toBe("pinakes: new");
      expect(await text("project-ascension-db")).toBe("project-ascension-db: old");
    },
  );

  it("dynamodb: a document too large for an item goes to the chosen object store, and is rejected if that is not durable", async () => {
    const dir = join(base, "spill");
    const items = dynamo("spill");
    const text = "x".repeat(600_000);
    {
      await using alone = await open({ dir, items, objects: "memory:" });
      const refused = notes
        .open(alone.items)
        .then((repository) => repository.create(scope, { id: "big", user_id: "u", topic: "t", text }));
      await expect(refused).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
    }
    await using pinakes = await open({ dir, items, objects: `file:${join(dir, "objects")}` });
    const repository = await notes.open(pinakes.items);
    await repository.create(scope, { id: "big", user_id: "u", topic: "t", text });
    expect(await repository.read(scope, { user_id: "u", id: "big" })).toMatchObject({ text });
    expect(await readdir(join(dir, "objects", "v1"))).not.toEqual([]);
  });

  it("a server that becomes unreachable makes it not ready, with the reason, and ready again afterwards", async () => {
    await using pinakes = await open({
      dir: join(base, "away"),
      items: postgres(),
      objects: "memory:",
      database: "away",
    });
    await postgresServer().kill9();
    // A session that outlives its server for a moment may still answer once, and each store notices at a time of its own.
    let away = await pinakes.ready();
    for (; away.reasons["items"] === undefined; away = await pinakes.ready())
      await new Promise((resolve) => setTimeout(resolve, 20));
    expect(away.ready).toBe(false);
    await postgresServer().restart();
    while (!(await pinakes.ready()).ready) await new Promise((resolve) => setTimeout(resolve, 20));
  });
});
