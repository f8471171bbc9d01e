import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { makeCaller } from "../../domain/caller.ts";
import { PinakesError } from "../../domain/errors.ts";
import {
  accepted,
  created,
  defineRoute,
  mount,
  noContent,
  notModified,
  ok,
  type KitEnv,
  type MountOptions,
  type Route,
} from "./index.ts";

function appOf(routes: readonly Route[], options: Partial<MountOptions> = {}): Hono<KitEnv> {
  const app = new Hono<KitEnv>();
  const caller = makeCaller({ tenant: "w1", userId: "u1" });
  mount(app, routes, { authenticate: async () => ({ caller, via: "key" }), checkAnswers: true, ...options });
  return app;
}

const common = {
  tag: "things",
  summary: "A route",
  auth: "caller",
  answers: { 200: { description: "What came in." } },
} as const;
const good = { authorization: "Bearer good" };

async function json(response: Response): Promise<Record<string, unknown>> {
  return (await response.json()) as Record<string, unknown>;
}

describe("http kit: etags and answers", () => {
  const state = { etag: "v1" };
  const read = defineRoute({
    ...common,
    method: "GET",
    path: "/v1/x",
    operationId: "read",
    answers: { 200: { description: "x" }, 304: { description: "same" } },
    handler: () => ok({ a: 1 }, { etag: state.etag }),
  });
  const write = defineRoute({
    ...common,
    method: "PUT",
    path: "/v1/x",
    operationId: "write",
    handler: ({ ifMatch, ifNoneMatch, mustExist }) => {
      if (ifMatch !== undefined && ifMatch !== state.etag)
        throw new PinakesError("PRECONDITION_FAILED", "It changed.", { currentEtag: state.etag });
      return ok({ ifMatch: ifMatch ?? null, ifNoneMatch: ifNoneMatch ?? null, mustExist });
    },
  });
  const app = appOf([read, write]);
  const get = (headers: Record<string, string>) => app.request("/v1/x", { headers: { ...good, ...headers } });
  const put = (headers: Record<string, string>) =>
    app.request("/v1/x", { method: "PUT", headers: { ...good, ...headers } });

  it("a GET whose etag is known is a 304: quoted, weak, bare, in a list or *", async () => {
    const fresh = await get({});
    expect([fresh.status, fresh.headers.get("etag"), fresh.headers.get("cache-control")]).toEqual([
      200,
      '"v1"',
      "private, no-cache",
    ]);
    for (const sent of ['"v1"', 'W/"v1"', "v1", '"v0", W/"v1"', '"a,b", "v1"', "*"]) {
      const response = await get({ "if-none-match": sent });
      expect([sent, response.status, response.headers.get("etag"), await response.text()]).toEqual([
        sent,
        304,
        '"v1"',
        "",
      ]);
    }
    expect((await get({ "if-none-match": '"v0"' })).status).toBe(200);
    expect((await get({ "if-none-match": '"v0' })).status).toBe(400);
    expect((await get({ "if-none-match": `"${"x".repeat(4_094)}"` })).status).toBe(200);
    expect((await get({ "if-none-match": `"${"x".repeat(4_095)}"` })).status).toBe(400);
  });

  it("a write gets its conditions unquoted; a stale etag answers with the current one", async () => {
    expect(await json(await put({ "if-match": 'W/"v1"' }))).toEqual({
      ifMatch: "v1",
      ifNoneMatch: null,
      mustExist: false,
    });
    expect(await json(await put({ "if-match": "*" }))).toEqual({ ifMatch: null, ifNoneMatch: null, mustExist: true });
    expect(await json(await put({ "if-none-match": "*" }))).toEqual({
      ifMatch: null,
      ifNoneMatch: "*",
      mustExist: false,
    });
    const stale = await put({ "if-match": '"v0"' });
    expect([stale.status, stale.headers.get("etag")]).toEqual([412, '"v1"']);
    expect(await json(stale)).toMatchObject({ code: "PRECONDITION_FAILED", current_etag: "v1" });
    expect((await put({ "if-match": '"v0", "v1"' })).status).toBe(400);
    expect((await put({ "if-none-match": '"v0", "v1"' })).status).toBe(400);
  });

  it("answers carry status, place, cookies and streams; a stream that is not wanted is let go", async () => {
    const released: string[] = [];
    async function* bytes(): AsyncGenerator<Uint8Array> {
      try {
        yield Buffer.from("one ");
        yield Buffer.from("two");
      } finally {
        released.push("done");
      }
    }
    const route = (operationId: string, status: number, handler: Route["handler"]): Route =>
      defineRoute({
        ...common,
        method: "GET",
        path: `/v1/${operationId}`,
        operationId,
        answers: { [status]: { description: "x" } },
        handler,
      });
    const own = appOf([
      route("made", 201, () => created({ id: "a" }, { location: "/v1/things/a", etag: "e" })),
      route("queued", 202, () => accepted({ job: 1 }, { location: "/v1/jobs/1" })),
      route("empty", 204, () => noContent({ cookie: ["a=1", "b=2"] })),
      route("same", 304, () => notModified("e")),
      route("stream", 200, () => ({ status: 200, stream: bytes(), contentType: "text/plain" })),
      route("text", 200, () => ({ status: 200, body: "plain", contentType: "text/plain" })),
    ]);
    const fetch = (path: string, method = "GET") => own.request(path, { method, headers: good });
    const made = await fetch("/v1/made");
    expect([made.status, made.headers.get("location"), made.headers.get("etag")]).toEqual([201, "/v1/things/a", '"e"']);
    expect((await fetch("/v1/queued")).headers.get("location")).toBe("/v1/jobs/1");
    expect((await fetch("/v1/empty")).headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect((await fetch("/v1/same")).status).toBe(304);
    expect(await (await fetch("/v1/text")).text()).toBe("plain");
    const streamed = await fetch("/v1/stream");
    expect([streamed.headers.get("content-type"), await streamed.text(), released]).toEqual([
      "text/plain",
      "one two",
      ["done"],
    ]);
    expect(await (await fetch("/v1/stream", "HEAD")).text()).toBe("");
    const half = (await fetch("/v1/stream")).body?.getReader();
    await half?.read();
    await half?.cancel();
    expect(released).toEqual(["done", "done"]);
  });

  it("a stream is not begun before it is read, and is given back when the answer has no body", async () => {
    const calls: string[] = [];
    const stream: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({
        next: async () => {
          calls.push("next");
          return { done: false, value: Buffer.from("x") };
        },
        return: async () => {
          calls.push("return");
          return { done: true, value: undefined };
        },
      }),
    };
    const route = defineRoute({
      ...common,
      method: "GET",
      path: "/v1/s",
      operationId: "s",
      handler: () => ({ status: 200, etag: "e", stream }),
    });
    const fetch = (method: string, headers: Record<string, string> = {}) =>
      appOf([route]).request("/v1/s", { method, headers: { ...good, ...headers } });
    expect((await fetch("HEAD")).status).toBe(200);
    expect(calls).toEqual(["return"]);
    expect((await fetch("GET", { "if-none-match": '"e"' })).status).toBe(304);
    expect(calls).toEqual(["return", "return"]);
    const reader = (await fetch("GET")).body?.getReader();
    expect(calls).toEqual(["return", "return"]);
    await reader?.read();
    await reader?.cancel();
    expect(calls).toEqual(["return", "return", "next", "return"]);
  });

  it("an answer that a route does not declare is an error of ours, where answers are checked", async () => {
    const route = (status: number, body: unknown): Route =>
      defineRoute({
        ...common,
        method: "GET",
        path: "/v1/z",
        operationId: "z",
        answers: { 200: { description: "x", schema: z.strictObject({ a: z.number() }) } },
        handler: () => ({ status, body: body as { a: number } }),
      });
    const status = async (made: Route, checkAnswers: boolean) =>
      (await appOf([made], { checkAnswers }).request("/v1/z", { headers: good })).status;
    expect(await status(route(200, { a: 1 }), true)).toBe(200);
    expect(await status(route(200, { a: 1, b: 2 }), true)).toBe(500);
    expect(await status(route(201, { a: 1 }), true)).toBe(500);
    expect(await status(route(201, { a: 1 }), false)).toBe(201);
  });
});
