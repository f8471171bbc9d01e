/** What a hostile or broken client sends to `/mcp`: an error in the protocol's form, nothing lost, and the server serves others. */
import { describe, expect, it } from "vitest";
import { messageOf, openMcpServer, rootToken } from "./support/mcp-server.ts";
import { forAllTests } from "../support/for-tests.ts";

const server = forAllTests(() => openMcpServer());

const call = (name: string, args: object) => server.modern("tools/call", { name, arguments: args });
const works = async () => expect((await server.modern("tools/list", {})).status).toBe(200);

async function refusal(response: Response): Promise<[status: number, message: string]> {
  const { error, result } = (await messageOf(response)) as unknown as {
    error?: { message: string };
    result?: { isError?: boolean; content: { text: string }[] };
  };
  if (error !== undefined) return [response.status, error.message];
  expect(result?.isError, JSON.stringify(result)).toBe(true);
  return [response.status, result?.content[0]?.text ?? ""];
}

describe("bodies", () => {
  it("at the limit of 16 MiB is read, one byte more is 413", async () => {
    const body = (bytes: number) => {
      const text = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping", params: { pad: "" } });
      return text.replace('"pad":""', `"pad":"${"x".repeat(bytes - text.length)}"`);
    };
    const max = 16 * 1_048_576;
    expect((await refusal(await server.post(body(max))))[0]).toBe(400);
    const [status, message] = await refusal(await server.post(body(max + 1)));
    expect([status, message]).toEqual([413, expect.stringContaining("/v1")]);
    await works();
  });

  it("that are no JSON, empty, too deep, a batch or of another type are refused", async () => {
    const deep = `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`;
    for (const body of ["{", "", "\u0000", deep, "null", "[]", "[1,2]", '"text"', "{}"])
      expect((await server.post(body)).status, body.slice(0, 20)).toBe(400);
    expect((await server.post("<a/>", { headers: { "content-type": "text/xml" } })).status).toBe(415);
    await works();
  });

  it("methods that are none, and other verbs", async () => {
    const [, message] = await refusal(await server.modern("no/such", {}));
    expect(message.length).toBeGreaterThan(0);
    const put = await server.post({}, { method: "PUT" });
    expect([put.status, put.headers.get("allow")]).toEqual([405, "POST, GET, DELETE, OPTIONS"]);
  });
});

describe("arguments", () => {
  const wrong: Readonly<Record<string, [string, object, RegExp]>> = {
    "an unknown tool": ["drop_database", {}, /not found/],
    "a wrong type": ["search", { query: 7 }, /query/],
    "a missing argument": ["search", {}, /query/],
    "an extra argument": ["search", { query: "x", workspace_id: "w2" }, /workspace_id/],
    "an empty question": ["search", { query: "" }, /query/],
    "a limit past the most": ["search", { query: "x", limit: 101 }, /limit/],
    "a huge number": ["workflow_create", { type: "sequential", name: "n", total_steps: 1e300 }, /total_steps/],
    "a path in a file name": [
      "upload_to_catalog",
      { catalog_id: "c", filename: "../../etc/passwd", file_content: "YQ==" },
      /cannot contain "\/"/,
    ],
    "an update in state_query": [
      "state_query",
      { container: "workflow-states", query: "DELETE FROM c" },
      /^INVALID: .*SELECT/,
    ],
  };
  for (const [what, [name, args, text]] of Object.entries(wrong))
    it(`${what} is an error of the call`, async () => {
      const [status, message] = await refusal(await call(name, args));
      expect(status).toBeLessThan(500);
      expect(message).toMatch(text);
    });

  it("11 MB that are not base64, and more base64 than a message takes, are errors that say what to do; nothing is stored", async () => {
    const metadataOf = async (response: Response): Promise<Record<string, unknown>> => {
      const { result } = (await messageOf(response)) as unknown as {
        result: { structuredContent: { metadata: Record<string, unknown> } };
      };
      return result.structuredContent.metadata;
    };
    const { catalog_id } = await metadataOf(await call("create_catalog", { catalog_name: "Files" }));
    const upload = (file_content: string) =>
      call("upload_to_catalog", { catalog_id, filename: "large.txt", file_content });
    const stored = async () => (await metadataOf(await call("list_catalog_documents", { catalog_id })))["documents"];
    for (const content of ["not base64 at all!", `${"YWFh".repeat(2_750_000)}!`])
      expect((await refusal(await upload(content)))[1]).toMatch(/file_content: is not base64/);
    const [status, message] = await refusal(await upload(Buffer.alloc(12_582_912, "a").toString("base64")));
    expect([status, message]).toEqual([413, expect.stringMatching(/16777216 bytes.*Upload files over \/v1/)]);
    expect(await stored()).toEqual([]);
    // What a message takes is stored to the last byte.
    expect(await metadataOf(await upload("YWFh".repeat(2_750_000)))).toMatchObject({ file_size_kb: 8056.64 });
    expect(await stored()).toHaveLength(1);
    await works();
  });

  it("updates in sparql_select change nothing", async () => {
    const made = await call("create_catalog", { catalog_name: "Triples" });
    const catalog = JSON.stringify(await messageOf(made)).match(/"catalog_id":"([^"]+)"/)?.[1] ?? "";
    for (const query of ["DROP ALL", "INSERT DATA { <a:b> <a:c> <a:d> }"])
      expect((await refusal(await call("sparql_select", { collection: `me/${catalog}`, query })))[1]).toMatch(
        /^INVALID: /,
      );
    expect(await messageOf(await call("triples_match", { collection: `me/${catalog}` }))).toMatchObject({
      result: { structuredContent: { items: [] } },
    });
  });

  it("prototype keys, NUL and lone surrogates do no harm", async () => {
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":"x","__proto__":{"limit":1}},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`;
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "search" };
    expect((await server.post(body, { headers })).status).toBeLessThan(500);
    for (const query of ["\u0000", "\ud800", "a".repeat(10_001)])
      expect((await call("search", { query })).status).toBeLessThan(500);
    expect(({} as { limit?: number }).limit).toBeUndefined();
    await works();
  });
});

