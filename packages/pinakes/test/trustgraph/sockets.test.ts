/** Sockets over a real server: the multiplexer in both versions' ways, imports and exports, and what is refused. */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { createHttp } from "../../src/http/app.ts";
import { RateLimiter } from "../../src/http/framework/index.ts";
import { socketLimits } from "../../src/http/facades/trustgraph/sockets/limits.ts";
import { serve, type RunningServer } from "../../src/http/serve.ts";
import { open, type Pinakes } from "../../src/open.ts";
import { readReply, requestInit, rootToken, type Json } from "../http/support/server.ts";
import { until } from "../support/until.ts";
import { newClient, pythonApi } from "./support/python-api.ts";

const wide = { perSecond: 1e6, burst: 1e6 };
let pinakes: Pinakes;
let server: RunningServer;
let dir: string;
const call = async (method: string, path: string, options: Parameters<typeof requestInit>[1] = {}) =>
  readReply(await fetch(`${server.url}${path}`, requestInit(method, options)));

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "pinakes-sockets-"));
  pinakes = await open({ dir, items: "memory:", objects: "memory:", rootToken });
  const { app, sockets } = await createHttp(pinakes, {
    limiter: new RateLimiter({ caller: wide, authFailures: wide }),
  });
  server = await serve(app, { host: "127.0.0.1", port: 0, sockets });
});
afterAll(async () => {
  await server?.close();
  await pinakes?.close();
  await rm(dir, { recursive: true, force: true });
});

const key = async (user_id: string, more: object = {}): Promise<string> => {
  const made = await call("POST", "/v1/keys", { key: rootToken, body: { workspace_id: "w1", user_id, ...more } });
  return made.json["key"] as string;
};
const address = (path: string) => `${server.url.replace("http", "ws")}${path}`;

class Client implements Disposable {
  readonly ws: WebSocket;
  readonly frames: Json[] = [];
  closed: { readonly code: number; readonly reason: string } | undefined;

