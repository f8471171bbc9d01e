/** Workflows over HTTP: every answer is checked against what its route declares. */
import { beforeAll, describe, expect, it } from "vitest";
import { openTestServer, type CallOptions, type Json, type Reply } from "../http/support/server.ts";
import { until } from "../support/until.ts";
import { blob, example, some } from "./workflows-support.ts";
import { forAllTests } from "../support/for-tests.ts";

let ann: string;
let eve: string;
const server = forAllTests(() => openTestServer("sqlite"));
beforeAll(async () => {
  ann = await server.key("acme", "ann");
  eve = await server.key("evil", "eve", { role: "admin" });
});

const call = (method: string, path: string, options: CallOptions = {}): Promise<Reply> =>
  server.call(method, `/v1/workflows${path}`, { key: ann, ...options });
const made = async (more: object = {}): Promise<Json> => {
  const reply = await call("POST", "", { body: { ...some(), ...more } });
  expect(reply.status, reply.text).toBe(201);
  return reply.json;
};
const idOf = async (more: object = {}): Promise<string> => (await made(more))["workflow_id"] as string;
const ok = async (method: string, path: string, options: CallOptions = {}): Promise<Json> => {
  const reply = await call(method, path, options);
  expect(reply.status, reply.text).toBeLessThan(300);
  return reply.json;
};

describe("documents", () => {
  it("R-AGT-12 the example of the source goes there and back byte for byte, plus the system's fields", async () => {
    const key = await server.key("ws-tenant-001", "user-456");
    const text = JSON.stringify(JSON.parse(example));
    const created = await server.call("POST", "/v1/workflows", {
      key,
      body: example,
      headers: { "content-type": "application/json" },
    });
    expect(created.status, created.text).toBe(201);
    expect(created.headers.get("location")).toBe("/v1/workflows/workflow-123");
    const got = await server.call("GET", "/v1/workflows/workflow-123", { key });
    for (const reply of [created, got]) {
      const { _etag, _ts } = reply.json as { _etag: string; _ts: number };
      expect(reply.text).toBe(`${text.slice(0, -1)},"_etag":${JSON.stringify(_etag)},"_ts":${_ts}}`);
      expect(reply.headers.get("etag")).toBe(`"${_etag}"`);
    }
  });

  it("R-AGT-54 R-AGT-52 304 while nothing changed, checkpoints included; 412 with the current etag; If-Match of either etag works", async () => {
    const id = await idOf();
    const first = await call("GET", `/${id}`);
    const etag = first.headers.get("etag") as string;
    const same = await call("GET", `/${id}`, { headers: { "if-none-match": etag } });
    expect([same.status, same.text]).toEqual([304, ""]);
    await ok("POST", `/${id}/checkpoints`, { body: { step: 1, state: { n: 1 } } });
    const withCheckpoint = await call("GET", `/${id}`, { headers: { "if-none-match": etag } });
    expect([withCheckpoint.status, withCheckpoint.json["checkpoints"]]).toEqual([
      200,
      [expect.objectContaining({ step: 1 })],
    ]);
    const newer = withCheckpoint.headers.get("etag") as string;
    expect((await call("GET", `/${id}`, { headers: { "if-none-match": newer } })).status).toBe(304);
    const patched = await call("PATCH", `/${id}`, { body: { description: "a" }, headers: { "if-match": newer } });
    expect([patched.status, patched.headers.get("etag")]).toEqual([200, `"${patched.json["_etag"] as string}"`]);
    const late = await call("PATCH", `/${id}`, { body: { description: "b" }, headers: { "if-match": etag } });
    expect(late.status).toBe(412);
    expect(late.json).toMatchObject({ code: "PRECONDITION_FAILED", current_etag: patched.json["_etag"] });
    expect(late.headers.get("etag")).toBe(patched.headers.get("etag"));
    for (const verb of ["start", "cancel", "fail", "resume"])
      expect((await call("POST", `/${id}:${verb}`, { headers: { "if-match": etag } })).status, verb).toBe(412);
    expect((await call("DELETE", `/${id}`, { headers: { "if-match": etag } })).status).toBe(412);
    expect(
      (await call("DELETE", `/${id}`, { headers: { "if-match": patched.headers.get("etag") as string } })).status,
    ).toBe(204);
    expect((await call("GET", `/${id}`)).status).toBe(404);
  });

  it("lists by status and type in pages, without checkpoints; counts; a repeated create with its key makes one", async () => {
    const key = await server.key("lists", "u");
    const create = (more: object, headers = {}) =>
      server.call("POST", "/v1/workflows", { key, body: { ...some(), ...more }, headers });
    for (let i = 0; i < 5; i += 1)
      await create({ name: `n${i}`, type: i === 0 ? "saga" : "handoff", created_at: `2030-01-01T00:00:0${i}Z` });
    const [one, again] = [
      await create({ name: "once" }, { "idempotency-key": "k" }),
      await create({ name: "once" }, { "idempotency-key": "k" }),
    ];
    expect([one.text, again.headers.get("idempotency-replayed")]).toEqual([again.text, "true"]);
    const names: unknown[] = [];
    let cursor = "";
    for (let pages = 0; pages < 10; pages += 1) {
      const { json } = await server.call("GET", `/v1/workflows?limit=2&type=handoff&order=asc${cursor}`, { key });
      names.push(...(json["items"] as Json[]).map(({ name }) => name));
      if (json["next_cursor"] === null) break;
      cursor = `&cursor=${encodeURIComponent(json["next_cursor"] as string)}`;
    }
    expect(names.toSorted()).toEqual(["n1", "n2", "n3", "n4"]);
    expect((await server.call("GET", "/v1/workflows?status=pending&limit=3", { key })).json["items"]).toHaveLength(3);
    expect((await server.call("GET", "/v1/workflows:stats", { key })).json).toMatchObject({
      total: 6,
      by_status: { pending: 6 },
      by_type: { saga: 1, handoff: 4, sequential: 1 },
    });
  });

  it("R-AGT-07 R-AGT-08 R-AGT-15 R-AGT-18 what is wrong is 400 and says where and what would be right", async () => {
    const id = await idOf();
    for (const [body, told] of [
      [{ type: "parallel" }, '"sequential"'],
      [{ status: "done" }, '"in_progress"'],
      [{ metadata: { priority: 0 } }, "metadata.priority"],
      [{ metadata: { priority: 11 } }, "metadata.priority"],
      [{ current_step: 5 }, "at most total_steps"],
      [{ created_at: "2030-01-01T00:00:00+02:00" }, "UTC"],
      [{ name: undefined }, "name"],
    ] as const) {
      const refused = await call("POST", "", { body: { ...some(), ...body } });
      expect([refused.status, refused.json["code"]], refused.text).toEqual([400, "INVALID"]);
      expect(refused.json["detail"]).toContain(told);
    }
    for (const path of ["?limit=0", "?limit=101", "?status=x", "?colour=red"])
      expect((await call("GET", path)).status, path).toBe(400);
    for (const path of [`/${id}/checkpoints/first`, `/${id}/checkpoints/-1`, `/${id}?checkpoints=all`])
      expect((await call("GET", path)).status, path).toBe(400);
    expect((await call("PATCH", `/${id}`, { body: [] })).status).toBe(400);
    expect((await call("PATCH", `/${id}`, { body: { metadata: 5 } })).status).toBe(400);
    expect((await call("POST", `/${id}/checkpoints`, { body: { step: 1 } })).status).toBe(400);
    expect((await call("POST", `/${id}/lease`, { body: { owner: "w", lease_seconds: 3_601 } })).status).toBe(400);
    expect((await call("PATCH", `/${id}`, { body: {}, headers: { "x-fencing-token": "one" } })).status).toBe(400);
    expect((await call("DELETE", `/${id}/lease`)).status).toBe(400);
    expect((await call("POST", `/${id}:begin`)).status).toBe(404);
  });
});