describe("sessions", () => {
  const ping = (session: string, key?: string) =>
    server.post({ jsonrpc: "2.0", id: 2, method: "ping" }, { key, headers: { "mcp-session-id": session } });

  it("of another user, of another workspace, malformed or overlong are as unknown ones", async () => {
    const [ann, ben, eve] = [
      await server.key("w1", "ann"),
      await server.key("w1", "ben"),
      await server.key("w2", "ann"),
    ];
    const session = await server.session(ann);
    expect((await ping(session, ann)).status).toBe(200);
    const answers = await Promise.all([
      ping(session, ben),
      ping(session, eve),
      ping("no-such-session", ann),
      ping("x".repeat(10_000), ann),
      ping("%00", ann),
    ]);
    const texts = new Set(await Promise.all(answers.map(async (one) => `${one.status} ${await one.text()}`)));
    expect([...texts]).toEqual([expect.stringMatching(/^404 .*Session not found/)]);
    expect((await ping(session, ann)).status).toBe(200);
  });

  it("are needed by requests of the older revisions; a session ends once, and is gone then", async () => {
    expect((await server.post({ jsonrpc: "2.0", id: 2, method: "tools/list" })).status).toBe(400);
    expect((await server.post(undefined, { method: "GET" })).status).toBe(400);
    const session = await server.session();
    const end = () => server.post(undefined, { method: "DELETE", headers: { "mcp-session-id": session } });
    expect((await end()).status).toBe(200);
    expect((await end()).status).toBe(404);
    expect((await ping(session)).status).toBe(404);
  });

  it("a change of rights counts from the next request on", async () => {
    const key = await server.key("w1", "kim");
    const readOnly = await server.key("w1", "kim", ["read"]);
    const session = await server.session(key);
    const create = (as: string, name: string) =>
      server.post(
        {
          jsonrpc: "2.0",
          id: 3,
          method: "tools/call",
          params: { name: "create_catalog", arguments: { catalog_name: name } },
        },
        { key: as, headers: { "mcp-session-id": session } },
      );
    const results = async (response: Response) =>
      (await messageOf(response)) as unknown as { result: { isError?: boolean; content: { text: string }[] } };
    expect((await results(await create(key, "One"))).result.isError ?? false).toBe(false);
    const refused = await results(await create(readOnly, "Two"));
    expect([refused.result.isError, refused.result.content[0]?.text]).toEqual([
      true,
      expect.stringContaining("is read-only"),
    ]);
  });
});

describe("origins", () => {
  it("a foreign Host or Origin is 403, also without credentials; the server's own is served", async () => {
    const list = (headers: Record<string, string>) => server.modern("tools/list", {}, { headers });
    for (const origin of ["http://evil.example", "null", "file://"])
      expect((await list({ origin })).status, origin).toBe(403);
    expect((await list({ origin: "http://localhost:3000" })).status).toBe(200);
    expect((await fetch(server.url, { method: "POST", headers: { origin: "http://evil.example" } })).status).toBe(403);
    expect((await server.post({}, { key: "wrong" })).status).toBe(401);
    expect((await server.post({}, { key: `${rootToken}x` })).status).toBe(401);
  });
});
