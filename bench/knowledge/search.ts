/** Searches over HTTP on 5,000 documents: the engine's time apart from the embedding of the question, as reported in the answer. */
import { quantile } from "../lib/measure.ts";
import type { Row } from "../lib/report.ts";
import { settled, startServer, textOf } from "./server.ts";

const documents = 5_000;
const queries = 500;

export async function searchRows(): Promise<readonly Row[]> {
  await using server = await startServer();
  await server.call("POST", "/v1/repositories", { repository_id: "kb", name: "KB" });
  await server.call("POST", "/v1/repositories/kb/collections", {
    collection_id: "c",
    name: "C",
    chunking_strategy: { type: "NONE" },
  });
  const path = "/v1/repositories/kb/collections/c";
  let next = 0;
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let i = next++; i < documents; i = next++)
        await server.call("POST", `${path}/documents`, {
          name: `f${i}.txt`,
          text: textOf(i, 300),
          metadata: { bucket: i % 100 },
        });
    }),
  );
  await settled(server, path, documents);
  await server.call("POST", `${path}:compact`);
  const rows: Row[] = [];
  for (const mode of ["hybrid", "vector", "keyword"] as const) {
    const timings: { embed_ms: number; search_ms: number; total_ms: number; wall: number }[] = [];
    for (let i = -50; i < queries; i += 1) {
      const began = performance.now();
      const answer = (await server.call("POST", `${path}/search`, {
        query: textOf(1_000_000 + i, 60),
        mode,
        limit: 10,
      })) as {
        timings: (typeof timings)[number];
      };
      if (i >= 0) timings.push({ ...answer.timings, wall: performance.now() - began });
    }
    const p = (share: number, of: "embed_ms" | "search_ms" | "wall") =>
      quantile(
        timings.map((timing) => timing[of]),
        share,
      );
    rows.push({
      name: `search over HTTP, ${mode}: engine p95`,
      value: p(0.95, "search_ms"),
      unit: "ms",
      bar: mode === "hybrid" ? { atMost: 10 } : null,
      note: `${documents} documents; engine p50 ${p(0.5, "search_ms").toFixed(2)} ms, embedding p50 ${p(0.5, "embed_ms").toFixed(2)} ms, whole call p50 ${p(0.5, "wall").toFixed(2)} ms, p95 ${p(0.95, "wall").toFixed(2)} ms`,
    });
  }
  return rows;
}
