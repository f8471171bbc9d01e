/** Chroma becomes collections: from its own folder, and from its server. */
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { chromaAnswer, chromaFiles, tempFolder } from "../../src/vectors/import/test-support.ts";
import { World } from "./support/world.ts";
import { forAllTests } from "../support/for-tests.ts";

const world = forAllTests(() => World.open());
const process = forAllTests(() => world.process());

async function migrate(source: object): Promise<string> {
  const plan = await process.plan({ kind: "chroma", repository: "kb", ...source });
  expect(plan.problems).toEqual([]);
  expect(await process.run(plan.migration_id, "copy", "validate", "cutover")).toMatchObject({ state: "switched" });
  return plan.migration_id;
}

describe("a folder written by Chroma", () => {
  it.each(["queue", "hnsw-l2"] as const)(
    "R-TG-94 %s: every row with text, metadata and vector, as Chroma itself answers",
    async (fixture) => {
      await using folder = await tempFolder(await chromaFiles(fixture));
      const id = `from-${fixture}`;
      const migration = await migrate({ folder: folder.path, collections: { docs: id } });
      const answer = await chromaAnswer(fixture);
      const [unit] = await process.units(migration);
      expect(unit).toMatchObject({ name: "docs", count: answer.length, held_hash: unit?.hash });
      const [row] = answer;
      const { hits } = await process.knowledge.rows.query(world.admin, "kb", id, {
        vector: row?.vector ?? [],
        limit: answer.length,
      });
      expect(hits).toHaveLength(answer.length);
      const found = hits.find((hit) => hit.id === row?.id);
      expect(found).toMatchObject({
        metadata: row?.metadata ?? {},
        ...(typeof row?.text === "string" ? { text: row.text } : {}),
      });
      // Again: nothing to do.
      const again = await process.plan({
        kind: "chroma",
        repository: "kb",
        folder: folder.path,
        collections: { docs: id },
      });
      expect((await process.units(again.migration_id))[0]).toMatchObject({ status: "already" });
    },
  );

  it("reports an invalid folder, and a missing collection", async () => {
    const source = (more: object) => ({ kind: "chroma", repository: "kb", ...more });
    const made = await process.migrations.create(world.admin, { source: source({ folder: world.folder }) });
    await expect(process.drive(made.migration_id)).rejects.toMatchObject({
      code: "NOT_FOUND",
      message: expect.stringContaining("chroma.sqlite3"),
    });
    await using folder = await tempFolder(await chromaFiles("queue"));
    const plan = await process.plan(source({ folder: folder.path, collections: { nothing: "x" } }));
    expect(plan.problems[0]?.reason).toContain("existing are: docs, other");
    await expect(process.migrations.create(world.admin, { source: source({}) })).rejects.toMatchObject({
      code: "INVALID",
    });
  });
});

describe("a server with Chroma's answers", () => {
  let server: Server;
  let address: string;
  beforeAll(async () => {
    const rows = await chromaAnswer("queue");
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const { pathname } = new URL(request.url ?? "", "http://x");
        const root = "/api/v2/tenants/default_tenant/databases/default_database/collections";
        response.setHeader("content-type", "application/json");
        if (pathname === root) return response.end(JSON.stringify([{ id: "c-1", name: "recorded" }]));
        if (pathname !== `${root}/c-1/get`) return response.writeHead(404).end("{}");
        const { limit, offset } = JSON.parse(Buffer.concat(chunks).toString()) as { limit: number; offset: number };
        const page = rows.slice(offset, offset + limit);
        return response.end(
          JSON.stringify({
            ids: page.map(({ id }) => id),
            embeddings: page.map(({ vector }) => vector),
            documents: page.map(({ text }) => text),
            metadatas: page.map(({ metadata }) => metadata),
          }),
        );
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server.close());

  it("R-TG-94 is read page by page", async () => {
    const migration = await migrate({ server: address });
    expect((await process.units(migration))[0]).toMatchObject({
      name: "recorded",
      count: (await chromaAnswer("queue")).length,
    });
  });

  it("reports an unreachable server, and one that is not allowed", async () => {
    const make = (where: string, who = process) =>
      who.migrations.create(world.admin, { source: { kind: "chroma", repository: "kb", server: where } });
    const made = await make("http://127.0.0.1:9");
    await expect(process.drive(made.migration_id)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    const strange = await make(`${address}/elsewhere`);
    await expect(process.drive(strange.migration_id)).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringContaining("404"),
    });
    await expect(make("http://user:secret@127.0.0.1/")).rejects.toMatchObject({ code: "INVALID" });
    const closed = await world.process(["http://127.0.0.1:8000"]);
    await expect(make(address, closed)).rejects.toMatchObject({ code: "FORBIDDEN" });
    await closed.close();
  });
});

/** Installed manually: `npm install chromadb@3.5.0` in this folder, with the override of docs/migrations.md. */
const installed = "/tmp/chroma/node_modules/chromadb/dist/cli.mjs";
const reason = `skipped: no Chroma in ${installed}`;

describe.skipIf(!existsSync(installed))(existsSync(installed) ? "a real server" : reason, () => {
  let child: ChildProcess;
  const data = temporaryFolder("chroma");
  const address = "http://127.0.0.1:18117";
  const root = `${address}/api/v2/tenants/default_tenant/databases/default_database/collections`;
  const post = async (path: string, body: object) => {
    const response = await fetch(path, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
    });
    expect(response.ok).toBe(true);
    return (await response.json()) as { id: string };
  };
  beforeAll(async () => {
    child = spawn(
      globalThis.process.execPath,
      [installed, "run", "--path", data, "--host", "127.0.0.1", "--port", "18117"],
      { stdio: "ignore" },
    );
    while (
      !(await fetch(`${address}/api/v2/heartbeat`).then(
        ({ ok }) => ok,
        () => false,
      ))
    )
      await sleep(100);
  });
  afterAll(async () => {
    // It ignores SIGTERM.
    child?.kill("SIGKILL");
  });

  it("R-TG-94 1,200 rows over HTTP, and the same folder on disk, have the same hash", async () => {
    const { id } = await post(root, { name: "real" });
    for (let from = 0; from < 1_200; from += 300) {
      const numbers = Array.from({ length: 300 }, (_, i) => from + i);
      await post(`${root}/${id}/add`, {
        ids: numbers.map((n) => `r${n}`),
        embeddings: numbers.map((n) => [n / 7, 1, -n / 3]),
        documents: numbers.map((n) => `text ${n}`),
        metadatas: numbers.map((n) => ({ n, odd: n % 2 === 1 })),
      });
    }
    const migration = await migrate({ server: address, collections: { real: "over-http" } });
    const [over] = await process.units(migration);
    expect(over).toMatchObject({ count: 1_200 });
    child.kill("SIGINT");
    await sleep(1_000);
    const [disk] = await process.units(await migrate({ folder: data, collections: { real: "from-disk" } }));
    expect(disk?.hash).toBe(over?.hash);
  });
});
