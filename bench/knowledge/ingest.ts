/** 1,000 text files of 5 KB over HTTP until the last is indexed: how much of the wall time is not embedding. */
import type { Row } from "../lib/report.ts";
import { settled, startServer, textOf } from "./server.ts";

const files = 1_000;
const fileBytes = 5_000;
const atOnce = 8;

export async function ingestRows(): Promise<readonly Row[]> {
  await using server = await startServer();
  await server.call("POST", "/v1/repositories", { repository_id: "kb", name: "KB" });
  await server.call("POST", "/v1/repositories/kb/collections", { collection_id: "c", name: "C" });
  const path = "/v1/repositories/kb/collections/c";
  // The model is loaded before the clock starts, so its loading time is not measured.
  await server.call("POST", "/openai/v1/embeddings", { input: ["warm"] });
  const began = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let i = next++; i < files; i = next++)
        await server.call("POST", `${path}/documents`, { name: `f${i}.txt`, text: textOf(i, fileBytes) });
    }),
  );
  const uploadedMs = performance.now() - began;
  await settled(server, path, files);
  const wallMs = performance.now() - began;
  const embedMs = await embeddingMs(server, path);
  const { chunk_count } = (await server.call("GET", path)) as { chunk_count: number };
  return [
    {
      name: "ingestion: what is not embedding",
      value: (1 - embedMs / wallMs) * 100,
      unit: "%",
      bar: { atMost: 15 },
      note: `${files} files of 5 KB, ${chunk_count} passages, ${(wallMs / 1000).toFixed(1)} s; embedding the same passages alone ${(embedMs / 1000).toFixed(1)} s; uploads took ${(uploadedMs / 1000).toFixed(1)} s`,
    },
    {
      name: "ingestion: files a second",
      value: files / (wallMs / 1000),
      unit: "/s",
      bar: null,
      note: "over HTTP, durable, until the last is indexed",
    },
  ];
}

/** The same chunks, embedded in the same process with nothing else to do: the floor. */
async function embeddingMs(server: Awaited<ReturnType<typeof startServer>>, path: string): Promise<number> {
  const texts: string[] = [];
  for (let cursor: string | null = null; ;) {
    const page = (await server.call(
      "GET",
      `${path}/documents?limit=100${cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`}`,
    )) as {
      items: { document_id: string }[];
      next_cursor: string | null;
    };
    for (const { document_id } of page.items) {
      const { items } = (await server.call("GET", `${path}/documents/${document_id}/chunks?limit=100`)) as {
        items: { text: string }[];
      };
      texts.push(...items.map(({ text }) => text));
    }
    cursor = page.next_cursor;
    if (cursor === null) break;
  }
  const caller = server.pinakes.as({ tenant: "default", userId: "bench" });
  const began = performance.now();
  for (let at = 0; at < texts.length; at += 512) {
    // A word more than what was ingested, so that the content cache cannot answer.
    await server.pinakes.knowledge.search.embed(
      caller,
      texts.slice(at, at + 512).map((text) => `${text} again`),
    );
  }
  return performance.now() - began;
}
