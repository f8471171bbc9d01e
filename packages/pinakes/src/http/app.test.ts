import { connect } from "node:net";
import { once } from "node:events";
import { afterAll, describe, expect, it } from "vitest";
import { PinakesError } from "../domain/errors.ts";
import { tenantScope } from "../domain/scope.ts";
import { proveServer, signLocalToken } from "../identity/index.ts";
import { open, type Pinakes } from "../open.ts";
import { failure } from "../testing/object-store/fixture.ts";
import { createApp } from "./app.ts";
import { createLogger } from "./framework/index.ts";
import { serve } from "./serve.ts";

const pinakes = await open({ items: "memory:", objects: "memory:" });
afterAll(() => pinakes.close());

function withReady(ready: Pinakes["ready"]): Pinakes {
  return {
    items: pinakes.items,
    objects: pinakes.objects,
    queue: pinakes.queue,
    vectors: pinakes.vectors,
    triples: pinakes.triples,
    knowledge: pinakes.knowledge,
    lifecycle: pinakes.lifecycle,
    lateWrites: () => pinakes.lateWrites(),
    auditFigures: () => pinakes.auditFigures(),
    places: pinakes.places,
    deletionLagSecondsMax: pinakes.deletionLagSecondsMax,
    alarms: pinakes.alarms,
    state: pinakes.state,
    identity: pinakes.identity,
    audit: pinakes.audit,
    migrations: pinakes.migrations,
    governance: pinakes.governance,
    catalogSelections: pinakes.catalogSelections,
    keys: pinakes.keys,
    as: (who) => pinakes.as(who),
    withSessions: pinakes.withSessions,
    info: () => pinakes.info(),
    ready,
    close: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
}

async function body(response: Response): Promise<Record<string, unknown>> {
  return (await response.json()) as Record<string, unknown>;
}

describe("http: system routes", () => {
  it("/healthz says that the process lives", async () => {
    const response = await (await createApp(pinakes)).request("/healthz");
    expect(response.status).toBe(200);
    expect(await body(response)).toEqual({ status: "ok" });
  });

  it("R-CMP-38 /metrics has the figures of the vector store for Prometheus, without names of tenants or collections", async () => {
    const scope = tenantScope("secret-tenant");
    await pinakes.vectors.create(scope, "secret-collection", { dims: 2 });
    await pinakes.vectors.append(scope, "secret-collection", { upsert: [{ id: "a", vector: [1, 2] }] });
    const read = async (): Promise<string> => (await (await createApp(pinakes)).request("/metrics")).text();
    await expect.poll(read).toMatch(/^pinakes_vectors_folds_total 1$/m);
    const text = await read();
    expect(text).toMatch(/^# TYPE pinakes_vectors_oldest_pending_delta_age_seconds gauge$/m);
    expect(text).toMatch(/^pinakes_vectors_rows_written_total 1$/m);
    expect(text).toMatch(/^pinakes_vectors_fenced_commits_total 0$/m);
    expect(text).toMatch(/^pinakes_vectors_dead_deltas 0$/m);
    expect(text).not.toContain("secret");
  });

  it("/readyz asks the stores, and answers 503 with the reasons when one does not answer", async () => {
    const ready = await (await createApp(pinakes)).request("/readyz");
    expect(ready.status).toBe(200);
    expect(await body(ready)).toEqual({ status: "ready", warnings: {} });
    const broken = withReady(async () => ({
      ready: false,
      reasons: { items: "no answer within 2000 ms" },
      warnings: { "ttl sweep": "x" },
    }));
    const response = await (await createApp(broken)).request("/readyz");
    expect(response.status).toBe(503);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(await body(response)).toMatchObject({
      code: "UNAVAILABLE",
      retryable: true,
      detail: "Not ready. items: no answer within 2000 ms",
      reasons: { items: "no answer within 2000 ms" },
      warnings: { "ttl sweep": "x" },
    });
  });

  it("/v1/info tells name, version, engines, capabilities and uptime", async () => {
    const answer = await body(await (await createApp(pinakes)).request("/v1/info"));
    expect(answer).toEqual({
      name: "pinakes",
      version: "0.1.0",
      database: "pinakes",
      uptime_ms: expect.any(Number) as number,
      items: { engine: "memory", index_reads: "strong", batch_operations_max: 100, durable: false },
      objects: { driver: "memory", conditional_put: true, durable: false },
      queue: { driver: "items on memory", dedup_window_ms: pinakes.queue.capabilities.dedupWindowMs, durable: false },
      triples: { engine: "items on memory", reads: "strong", atomic_quads_max: 1, durable: false },
      models: [{ id: "all-MiniLM-L6-v2", provider: "local" }],
      trash_days: 90,
    });
    await using shorter = await open({ items: "memory:", objects: "memory:", trashDays: 7 });
    expect(await body(await (await createApp(shorter)).request("/v1/info"))).toMatchObject({ trash_days: 7 });
  });
});

describe("http: errors", () => {
  it("an unknown route is a 404 problem with every field, and the request id comes back", async () => {
    const response = await (
      await createApp(pinakes)
    ).request("/v1/nothing", { method: "POST", headers: { "x-request-id": "mine-1" } });
    expect(response.status).toBe(404);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(response.headers.get("x-request-id")).toBe("mine-1");
    expect(await body(response)).toEqual({
      type: "urn:pinakes:problem:not-found",
      title: "Not found",
      status: 404,
      detail: "There is no route POST /v1/nothing. GET /docs shows every route, GET /v1/openapi.json describes them.",
      code: "NOT_FOUND",
      retryable: false,
      request_id: "mine-1",
    });
  });

  it("a token of the local operator counts over loopback only", async () => {
    const secret = "a secret of this start";
    pinakes.identity.acceptLocalOperator(secret);
    const app = await createApp(pinakes);
    const token = signLocalToken(secret, { caller: { tenant: "default", userId: "root" } }, Date.now());
    const from = async (remoteAddress: string, headers: Record<string, string> = {}) => {
      const init = { headers: { authorization: `Bearer ${token}`, "x-pinakes-challenge": "c", ...headers } };
      const response = await app.request("/v1/me", init, { incoming: { socket: { remoteAddress } } });
      return [response.status, response.headers.get("x-pinakes-proof")];
    };
    const proof = proveServer(secret, "c");
    for (const address of ["127.0.0.1", "127.3.2.1", "::1", "::ffff:127.0.0.1"])
      expect([address, ...(await from(address))]).toEqual([address, 200, proof]);
    for (const address of ["10.0.0.9", "192.168.1.2", "::ffff:10.0.0.9", "fe80::1", "127.0.0.1.example", "unknown"])
      expect([address, ...(await from(address))]).toEqual([address, 401, null]);
    for (const name of ["forwarded", "x-forwarded-for", "x-real-ip", "via"])
      expect([name, ...(await from("127.0.0.1", { [name]: "x" }))]).toEqual([name, 401, null]);
  });

  it("a request id that could break a log or header is replaced", async () => {
    for (const id of ["a b", "x".repeat(129), "", "ä"]) {
      const response = await (
        await createApp(pinakes)
      ).request("/nothing", { headers: { "x-request-id": id === "ä" ? "%C3%A4" : id } });
      expect((await body(response))["request_id"]).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it("an error of ours keeps its code; any other is a 500 that tells nothing but the request id, and is logged", async () => {
    const ours = await createApp(withReady(() => Promise.reject(new PinakesError("LIMIT_EXCEEDED", "Too much."))));
    const limited = await ours.request("/readyz");
    expect(limited.status).toBe(413);
    expect(await body(limited)).toMatchObject({
      code: "LIMIT_EXCEEDED",
      detail: "Too much.",
      title: "A limit was exceeded",
    });
    const lines: string[] = [];
    const broken = await createApp(
      withReady(() => Promise.reject(new Error("password is hunter2"))),
      { log: createLogger({ destination: { write: (line: string) => void lines.push(line) } }) },
    );
    const response = await broken.request("/readyz", { headers: { "x-request-id": "r7" } });
    expect(response.status).toBe(500);
    const text = await response.text();
    expect(text).not.toContain("hunter2");
    expect(JSON.parse(text)).toMatchObject({
      code: "INTERNAL",
      request_id: "r7",
      detail: expect.stringContaining("r7") as string,
    });
    expect(lines.join("\n")).toMatch(/"request_id":"r7".*hunter2/);
  });
});

describe("http: a real socket", () => {
  it("serves on a free port, and closes while a client keeps its connection open", async () => {
    const server = await serve(await createApp(pinakes), { host: "127.0.0.1", port: 0 });
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const response = await fetch(`${server.url}/v1/info`);
    expect(await body(response)).toMatchObject({ name: "pinakes" });
    const idle = connect(Number(new URL(server.url).port), "127.0.0.1");
    await once(idle, "connect");
    await server.close();
    idle.destroy();
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();
  });

  it("lets a request under way finish when it closes", async () => {
    const reached = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const slow = withReady(async () => {
      reached.resolve();
      await gate.promise;
      return { ready: true, reasons: {}, warnings: {} };
    });
    const server = await serve(await createApp(slow), { host: "127.0.0.1", port: 0 });
    const request = fetch(`${server.url}/readyz`);
    await reached.promise;
    const closed = server.close();
    gate.resolve();
    expect((await request).status).toBe(200);
    await closed;
  });

  it("a taken port and an address of another machine are told in words", async () => {
    const server = await serve(await createApp(pinakes), { host: "127.0.0.1", port: 0 });
    const port = Number(new URL(server.url).port);
    expect(
      (await failure(serve(await createApp(pinakes), { host: "127.0.0.1", port }), "UNAVAILABLE")).detail,
    ).toContain(`Port ${port} on 127.0.0.1 is in use`);
    await failure(serve(await createApp(pinakes), { host: "192.0.2.1", port: 0 }), "INVALID");
    await server.close();
  });
});