describe("a run", () => {
  it("R-AGT-14 R-AGT-18 R-AGT-20 start, pause, resume, fail, retry, skip, complete; an illegal transition is 409", async () => {
    const id = await idOf({ metadata: { max_retries: 1 } });
    expect(await ok("POST", `/${id}:start`)).toMatchObject({ status: "in_progress" });
    expect(await ok("POST", `/${id}:pause`, { body: {} })).toMatchObject({ status: "paused" });
    expect(await ok("POST", `/${id}:resume`)).toMatchObject({
      workflow: { status: "in_progress" },
      checkpoint: null,
      state: {},
      lease: null,
    });
    expect(await ok("PUT", `/${id}/agents/dev%20one`, { body: { status: "in_progress" } })).toMatchObject({
      agents: [{ agent_id: "dev one", status: "in_progress" }],
    });
    expect(await ok("POST", `/${id}:fail`, { body: { error_type: "Oops", failed_step: 1 } })).toMatchObject({
      status: "failed",
      error_details: { error_type: "Oops" },
    });
    expect(await ok("POST", `/${id}:retry`)).toMatchObject({ current_step: 1, metadata: { retry_count: 1 } });
    await ok("POST", `/${id}:fail`);
    const beyond = await call("POST", `/${id}:retry`);
    expect([beyond.status, beyond.json["code"]]).toEqual([409, "CONFLICT"]);
    expect(await ok("POST", `/${id}:skip`)).toMatchObject({ status: "in_progress", current_step: 2 });
    expect(await ok("POST", `/${id}:complete`)).toMatchObject({
      status: "completed",
      completed_at: expect.any(String) as string,
    });
    const illegal = await call("PATCH", `/${id}`, { body: { status: "in_progress" } });
    expect([illegal.status, illegal.json["detail"]]).toEqual([
      409,
      expect.stringContaining("is completed and cannot become in_progress"),
    ]);
    expect((await call("POST", `/${id}:cancel`)).status).toBe(409);
  });

  it("R-AGT-17 R-AGT-23 checkpoints by step and as the latest, also one of 20 MB", async () => {
    const id = await idOf();
    expect((await call("GET", `/${id}/checkpoints/latest`)).status).toBe(404);
    for (let step = 0; step < 3; step += 1)
      await ok("POST", `/${id}/checkpoints`, { body: { step, state: { step }, agent_context: { a: step } } });
    expect(await ok("GET", `/${id}/checkpoints/1`)).toMatchObject({
      step: 1,
      state: { step: 1 },
      agent_context: { a: 1 },
    });
    const text = blob(20 * 1_048_576);
    const added = await call("POST", `/${id}/checkpoints`, { body: { step: 3, state: { text } } });
    expect(added.status).toBe(201);
    expect(((await ok("GET", `/${id}/checkpoints/latest`))["state"] as Json)["text"]).toBe(text);
    const page = await ok("GET", `/${id}/checkpoints?limit=2`);
    expect((page["items"] as Json[]).map(({ step }) => step)).toEqual([0, 1]);
    const next = await ok("GET", `/${id}/checkpoints?limit=1&cursor=${page["next_cursor"] as string}`);
    expect((next["items"] as Json[]).map(({ step }) => step)).toEqual([2]);
    const tooLarge = await call("POST", `/${id}/checkpoints`, {
      body: { step: 4, state: { text: blob(32 * 1_048_576) } },
    });
    expect([tooLarge.status, tooLarge.json["code"]]).toEqual([413, "LIMIT_EXCEEDED"]);
  });

  it("R-AGT-24 a lease over HTTP: the token in the header or the query; a stale one is 409", async () => {
    const id = await idOf();
    expect(await ok("GET", `/${id}/lease`)).toEqual({ workflow_id: id, owner: null, expires_at: null });
    const first = await ok("POST", `/${id}/lease`, { body: { owner: "one", lease_seconds: 60 } });
    expect(first).toMatchObject({ workflow_id: id, owner: "one", fencing_token: 1 });
    const held = await call("POST", `/${id}/lease`, { body: { owner: "two" } });
    expect([held.status, Number(held.headers.get("retry-after")) > 50]).toEqual([409, true]);
    // An error names the field as this caller writes it.
    for (const [method, at] of [
      ["POST", "/lease"],
      ["POST", ":resume"],
    ] as const)
      expect((await call(method, `/${id}${at}`, { body: { owner: "two", lease_seconds: 0 } })).json["detail"]).toMatch(
        /\(over HTTP lease_seconds\): must be a whole number from 1 to 3600/,
      );
    expect((await call("POST", `/${id}:start`)).json).toMatchObject({
      code: "CONFLICT",
      detail: expect.stringContaining("Another worker holds") as string,
    });
    await ok("POST", `/${id}:start`, { headers: { "x-fencing-token": "1" } });
    await ok("PATCH", `/${id}?fencing_token=1`, { body: { current_step: 1 } });
    await ok("PUT", `/${id}/lease`, { body: { fencing_token: 1, lease_seconds: 120 } });
    await ok("PUT", `/${id}/lease`, { headers: { "x-fencing-token": "1" } });
    expect((await call("PUT", `/${id}/lease`, { body: { fencing_token: 0 } })).status).toBe(409);
    expect((await call("DELETE", `/${id}/lease`, { headers: { "x-fencing-token": "1" } })).status).toBe(204);
    const resumed = await ok("POST", `/${id}:resume`, { body: { owner: "two", lease_seconds: 30 } });
    expect(resumed).toMatchObject({ lease: { owner: "two", fencing_token: 2 } });
    for (const [method, path, body] of [
      ["PATCH", "", { name: "x" }],
      ["POST", ":pause", undefined],
      ["POST", "/checkpoints", { step: 1, state: {} }],
      ["PUT", "/agents/a", {}],
      ["DELETE", "", undefined],
    ] as const)
      expect(
        (
          await call(method, `/${id}${path}`, {
            ...(body === undefined ? {} : { body }),
            headers: { "x-fencing-token": "1" },
          })
        ).status,
        path,
      ).toBe(409);
    expect((await call("DELETE", `/${id}?fencing_token=2`)).status).toBe(204);
  });
});

