import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { until } from "../test/support/until.ts";
import { z } from "zod";
import { temporaryFolder } from "../test/support/temporary-folder.ts";
import { defineContainer, open, tenantScope, type Pinakes } from "./index.ts";
import { ManualClock } from "./testing/item-store/fixture.ts";
import { failure, utf8 } from "./testing/object-store/fixture.ts";

const scope = tenantScope("acme");
const base = temporaryFolder("open");

const notes = defineContainer({
  name: "notes",
  partitionKey: ["user_id"],
  schema: z.object({ id: z.string(), user_id: z.string(), text: z.string(), ttl: z.number().optional() }),
  ttl: -1,
  feed: true,
});

describe("open", () => {
  it("R-AGT-01 opens embedded stores in a folder, creates the database there, and finds everything again the next time", async () => {
    const dir = join(base, "embedded");
    const use = async (work: (pinakes: Pinakes) => Promise<void>) => {
      await using pinakes = await open({ dir, database: "project-ascension-db" });
      await work(pinakes);
    };
    await use(async (pinakes) => {
      const repository = await notes.open(pinakes.items);
      await repository.create(scope, { id: "n1", user_id: "u1", text: "hello" });
      await pinakes.objects.put(scope, "files/a", utf8("object"));
      expect(pinakes.info()).toMatchObject({
        name: "pinakes",
        version: "0.1.0",
        database: "project-ascension-db",
        items: { engine: "sqlite" },
        objects: { driver: "fs" },
      });
    });
    await use(async (pinakes) => {
      const repository = await notes.open(pinakes.items);
      expect(await repository.read(scope, { user_id: "u1", id: "n1" })).toMatchObject({ text: "hello" });
      expect(Buffer.from((await pinakes.objects.get(scope, "files/a")) ?? []).toString()).toBe("object");
      expect(await pinakes.ready()).toEqual({ ready: true, reasons: {}, warnings: {} });
    });
  });

  it("R-AGT-50 purges expired items of every container in the background and puts the deletes into the feed", async () => {
    const clock = new ManualClock();
    await using pinakes = await open({ items: "memory:", objects: "memory:", clock, sweepMs: 5 });
    const repository = await notes.open(pinakes.items);
    await repository.create(scope, { id: "n1", user_id: "u1", text: "short-lived", ttl: 10 });
    clock.advance(11_000);
    await until(async () =>
      (await repository.changes(scope)).changes.some(({ kind, expired }) => kind === "delete" && expired === true),
    );
  });

  it("reports why it is not ready, and failed background work", async () => {
    const dir = join(base, "vanishing");
    const lines: string[] = [];
    await using pinakes = await open({
      items: "memory:",
      objects: `file:${dir}`,
      sweepMs: 5,
      log: (line) => lines.push(line),
    });
    expect((await pinakes.ready()).ready).toBe(true);
    await rm(dir, { recursive: true });
    const answer = await pinakes.ready();
    expect(answer.ready).toBe(false);
    expect(answer.reasons["objects"]).toContain(dir);
    await pinakes.items.close(); // Deletes the containers behind its back, so that the sweep fails.
    await until(async () => "ttl sweep" in (await pinakes.ready()).warnings);
    expect(lines.some((line) => line.startsWith("ttl sweep failed"))).toBe(true);
    expect(lines).toContain("background work under a system scope: ttl sweep");
  });

  it("close is idempotent, and then nothing is ready", async () => {
    const pinakes = await open({ items: "memory:", objects: "memory:" });
    await Promise.all([pinakes.close(), pinakes.close()]);
    expect(await pinakes.ready()).toMatchObject({ ready: false });
    await failure(pinakes.objects.get(scope, "a"), "UNAVAILABLE");
  });

  it("rejects invalid options by name, and closes what it had opened if a store fails", async () => {
    await failure(open({ items: "mysql://x" }), "INVALID");
    await failure(open({ objects: "ftp://x" }), "INVALID");
    await failure(open({ database: "../x" }), "INVALID");
    await failure(open({ items: "memory:", objects: "memory:", sweepMs: 0 }), "INVALID");
    const file = join(base, "a-file");
    await writeFile(file, "");
    await expect(open({ dir: file })).rejects.toThrow();
    await expect(open({ items: "postgres://127.0.0.1:1/none", objects: "memory:" })).rejects.toThrow();
  });
});
