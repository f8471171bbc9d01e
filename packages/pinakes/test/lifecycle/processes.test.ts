/** Real processes: an external store in its own process, and a coordinator that is killed. */
import { spawn, type ChildProcess } from "node:child_process";
import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Caller } from "../../src/domain/caller.ts";
import { open, type Pinakes } from "../../src/open.ts";
import { until } from "../support/until.ts";
import { useServers } from "../support/servers.ts";

const storeProcess = new URL("./support/store-process.ts", import.meta.url);
const purgingProcess = new URL("./support/purging-process.ts", import.meta.url);
const { postgres } = useServers();
let dir: string;
const children: ChildProcess[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "pinakes-processes-"));
});
afterEach(async () => {
  for (const child of children.splice(0)) if (child.exitCode === null) child.kill("SIGKILL");
  await rm(dir, { recursive: true, force: true });
});

/** The child process and its output so far. */
function start(file: URL, args: readonly string[]): { child: ChildProcess; said: () => string } {
  const child = spawn(globalThis.process.execPath, [fileURLToPath(file), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  let text = "";
  child.stdout?.on("data", (bytes: Buffer) => (text += bytes.toString("utf8")));
  return { child, said: () => text };
}

async function fill(pinakes: Pinakes, caller: Caller, id: string, files: number): Promise<string> {
  const { knowledge } = pinakes;
  const { incarnation } = await knowledge.collections.create(caller, "kb", { collection_id: id });
  for (let i = 0; i < files; i += 1)
    await knowledge.documents.upload(caller, "kb", id, { name: `f${i}.txt`, body: `file ${i}` });
  await knowledge.rows.upsert(caller, "kb", id, { items: [{ id: "r", vector: [1, 2] }] });
  return incarnation;
}

const admin = (pinakes: Pinakes) => pinakes.as({ tenant: "acme", userId: "root", role: "admin" });

describe.each([
  ["SQLite", (folder: string) => `sqlite:${folder}`],
  ["PostgreSQL", () => postgres()],
])("an external store, on %s", (engine, address) => {
  it("R-TG-36 R-TG-43 R-TG-65 gets the message like all others; while it is down the delete waits, and completes when it is back", async () => {
    const items = address(dir);
    const objects = `file:${join(dir, engine)}`;
    const file = join(dir, "side-file.txt");
    await using pinakes = await open({ dir, items, objects, background: true });
    const caller = admin(pinakes);
    await pinakes.knowledge.repositories.create(caller, { repository_id: "kb" });
    const [gone, stays] = [await fill(pinakes, caller, "gone", 1), await fill(pinakes, caller, "stays", 1)];
    await writeFile(file, "");
    for (let i = 0; i < 60; i += 1) await appendFile(file, `${gone} ${i}\n${stays} ${i}\n`);
    const first = start(storeProcess, [items, objects, dir, file]);
    await until(async () =>
      (await pinakes.lifecycle.participants.list()).some(
        ({ store, topic }) => store === "side-file" && topic === "vector-storage-management-side-file",
      ),
    );
    first.child.kill("SIGKILL");
    await until(async () => first.child.signalCode !== null);
    const { job_id } = await pinakes.knowledge.collections.delete(caller, "kb", "gone", {
      purge: true,
      confirm: "gone",
    });
    // The others have confirmed; this one is awaited, and the record still exists.
    const operation = await until(async () => {
      const now = await pinakes.knowledge.operations.get(caller, job_id);
      return now.stores.filter(({ status }) => status === "confirmed").length === now.stores.length - 1
        ? now
        : undefined;
    });
    expect(operation.stores.filter(({ status }) => status !== "confirmed").map(({ store }) => store)).toEqual([
      "side-file",
    ]);
    expect(await pinakes.knowledge.jobs.get(caller, job_id)).toMatchObject({ status: "running", result: null });
    expect(await pinakes.knowledge.collections.get(caller, "kb", "gone", { deleted: true })).toMatchObject({
      status: "DELETE_IN_PROGRESS",
    });
    const second = start(storeProcess, [items, objects, dir, file]);
    const job = await until(async () => {
      const now = await pinakes.knowledge.jobs.get(caller, job_id);
      return now.status === "succeeded" ? now : undefined;
    });
    const { stores } = job.result as unknown as { stores: { store: string; deleted: number; remaining: number }[] };
    expect(stores.find(({ store }) => store === "side-file")).toMatchObject({ deleted: 60, remaining: 0 });
    // In steps of ten, and none of its neighbour's.
    expect(second.said().match(/deleted 10/g)).toHaveLength(6);
    const lines = (await readFile(file, "utf8")).trim().split("\n");
    expect(lines).toHaveLength(60);
    expect(lines.every((line) => line.startsWith(`${stays} `))).toBe(true);
    second.child.kill("SIGTERM");
  });
});

describe("kill -9 of the process that deletes", () => {
  it("R-TG-42 R-TG-58 at many moments: another process completes it, and nothing remains", async () => {
    await using before = await open({ dir, background: false });
    const caller = admin(before);
    await before.knowledge.repositories.create(caller, { repository_id: "kb" });
    const incarnations: [string, string][] = [];
    for (const [i, waitMs] of [0, 3, 10, 25, 60].entries()) {
      const id = `c${i}`;
      incarnations.push([id, await fill(before, caller, id, 12)]);
      const { child, said } = start(purgingProcess, [dir, id]);
      await until(async () => said().includes("begun"), 2);
      await sleep(waitMs);
      child.kill("SIGKILL");
      await until(async () => child.signalCode !== null);
    }
    await before.close();
    // Leases of the dead expire; a later process has its clock slightly ahead instead of waiting.
    const ahead = { now: () => Date.now() + 180_000 };
    await using after = await open({ dir, clock: ahead });
    for (const [id, incarnation] of incarnations) {
      await until(async () =>
        (await after.knowledge.operations.list(admin(after), { status: "done", limit: 100 })).items.some(
          (one) => one.incarnation === incarnation,
        ),
      );
      await expect(after.knowledge.collections.get(admin(after), "kb", id, { deleted: true })).rejects.toMatchObject({
        code: "NOT_FOUND",
      });
      expect((await after.objects.list(admin(after).scope, `knowledge/${incarnation}/`)).keys).toEqual([]);
      expect((await after.objects.list(admin(after).scope, `vectors/${incarnation}.own/`)).keys).toEqual([]);
      const { items } = await after.items.query(admin(after).scope, "documents", {
        equals: { repository_id: "kb", incarnation },
      });
      expect(items.map((item) => item.id)).toEqual(["fence"]);
    }
    // A job learns of its operation's end a moment later.
    await expect
      .poll(async () => {
        const { items } = await after.knowledge.jobs.list(admin(after), { limit: 100 });
        return items.filter(({ kind }) => kind === "purge").map(({ status }) => status);
      })
      .toEqual(incarnations.map(() => "succeeded"));
  });
});