describe("events", () => {
  interface Stream {
    next(): Promise<{ id: string; event: string; data: Json }>;
    stop(): void;
  }

  async function open(path: string, headers: Record<string, string> = {}): Promise<Stream> {
    const stop = new AbortController();
    const response = await server.raw("GET", `/v1/workflows${path}`, { key: ann, headers, signal: stop.signal });
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let text = "";
    let pending: ReturnType<typeof reader.read> | undefined;
    const more = async (): Promise<void> => {
      const { value, done } = await (pending ?? reader.read());
      pending = undefined;
      if (done) throw new Error(`the stream ended: ${text}`);
      text += new TextDecoder().decode(value);
    };
    await more();
    pending = reader.read();
    return {
      stop: () => stop.abort(),
      next: async () => {
        for (;;) {
          const found = /id: (.*)\nevent: (.*)\ndata: (.*)\n\n/.exec(text);
          if (found !== null) {
            text = text.slice(found.index + found[0].length);
            return { id: found[1] as string, event: found[2] as string, data: JSON.parse(found[3] as string) as Json };
          }
          await more();
        }
      },
    };
  }

  it("come as they happen, and go on after the last that was seen; a bad Last-Event-ID is 400, another's workflow 404", async () => {
    const id = await idOf();
    const stream = await open(`/${id}/events`);
    // Its place in the feed is taken when the first event comes.
    let begun = false;
    const first = stream.next().then(() => (begun = true));
    await until(async () => begun || (await ok("PATCH", `/${id}`, { body: { description: "not yet" } }), false));
    await first;
    await ok("POST", `/${id}:start`);
    let started = await stream.next();
    while ((started.data["data"] as Json)["status"] === "pending") started = await stream.next();
    expect(started).toMatchObject({
      event: "workflow.changed",
      data: { workflow_id: id, type: "workflow.changed", data: { status: "in_progress" } },
    });
    stream.stop();
    await ok("POST", `/${id}/checkpoints`, { body: { step: 1, state: {} } });
    await ok("DELETE", `/${id}`);
    const back = await open(`/${id}/events`, { "last-event-id": started.id });
    expect((await back.next()).event).toBe("workflow.deleted");
    back.stop();
    const bad = await call("GET", `/${await idOf()}/events`, { headers: { "last-event-id": started.id } });
    expect([bad.status, bad.json["code"]]).toEqual([400, "INVALID"]);
    expect((await call("GET", `/${id}/events`)).status).toBe(404);
  });
});

