/** LISA's clients: a similarity search, a list of collections and a list of documents. */
import { startServer, textOf } from "../knowledge/server.ts";
import type { Row } from "../lib/report.ts";
import { fillCollection } from "./collection.ts";
import { costRow } from "./measure.ts";

const costMax = 1.1;

export async function lisaRows(): Promise<readonly Row[]> {
  await using server = await startServer();
  await server.call("POST", "/v1/repositories", { repository_id: "kb", name: "KB" });
  await server.call("POST", "/v1/repositories/kb/collections", { collection_id: "bench", name: "Bench" });
  const { path } = await fillCollection(server, "kb", "bench");
  const question = (i: number) => textOf(4_000_000 + i, 60);
  return [
    await costRow({
      name: "LISA: similaritySearch",
      bar: costMax,
      operations: 100,
      facade: (i) => {
        const query = new URLSearchParams({
          query: question(i),
          collectionId: "bench",
          topK: "10",
          searchMode: "hybrid",
        });
        return server.call("GET", `/repository/kb/similaritySearch?${query}`);
      },
      plain: (i) => server.call("POST", `${path}/search`, { query: question(i), limit: 10, mode: "hybrid" }),
    }),
    await costRow({
      name: "LISA: list of collections",
      bar: costMax,
      operations: 100,
      facade: () => server.call("GET", "/repository/kb/collections?pageSize=20"),
      plain: () => server.call("GET", "/v1/repositories/kb/collections?limit=20&include_total=true"),
    }),
    await costRow({
      name: "LISA: list of documents",
      bar: costMax,
      operations: 100,
      facade: () => server.call("GET", "/repository/kb/document?collectionId=bench&pageSize=20"),
      plain: () => server.call("GET", `${path}/documents?limit=20&include_total=true`),
    }),
  ];
}
