/** The facade for OpenAI's clients: a search and a list of files. */
import { startServer, textOf } from "../knowledge/server.ts";
import type { Row } from "../lib/report.ts";
import { fillCollection } from "./collection.ts";
import { costRow } from "./measure.ts";

const costMax = 1.1;

export async function openAiRows(): Promise<readonly Row[]> {
  await using server = await startServer();
  const { id } = (await server.call("POST", "/openai/v1/vector_stores", { name: "Bench" })) as { id: string };
  const { path } = await fillCollection(server, "openai", id.slice("vs_".length));
  // Both see each question as often, so that neither finds it embedded more often than the other.
  const question = (i: number) => textOf(1_000_000 + i, 60);
  return [
    await costRow({
      name: "OpenAI: search of a vector store",
      bar: costMax,
      operations: 100,
      facade: (i) =>
        server.call("POST", `/openai/v1/vector_stores/${id}/search`, { query: question(i), max_num_results: 10 }),
      plain: (i) => server.call("POST", `${path}/search`, { query: question(i), limit: 10, min_score: 0 }),
    }),
    await costRow({
      name: "OpenAI: list of the files of a vector store",
      bar: costMax,
      operations: 100,
      facade: () => server.call("GET", `/openai/v1/vector_stores/${id}/files?limit=20`),
      plain: () => server.call("GET", `${path}/documents?limit=20`),
    }),
  ];
}
