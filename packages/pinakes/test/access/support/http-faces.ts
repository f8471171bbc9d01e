/** The faces of a server. Whatever an answer says, names of papers in its bytes count. */
import type { CallOptions, Reply, TestServer } from "../../http/support/server.ts";
import { namesIn, type Face } from "./faces.ts";
import type { World } from "./world.ts";

type Ask = (method: string, path: string, body?: unknown, headers?: CallOptions["headers"]) => Promise<Reply>;
type HttpFace = (ask: Ask, world: World) => Promise<readonly string[] | number>;

const protocol = "2026-07-28";
const meta = {
  "io.modelcontextprotocol/protocolVersion": protocol,
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

const v1 = ({ place }: World): string => `/v1/repositories/${place.repository}/collections/${place.collection}`;
const store = ({ place }: World): string => `/openai/v1/vector_stores/vs_${place.collection}`;

function textOf({ status, text }: Reply): string {
  if (status >= 300) throw new Error(`a face answered ${status}: ${text}`);
  return text;
}

/** Papers for which the path does not answer 404. */
const each =
  (method: string, pathOf: (world: World, id: string) => string): HttpFace =>
  async (ask, world) => {
    const found: string[] = [];
    for (const { name, document_id } of world.papers) {
      const reply = await ask(method, pathOf(world, document_id));
      if (reply.status === 404) continue;
      textOf(reply);
      found.push(name);
    }
    return found.toSorted();
  };

const mcp = async (ask: Ask, method: string, name: string, params: object): Promise<string> => {
  const headers = {
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": protocol,
    "mcp-method": method,
    "mcp-name": name,
  };
  return (await ask("POST", "/mcp", { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } }, headers))
    .text;
};

const named =
  (call: (ask: Ask, world: World) => Promise<string>): HttpFace =>
  async (ask, world) =>
    namesIn(await call(ask, world));

const v1Faces: Readonly<Record<string, HttpFace>> = {
  "v1 list": named(async (ask, world) => textOf(await ask("GET", `${v1(world)}/documents?limit=100`))),
  "v1 search": named(async (ask, world) =>
    textOf(await ask("POST", `${v1(world)}/search`, { query: "zebra meadow", limit: 100, explain: true })),
  ),
  "v1 triples": named(async (ask, world) => textOf(await ask("GET", `${v1(world)}/triples?limit=1000`))),
  "v1 sparql": named(async (ask, world) =>
    textOf(await ask("GET", `${v1(world)}/sparql?query=${encodeURIComponent("SELECT * { ?s ?p ?o }")}`)),
  ),
  "v1 graph store": named(async (ask, world) =>
    textOf(await ask("GET", `${v1(world)}/graphs?default`, undefined, { accept: "text/turtle" })),
  ),
  "v1 jobs": named(async (ask) => textOf(await ask("GET", "/v1/jobs?limit=100"))),
  "v1 content": each("GET", (world, id) => `${v1(world)}/documents/${id}/content`),
  "v1 link": each("GET", (world, id) => `${v1(world)}/documents/${id}/download`),
  "v1 count": async (ask, world) => Number((await ask("GET", v1(world))).json["document_count"]),
  "v1 total": async (ask, world) =>
    Number((await ask("GET", `${v1(world)}/documents?include_total=true&limit=1`)).json["total"]),
};

const openAiFaces: Readonly<Record<string, HttpFace>> = {
  "openai files of a store": async (ask, world) => {
    const ids = textOf(await ask("GET", `${store(world)}/files?limit=100`));
    return world.papers
      .filter(({ document_id }) => ids.includes(document_id))
      .map(({ name }) => name)
      .toSorted();
  },
  "openai file": each("GET", (world, id) => `${store(world)}/files/file-${id}`),
  "openai content": each("GET", (world, id) => `${store(world)}/files/file-${id}/content`),
  "openai search": named(async (ask, world) =>
    textOf(await ask("POST", `${store(world)}/search`, { query: "zebra meadow", max_num_results: 50 })),
  ),
  "openai file counts": async (ask, world) =>
    ((await ask("GET", store(world))).json["file_counts"] as { completed: number }).completed,
};

const lisaFaces: Readonly<Record<string, HttpFace>> = {
  "lisa documents": named(async (ask, { place }) =>
    textOf(await ask("GET", `/repository/${place.repository}/document?collectionId=${place.collection}&pageSize=100`)),
  ),
  "lisa documents of the repository": named(async (ask, { place }) =>
    textOf(await ask("GET", `/repository/${place.repository}/document?pageSize=100`)),
  ),
  "lisa total": async (ask, { place }) =>
    Number(
      (await ask("GET", `/repository/${place.repository}/document?collectionId=${place.collection}&pageSize=1`)).json[
        "totalDocuments"
      ],
    ),
  "lisa document": each(
    "GET",
    ({ place }, id) => `/repository/${place.repository}/${id}?collectionId=${place.collection}`,
  ),
  "lisa search": named(async (ask, { place }) =>
    textOf(
      await ask(
        "GET",
        `/repository/${place.repository}/similaritySearch?query=zebra&collectionId=${place.collection}&topK=100`,
      ),
    ),
  ),
};

const mcpFaces: Readonly<Record<string, HttpFace>> = {
  "mcp search": named(async (ask, { place }) =>
    mcp(ask, "tools/call", "search", {
      name: "search",
      arguments: { query: "zebra meadow", in: [`${place.repository}/${place.collection}`], limit: 50 },
    }),
  ),
  "mcp collection": named(async (ask, { place }) => {
    const uri = `pinakes://repositories/${place.repository}/collections/${place.collection}`;
    return mcp(ask, "resources/read", uri, { uri });
  }),
  "mcp document": async (ask, world) => {
    const found: string[] = [];
    for (const { name, document_id } of world.papers) {
      const uri = `pinakes://repositories/${world.place.repository}/collections/${world.place.collection}/documents/${document_id}`;
      if ((await mcp(ask, "resources/read", uri, { uri })).includes("the herd")) found.push(name);
    }
    return found.toSorted();
  },
};

export function httpFaces(server: TestServer, keys: ReadonlyMap<string, string>): Readonly<Record<string, Face>> {
  const all = { ...v1Faces, ...openAiFaces, ...lisaFaces, ...mcpFaces };
  return Object.fromEntries(
    Object.entries(all).map(([name, face]): [string, Face] => [
      name,
      async (world, caller) => {
        const key = keys.get(caller.userId);
        const ask: Ask = (method, path, body, headers = {}) =>
          server.call(method, path, { key, body, headers: { "openai-project": world.place.repository, ...headers } });
        return face(ask, world);
      },
    ]),
  );
}