  constructor(path: string) {
    this.ws = new WebSocket(address(path));
    this.ws.on("message", (data: Buffer) => void this.frames.push(JSON.parse(data.toString()) as Json));
    this.ws.on("close", (code, reason) => void (this.closed = { code, reason: reason.toString() }));
    this.ws.on("error", () => {});
  }
  async opened(): Promise<this> {
    await once(this.ws, "open");
    return this;
  }
  send(frame: unknown): void {
    this.ws.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  }
  /** The frames of one id, up to the last. */
  async answer(id: string): Promise<readonly Json[]> {
    await until(async () => this.frames.some((one) => one["id"] === id && one["complete"] === true) || undefined);
    return this.frames.filter((one) => one["id"] === id);
  }
  async end(): Promise<{ readonly code: number; readonly reason: string }> {
    return until(async () => this.closed);
  }
  [Symbol.dispose](): void {
    this.ws.terminate();
  }
}
const connect = (path: string) => new Client(path).opened();
const refusal = (path: string, headers: Record<string, string> = {}) =>
  new Promise<{ status: number; text: string }>((resolve, reject) => {
    const ws = new WebSocket(address(path), { headers });
    ws.on("open", () => reject(new Error("it was opened")));
    ws.on("error", () => {});
    ws.on("unexpected-response", (_, response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => (text += chunk.toString()));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
  });
const i = (v: string) => ({ t: "i", i: `http://e.org/${v}` });
const e = (v: string) => ({ v: `http://e.org/${v}`, e: true });

describe("/api/v1/socket", () => {
  it("of 2.8: signs in with the first frame, answers by id, streams in batches, and tells errors beside the id", async () => {
    const token = await key("newer");
    using client = await connect("/api/v1/socket");
    client.send({ type: "auth", token });
    // Not waiting for the answer to the first frame.
    client.send({
      id: "r1",
      workspace: "default",
      service: "collection-management",
      request: { operation: "update-collection", collection: "x" },
    });
    expect(await client.answer("r1")).toMatchObject([
      { response: { collections: [{ collection: "x" }] }, complete: true },
    ]);
    expect(client.frames[0]).toMatchObject({ type: "auth-ok", default_workspace: "w1" });
    const triples = Array.from({ length: 45 }, (_, n) => ({ s: i(`s${n}`), p: i("p"), o: i("o") }));
    client.send({
      id: "put",
      service: "knowledge",
      request: { operation: "put-kg-core", id: "c", triples: { metadata: {}, triples } },
    });
    await client.answer("put");
    client.send({ id: "load", service: "knowledge", request: { operation: "load-kg-core", id: "c", collection: "x" } });
    await client.answer("load");
    client.send({
      id: "q",
      service: "triples",
      flow: "default",
      request: { collection: "x", streaming: true, "batch-size": 20 },
    });
    const batches = await client.answer("q");
    expect(batches.map(({ complete }) => complete)).toEqual([false, false, true]);
    expect(batches.map(({ response }) => (response as { response: unknown[] }).response.length)).toEqual([20, 20, 5]);
    client.send({ id: "core", service: "knowledge", request: { operation: "get-kg-core", id: "c" } });
    expect(await client.answer("core")).toMatchObject([
      { response: { triples: { metadata: { id: "c" }, triples } }, complete: false },
      { response: { eos: true }, complete: true },
    ]);
    const api = newClient(pythonApi({ call }, { token }));
    await api.library({
      operation: "add-document",
      "document-metadata": { id: "d" },
      content: Buffer.from("0123456789").toString("base64"),
    });
    client.send({
      id: "doc",
      service: "librarian",
      request: { operation: "stream-document", "document-id": "d", "chunk-size": 4 },
    });
    const chunks = await client.answer("doc");
    expect(
      chunks.map(({ response }) => Buffer.from((response as Json)["content"] as string, "base64").toString()).join(""),
    ).toBe("0123456789");
    for (const [id, message] of Object.entries({
      e1: { service: "triples", flow: "missing", request: {} },
      e2: { service: "nothing", request: {} },
      e3: { service: "librarian", request: { operation: "explode" } },
      e4: { service: "librarian", request: [] },
      e5: { service: "librarian", workspace: "w9", request: { operation: "list-documents" } },
      e6: { service: "knowledge", request: { operation: "get-kg-core", id: "missing" } },
      e7: { request: {} },
    })) {
      client.send({ id, ...message });
      expect(await client.answer(id), id).toEqual([
        { id, error: { type: expect.any(String) as string, message: expect.any(String) as string }, complete: true },
      ]);
    }
    client.send("{ no json");
    await until(async () => client.frames.find((one) => one["id"] === undefined && one["error"] !== undefined));
    client.send({ id: "still", service: "flow", request: { operation: "list-flows" } });
    expect(await client.answer("still")).toMatchObject([{ response: { "flow-ids": ["default"] } }]);
  });

  it("of 1.4: a token in the address, or a key in its path; errors are in the response", async () => {
    const token = await key("older");
    for (const path of [`/api/v1/socket?token=${token}`, `/${token}/api/v1/socket`]) {
      using client = await connect(path);
      client.send({
        id: "a",
        service: "collection-management",
        request: { operation: "list-collections", user: "older" },
      });
      expect(await client.answer("a")).toMatchObject([
        { response: { collections: [], success: "true" }, complete: true },
      ]);
      client.send({ id: "b", service: "triples", flow: "default", request: { user: "older", s: e("a") } });
      expect(await client.answer("b")).toEqual([{ id: "b", response: { response: [] }, complete: true }]);
      client.send({ id: "c", service: "librarian", request: { operation: "list-documents", user: "somebody" } });
      expect(await client.answer("c")).toMatchObject([
        { response: { error: { type: "request-error" } }, complete: true },
      ]);
    }
  });

  it("wrong tokens are refused in the client's own form, and a revoked key answers no more", async () => {
    using client = await connect("/api/v1/socket");
    client.send({ type: "auth", token: "pk_wrong" });
    await client.end();
    expect(client.frames).toEqual([{ type: "auth-failed", error: expect.any(String) as string }]);
    for (const first of [
      { id: "x", service: "librarian", request: { operation: "list-documents" } },
      { type: "auth" },
    ]) {
      using other = await connect("/api/v1/socket");
      other.send(first);
      await other.end();
      expect(other.frames).toMatchObject([{ type: "auth-failed" }]);
    }
    expect(await refusal("/api/v1/socket?token=wrong")).toMatchObject({
      status: 401,
      text: expect.stringMatching(/^\{"error":"/) as string,
    });
    expect((await refusal("/api/v1/flow/default/import/triples")).status).toBe(401);
    expect((await refusal("/api/v1/elsewhere")).status).toBe(404);
    const token = await key("short");
    using revoked = await connect(`/api/v1/socket?token=${token}`);
    await call("DELETE", `/v1/keys/${token.slice(3, 23)}`, { key: rootToken });
    revoked.send({ id: "a", service: "librarian", request: { operation: "list-documents", user: "short" } });
    expect(await revoked.answer("a")).toMatchObject([{ response: { error: {} } }]);
  });
});

describe("imports and exports", () => {
  const frame = (triples: readonly object[], more: Json = {}) => ({
    metadata: { id: "d", metadata: [], collection: "imported", ...more },
    triples,
  });

  it("R-TG-28 triples, vectors, chunks and contexts are stored as they come, also where the client leaves at once; exports show live traffic", async () => {
    const token = await key("importer");
    const api = newClient(pythonApi({ call }, { token }));
    const at = (kind: string, what: string) => `/api/v1/flow/default/${kind}/${what}?token=${token}&workspace=default`;
    using live = await connect(at("export", "triples"));
    {
      const client = await connect(at("import", "triples"));
      for (let n = 0; n < 30; n += 1) client.send(frame([{ s: i(`s${n}`), p: i("p"), o: { t: "l", v: "x" } }]));
      client.ws.close();
    }
    const stored = async () => (await api.flow("triples", { collection: "imported" }))["response"] as object[];
    await until(async () => (await stored()).length === 30 || undefined);
    await until(async () => live.frames.length === 30 || undefined);
    expect(live.frames[0]).toMatchObject(frame([{ s: i("s0") }]));
    {
      using client = await connect(at("import", "graph-embeddings"));
      client.send({
        metadata: { collection: "imported" },
        entities: [{ entity: i("owl"), vector: Array.from({ length: 384 }, () => 1) }],
      });
      using contexts = await connect(at("import", "entity-contexts"));
      contexts.send({
        metadata: { collection: "imported" },
        entities: [{ entity: i("river"), context: "A river flows to the sea." }],
      });
      using documents = await connect(at("import", "document-embeddings"));
      documents.send({
        metadata: { collection: "imported" },
        chunks: [{ chunk_id: "c1", vector: Array.from({ length: 384 }, () => 1) }],
      });
      const vector = (
        (await api.flow("embeddings", { texts: ["A river flows to the sea."] }))["vectors"] as number[][]
      )[0];
      const entities = async () =>
        (await api.flow("graph-embeddings", { vector, collection: "imported" }))["entities"] as Json[];
      await until(async () => (await entities()).length === 2 || undefined);
      expect((await entities())[0]).toMatchObject({ entity: i("river") });
      await until(
        async () =>
          ((await api.flow("document-embeddings", { vector, collection: "imported" }))["chunks"] as Json[]).length ===
            1 || undefined,
      );
    }
  });

  it("frames of 1.4 name a user; one that the key may not act for stores nothing and closes the socket", async () => {
    const token = await key("gateway", { act_as: ["ann"] });
    const at = `/api/v1/flow/default/import/triples?token=${token}`;
    const triple = { s: e("s"), p: e("p"), o: { v: "x", e: false } };
    using client = await connect(at);
    client.send(frame([triple], { user: "ann" }));
    const anns = newClient(pythonApi({ call }, { token: await key("ann") }));
    await until(
      async () =>
        ((await anns.flow("triples", { collection: "imported" }))["response"] as object[]).length === 1 || undefined,
    );
    client.send(frame([{ ...triple, o: e("eve") }], { user: "eve" }));
    expect(await client.end()).toMatchObject({
      code: 1008,
      reason: expect.stringMatching(/may not act for "eve"/) as string,
    });
    for (const wrong of [
      "{",
      "[]",
      {},
      { metadata: {}, triples: [{ s: 1 }] },
      { metadata: {}, triples: {} },
      frame([triple, { ...triple, p: { v: "no iri", e: true } }], { user: "ann", collection: "half" }),
    ]) {
      using other = await connect(at);
      other.send(wrong);
      expect((await other.end()).code, JSON.stringify(wrong)).toBe(1008);
    }
    using binary = await connect(at);
    binary.ws.send(Buffer.from("{}"));
    expect((await binary.end()).code).toBe(1008);
    const eve = newClient(pythonApi({ call }, { token: await key("eve") }));
    for (const api of [anns, eve]) {
      const { collections } = await api.collections({ operation: "list-collections" });
      expect((collections as Json[]).map(({ collection }) => collection)).toEqual(api === anns ? ["imported"] : []);
    }
  });

  it("a frame at the limit is stored, one byte more closes the socket; read-only keys, unknown flows and kinds are refused", async () => {
    const token = await key("large");
    const at = `/api/v1/flow/default/import/triples?token=${token}&workspace=default`;
    const sized = (bytes: number): string => {
      const [before, after] = JSON.stringify({
        metadata: { collection: "large" },
        triples: [{ s: i("s"), p: i("p"), o: i("o") }],
        pad: "",
      }).split('"pad":"') as [string, string];
      const head = `${before}"pad":"`;
      return `${head}${"x".repeat(bytes - head.length - after.length)}${after}`;
    };
    using over = await connect(at);
    over.send(sized(socketLimits.frameBytesMax + 1));
    expect((await over.end()).code).toBe(1009);
    const api = newClient(pythonApi({ call }, { token }));
    expect(await api.collections({ operation: "list-collections" })).toMatchObject({ collections: [] });
    using fits = await connect(at);
    fits.send(sized(socketLimits.frameBytesMax));
    await until(
      async () =>
        ((await api.flow("triples", { collection: "large" }))["response"] as object[]).length === 1 || undefined,
    );
    const reader = await key("large", { scopes: ["read"] });
    expect((await refusal(at.replace(token, reader))).status).toBe(403);
    expect((await refusal(at.replace("default", "other"))).status).toBe(404);
    expect((await refusal(at.replace("triples", "rows"))).status).toBe(404);
    expect((await refusal(at.replace("workspace=default", "workspace=w9"))).status).toBe(404);
  });

  it("so many sockets of a user, and no more", async () => {
    const token = await key("many");
    const clients: Client[] = [];
    for (let n = 0; n < socketLimits.socketsPerUserMax; n += 1)
      clients.push(await connect(`/api/v1/socket?token=${token}`));
    expect((await refusal(`/api/v1/socket?token=${token}`)).status).toBe(429);
    clients.pop()?.ws.close();
    await until(async () => {
      try {
        clients.push(await connect(`/api/v1/socket?token=${token}`));
        return true;
      } catch {
        return undefined;
      }
    });
    for (const client of clients) client[Symbol.dispose]();
  });
});

it("other upgrades are ordinary requests", async () => {
  const { port } = new URL(server.url);
  const status = await new Promise<number>((resolve, reject) => {
    const headers = { connection: "Upgrade, HTTP2-Settings", upgrade: "h2c", "http2-settings": "AAMAAABkAAQAAP__" };
    const sent = httpRequest({ host: "127.0.0.1", port, path: "/healthz", headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on("error", reject);
    sent.end();
  });
  expect(status).toBe(200);
});
