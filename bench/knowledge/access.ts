/**
 * Searches of a user who may not see half of a collection's documents, beside the same searches of a collection with the same documents and
 * no restriction: the engine's time apart from the embedding of the question, in turns.
 */
import { median } from "../lib/measure.ts";
import type { Row } from "../lib/report.ts";
import { settled, startServer, textOf } from "./server.ts";

/** Fewer for a quick look: the bar is for 5,000. */
const documents = Number(process.env["BENCH_DOCUMENTS"] ?? 5_000);
const queries = 300;

export async function accessRows(): Promise<readonly Row[]> {
  await using server = await startServer();
  const { pinakes } = server;
  const admin = pinakes.as({ tenant: "default", userId: "root", role: "admin" });
  const ann = pinakes.as({ tenant: "default", userId: "ann", groups: ["staff"] });
  const { knowledge } = pinakes;
  await knowledge.repositories.create(admin, { repository_id: "kb", name: "KB" });
  for (const collection of ["open", "narrowed"]) {
    await knowledge.collections.create(admin, "kb", {
      collection_id: collection,
      name: collection,
      chunking_strategy: { type: "NONE" },
    });
    for (let i = 0; i < documents; i += 1)
      await knowledge.documents.upload(admin, "kb", collection, {
        name: `f${i}.txt`,
        body: textOf(i, 300),
        ...(collection === "narrowed" && i % 2 === 1 ? { allowed_groups: ["hr"] } : {}),
      });
    const path = `/v1/repositories/kb/collections/${collection}`;
    await settled(server, path, documents);
    await server.call("POST", `${path}:compact`);
  }
  const rows: Row[] = [];
  for (const mode of ["hybrid", "vector", "keyword"] as const) {
    const times = { open: [] as number[], narrowed: [] as number[] };
    for (let i = -50; i < queries; i += 1)
      for (const collection of i % 2 === 0 ? (["open", "narrowed"] as const) : (["narrowed", "open"] as const)) {
        const { timings } = await knowledge.search.run(ann, {
          query: textOf(1_000_000 + i, 60),
          mode,
          limit: 10,
          collections: [{ repository: "kb", collection }],
        });
        if (i >= 0) times[collection].push(timings.search_ms);
      }
    rows.push({
      name: `search with half of the documents hidden, ${mode}: ÷ without`,
      value: median(times.narrowed) / median(times.open),
      unit: "×",
      bar: { atMost: 1.2 },
      note: `${documents} documents; p50 ${median(times.narrowed).toFixed(2)} ms, without ${median(times.open).toFixed(2)} ms`,
    });
  }
  return rows;
}
