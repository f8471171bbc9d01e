/**
 * The facade for Cosmos DB's clients: an item read and created, and a page of a query. Both sides use one API key. Requests are signed
 * before they are timed: what a client needs to sign is not the server's.
 */
import { createHmac } from "node:crypto";
import { startServer, type BenchServer } from "../knowledge/server.ts";
import type { Row } from "../lib/report.ts";
import { costRow } from "./measure.ts";

const costMax = 1.1;
const items = 500;
const docs = "dbs/pinakes/colls/bench/docs";
const text = "x".repeat(2_000);

export async function cosmosRows(): Promise<readonly Row[]> {
  await using server = await startServer();
  const container = "/v1/containers/bench";
  await server.call("PUT", container, { partition_key: "/pk", optional_key: true });
  const { facade, plain } = await keyCalls(server);
  const document = (i: number, of: string) => ({ id: `${of}${i}`, pk: `p${i % 50}`, n: i, text });
  for (let i = 0; i < items; i += 1) await server.call("POST", `${container}/items`, document(i, "item"));
  const key = (i: number) => ({ "x-ms-documentdb-partitionkey": JSON.stringify([`p${i % 50}`]) });
  let created = 0;
  const query = { query: "SELECT * FROM c WHERE c.n >= 0" };
  return [
    await costRow({
      name: "Cosmos DB: read an item",
      bar: costMax,
      operations: 300,
      facade: (i) => facade("GET", `${docs}/item${i}`, key(i)),
      plain: (i) => plain("GET", `${container}/items/item${i}?pk=p${i % 50}`),
    }),
    await costRow({
      name: "Cosmos DB: create an item",
      bar: costMax,
      operations: 200,
      facade: () => {
        const next = document((created += 1), "facade");
        return facade("POST", docs, { "x-ms-documentdb-partitionkey": JSON.stringify([next.pk]) }, next);
      },
      plain: () => plain("POST", `${container}/items`, document((created += 1), "plain")),
    }),
    await costRow({
      name: "Cosmos DB: query of a partition, 10 items",
      bar: costMax,
      operations: 200,
      facade: (i) => facade("POST", docs, { ...key(i), ...queryHeaders, "x-ms-max-item-count": "10" }, query),
      plain: (i) => plain("POST", `${container}/query`, { ...query, pk: `p${i % 50}`, limit: 10 }),
    }),
  ];
}

const queryHeaders = { "x-ms-documentdb-isquery": "True", "content-type": "application/query+json" };

interface Calls {
  facade(method: string, path: string, headers: Readonly<Record<string, string>>, body?: unknown): Promise<unknown>;
  plain(method: string, path: string, body?: unknown): Promise<unknown>;
}

async function keyCalls(server: BenchServer): Promise<Calls> {
  const wanted = { user_id: "bench", workspace_id: "default", account: true };
  const made = (await server.call("POST", "/v1/keys", wanted)) as { key: string; account_key: string };
  const secret = Buffer.from(made.account_key, "base64");
  const date = new Date().toUTCString();
  const known = new Map<string, string>();
  const authorization = (method: string, path: string): string => {
    const name = `${method} ${path}`;
    const text = known.get(name) ?? signature(secret, method, path, date);
    known.set(name, text);
    return text;
  };
  for (let i = 0; i < items; i += 1) authorization("GET", `${docs}/item${i}`);
  return {
    facade: (method, path, headers, body) =>
      server.call(method, `/cosmos/${path}`, body, {
        ...headers,
        authorization: authorization(method, path),
        "x-ms-date": date,
      }),
    plain: (method, path, body) => server.call(method, path, body, { authorization: `Bearer ${made.key}` }),
  };
}

function signature(secret: Buffer, method: string, path: string, date: string): string {
  const link = path.split("/").length % 2 === 0 ? path : path.slice(0, path.lastIndexOf("/"));
  const text = `${method.toLowerCase()}\ndocs\n${link}\n${date.toLowerCase()}\n\n`;
  const signed = createHmac("sha256", secret).update(text).digest("base64");
  return encodeURIComponent(`type=master&ver=1.0&sig=${signed}`);
}
