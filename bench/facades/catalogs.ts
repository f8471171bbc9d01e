/** The catalogs of the knowledge-base agent: a query beside the search that it translates to, and the times that R-KB-49 states. */
import { performance } from "node:perf_hooks";
import { quantile } from "../lib/measure.ts";
import type { Row } from "../lib/report.ts";
import { startServer, textOf, type BenchServer } from "../knowledge/server.ts";
import { documents, fillCollection } from "./collection.ts";
import { costRow } from "./measure.ts";

const costMax = 1.1;
/** As many as a catalog holds. */
const documentsMax = Math.min(500, documents);
/** FACADES_MEGABYTES: less to index, to see that all of it runs. */
const megabytes = Number(process.env["FACADES_MEGABYTES"] ?? 10);
const question = (i: number) => textOf(3_000_000 + i, 60);

export async function catalogRows(): Promise<readonly Row[]> {
  await using server = await startServer();
  const catalog = await createCatalog(server, "Bench");
  const { path } = await fillCollection(server, "me", catalog, documentsMax);
  return [
    await costRow({
      name: "Catalogs: query",
      bar: costMax,
      operations: 100,
      facade: (i) => server.call("POST", `/catalogs/${catalog}/query`, { query: question(i), num_results: 10 }),
      plain: (i) => server.call("POST", `${path}/search`, { query: question(i), limit: 10 }),
    }),
    await queryRow(server),
    await flowRow(server),
    await indexingRow(server),
  ];
}

async function createCatalog(server: BenchServer, catalog_name: string): Promise<string> {
  const { metadata } = (await server.call("POST", "/catalogs", { catalog_name })) as {
    metadata: { catalog_id: string };
  };
  return metadata.catalog_id;
}

async function queryRow(server: BenchServer): Promise<Row> {
  const catalog = await createCatalog(server, "Hundred");
  await fillCollection(server, "me", catalog, 100);
  const times: number[] = [];
  for (let i = 0; i < 200; i += 1)
    times.push(await seconds(() => server.call("POST", `/catalogs/${catalog}/query`, { query: question(i) })));
  return limitRow("R-KB-49 query over 100 documents, p95", quantile(times, 0.95), 5, "200 queries in turn");
}

async function flowRow(server: BenchServer): Promise<Row> {
  const took = await seconds(async () => {
    const catalog = await createCatalog(server, "Flow");
    await upload(server, catalog, "pump.md", `# Pump\n\nThe pump starts at 4.2 bar.\n\n${textOf(1, 20_000)}`);
    const answer = await server.call("POST", `/catalogs/${catalog}/query`, { query: "When does the pump start?" });
    if (!JSON.stringify(answer).includes("4.2 bar")) throw new Error("The query did not find the document.");
  });
  return limitRow("R-KB-49 create, upload, index and query", took, 120, "one document of 20 KB");
}

async function indexingRow(server: BenchServer): Promise<Row> {
  const catalog = await createCatalog(server, "Large");
  const took = await seconds(() => upload(server, catalog, "large.txt", textOf(2, megabytes * 1024 * 1024)));
  return limitRow(`R-KB-49 indexing of ${megabytes} MB`, took, 300, "one text file, from the upload to its last chunk");
}

/** Until it can be found. */
async function upload(server: BenchServer, catalog: string, name: string, text: string): Promise<void> {
  const path = `/v1/repositories/me/collections/${catalog}/documents`;
  const { documents } = (await server.call("POST", path, { name, text })) as { documents: { document_id: string }[] };
  for (;;) {
    const { status } = (await server.call("GET", `${path}/${documents[0]?.document_id}`)) as { status: string };
    if (status === "indexed") return;
    if (status === "failed") throw new Error(`${name} failed.`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1_000;
}

function limitRow(name: string, value: number, atMost: number, note: string): Row {
  return { name, value, unit: "s", bar: { atMost }, note };
}