describe("other workspaces and strangers", () => {
  it("R-AGT-09 see 404 everywhere, in the same words as where nothing is, and change nothing; without a key it is 401", async () => {
    const id = await idOf();
    await ok("POST", `/${id}/checkpoints`, { body: { step: 1, state: { secret: true } } });
    const before = (await call("GET", `/${id}`)).text;
    const routes: readonly (readonly [string, string, unknown?])[] = [
      ["GET", ""],
      ["PATCH", "", { name: "x" }],
      ["DELETE", ""],
      ...["start", "pause", "resume", "cancel", "complete", "fail", "retry", "skip"].map(
        (verb) => ["POST", `:${verb}`] as const,
      ),
      ["PUT", "/agents/a", {}],
      ["POST", "/checkpoints", { step: 1, state: {} }],
      ["GET", "/checkpoints"],
      ["GET", "/checkpoints/1"],
      ["GET", "/checkpoints/latest"],
      ["POST", "/lease", { owner: "e" }],
      ["PUT", "/lease", { fencing_token: 0 }],
      ["DELETE", "/lease?fencing_token=0"],
      ["GET", "/events"],
    ];
    for (const [method, path, body] of routes) {
      const wishes = body === undefined ? {} : { body };
      const theirs = await call(method, `/${id}${path}`, { ...wishes, key: eve });
      const never = await call(method, `/never${path}`, { ...wishes, key: eve });
      expect([theirs.status, theirs.json["detail"]], `${method} ${path}`).toEqual([
        404,
        (never.json["detail"] as string).replace("never", id),
      ]);
      expect((await call(method, `/${id}${path}`, { ...wishes, key: undefined })).status).toBe(401);
    }
    expect((await call("GET", "", { key: eve })).json["items"]).toEqual([]);
    expect((await call("GET", ":stats", { key: eve })).json["total"]).toBe(0);
    const taken = await call("POST", "", { key: eve, body: { ...some(), workspace_id: "acme" } });
    expect([taken.status, taken.json["code"]]).toEqual([403, "FORBIDDEN"]);
    expect((await call("GET", `/${id}`)).text).toBe(before);
    const reader = await server.key("acme", "reader", { scopes: ["read"] });
    expect((await call("GET", `/${id}`, { key: reader })).status).toBe(200);
    expect((await call("POST", `/${id}:start`, { key: reader })).status).toBe(403);
  });
});
