/** MCP: `tools/call` of `search` beside the HTTP search that it translates to. */
import { startServer, textOf } from "../knowledge/server.ts";
import type { Row } from "../lib/report.ts";
import { fillCollection } from "./collection.ts";
import { costRow } from "./measure.ts";

const costMax = 1.5;
const version = "2026-07-28";
const meta = {
  "io.modelcontextprotocol/protocolVersion": version,
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};
const headers = {
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": version,
  "mcp-method": "tools/call",
  "mcp-name": "search",
};

export async function mcpRows(): Promise<readonly Row[]> {
  await using server = await startServer();
  await server.call("POST", "/v1/repositories/me/collections", { collection_id: "bench", name: "Bench" });
  const { path, name } = await fillCollection(server, "me", "bench");
  const question = (i: number) => textOf(2_000_000 + i, 60);
  let id = 0;
  return [
    await costRow({
      name: "MCP: tools/call of search",
      bar: costMax,
      operations: 100,
      facade: async (i) => {
        const body = {
          jsonrpc: "2.0",
          id: (id += 1),
          method: "tools/call",
          params: { name: "search", arguments: { query: question(i), in: [name], limit: 10 }, _meta: meta },
        };
        const answer = JSON.stringify(await server.call("POST", "/mcp", body, headers));
        if (!answer.includes("chunk_id")) throw new Error(`Not a search result: ${answer.slice(0, 500)}`);
      },
      plain: (i) => server.call("POST", `${path}/search`, { query: question(i), limit: 10 }),
    }),
  ];
}
