import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import type { Caller } from "../../domain/caller.ts";
import { defineRoute, noContent, ok, queryFlag, queryInteger, type Route } from "./index.ts";
import { appOf, common, good, id, json } from "./test-app.ts";

const echo = (operationId: string, method: "GET" | "POST" | "DELETE", path: string, names: readonly string[]): Route =>
  defineRoute({
    ...common,
    method,
    path,
    operationId,
    params: z.strictObject(Object.fromEntries(names.map((name) => [name, id]))),
    handler: ({ params }) => ok({ route: operationId, ...params }),
  });

const paths = [
  echo("getCollection", "GET", "/v1/r/{rid}/c/{cid}", ["rid", "cid"]),
  echo("deleteCollection", "DELETE", "/v1/r/{rid}/c/{cid}", ["rid", "cid"]),
  echo("postCollection", "POST", "/v1/r/{rid}/c/{cid}", ["rid", "cid"]),
  echo("archiveCollection", "POST", "/v1/r/{rid}/c/{cid}:archive", ["rid", "cid"]),
  echo("unarchiveCollection", "POST", "/v1/r/{rid}/c/{cid}:unarchive", ["rid", "cid"]),
  echo("searchCollections", "GET", "/v1/r/{rid}/c/search", ["rid"]),
  echo("ingestMetrics", "POST", "/v1/metrics:ingest", []),
  echo("getMetrics", "GET", "/v1/metrics", []),
  echo("getAgent", "GET", "/v1/agents/{aid}", ["aid"]),
];

describe("http kit: paths", () => {
  const app = appOf(paths);
  const ask = (method: string, path: string) => app.request(path, { method, headers: good });

  it("a verb is a route of its own, and its id comes without it", async () => {
    expect(await json(await ask("POST", "/v1/r/a/c/b:archive"))).toEqual({
      route: "archiveCollection",
      rid: "a",
      cid: "b",
    });
    expect(await json(await ask("POST", "/v1/r/a/c/b:unarchive"))).toEqual({
      route: "unarchiveCollection",
      rid: "a",
      cid: "b",
    });
    expect(await json(await ask("POST", "/v1/metrics:ingest"))).toEqual({ route: "ingestMetrics" });
    expect(await json(await ask("GET", "/v1/metrics"))).toEqual({ route: "getMetrics" });
    expect((await ask("POST", "/v1/r/a/c/b:explode")).status).toBe(404);
    expect((await ask("GET", "/v1/r/a/c/b:explode")).status).toBe(404);
  });

  it("parameters are percent-decoded once, and an encoded colon or slash is part of an id", async () => {
    expect(await json(await ask("POST", "/v1/r/a%2Fx/c/b%3Ac:archive"))).toEqual({
      route: "archiveCollection",
      rid: "a/x",
      cid: "b:c",
    });
    expect(await json(await ask("GET", "/v1/r/%C3%A4/c/b%3Aarchive"))).toEqual({
      route: "getCollection",
      rid: "ä",
      cid: "b:archive",
    });
    expect(await json(await ask("GET", "/v1/agents/team:one"))).toEqual({ route: "getAgent", aid: "team:one" });
    const twice = await ask("GET", "/v1/agents/%2541");
    expect((await json(twice))["errors"]).toEqual([
      { path: "aid", message: expect.stringContaining('got "%41"') as string },
    ]);
    const broken = await ask("GET", "/v1/agents/%ff");
    expect(broken.status).toBe(400);
    expect((await json(broken))["detail"]).toContain("percent-encoded");
  });

  it("a plain path wins over a parameter, wherever it was declared", async () => {
    expect(await json(await ask("GET", "/v1/r/a/c/search"))).toEqual({ route: "searchCollections", rid: "a" });
    expect((await ask("DELETE", "/v1/r/a/c/search")).status).toBe(405);
  });

  it("another method on a known path is a 405 that names those it has; OPTIONS tells them", async () => {
    const response = await ask("PUT", "/v1/r/a/c/b");
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("GET, HEAD, DELETE, POST, OPTIONS");
    expect(await json(response)).toMatchObject({
      code: "INVALID",
      status: 405,
      detail: "PUT is not supported here; use GET, HEAD, DELETE, POST.",
    });
    expect((await ask("GET", "/v1/r/a/c/b:archive")).headers.get("allow")).toBe("POST, OPTIONS");
    const options = await ask("OPTIONS", "/v1/metrics");
    expect([options.status, options.headers.get("allow")]).toEqual([204, "GET, HEAD, OPTIONS"]);
  });

  it("HEAD answers as GET without a body", async () => {
    const response = await ask("HEAD", "/v1/metrics");
    expect([response.status, response.headers.get("content-type"), await response.text()]).toEqual([
      200,
      "application/json",
      "",
    ]);
  });

  it("an unknown path is a 404 problem with the request id", async () => {
    const response = await app.request("/nothing", { headers: { "x-request-id": "mine-1" } });
    expect(response.status).toBe(404);
    expect(response.headers.get("x-request-id")).toBe("mine-1");
    expect(await json(response)).toMatchObject({ code: "NOT_FOUND", request_id: "mine-1" });
    for (const bad of ["a b", "x".repeat(129), ""]) {
      expect((await app.request("/nothing", { headers: { "x-request-id": bad } })).headers.get("x-request-id")).toMatch(
        /^[0-9a-f-]{36}$/,
      );
    }
    expect(
      (await app.request("/nothing", { headers: { "x-request-id": "x".repeat(128) } })).headers.get("x-request-id"),
    ).toBe("x".repeat(128));
  });

  it("declarations that contradict themselves or each other do not start", () => {
    expect(() => appOf([...paths, echo("getMetrics", "GET", "/v1/other", [])])).toThrow(/Two routes share getMetrics/);
    expect(() => appOf([...paths, echo("again", "GET", "/v1/r/{x}/c/{y}", ["x", "y"])])).toThrow(
      /Two routes share GET/,
    );
    expect(() => echo("x", "GET", "/v1/{a}", ["b"])).toThrow(/the path has \{a\} but params declares \{b\}/);
    expect(() => echo("x", "GET", "/v1/{a}:", ["a"])).toThrow(/neither plain nor/);
    expect(() =>
      defineRoute({
        ...common,
        method: "GET",
        path: "/v1/x",
        operationId: "x",
        body: z.string(),
        handler: () => ok(1),
      }),
    ).toThrow(/GET takes no body/);
    expect(() =>
      defineRoute({
        ...common,
        method: "PUT",
        path: "/v1/x",
        operationId: "x",
        idempotent: true,
        handler: () => ok(1),
      }),
    ).toThrow(/only a POST/);
    const keyed = defineRoute({
      ...common,
      method: "POST",
      path: "/v1/x",
      operationId: "x",
      idempotent: true,
      handler: () => ok(1),
    });
    expect(() => appOf([keyed])).toThrow(/no idempotency store/);
  });
});

describe("http kit: who calls", () => {
  const who = defineRoute({
    ...common,
    method: "GET",
    path: "/v1/me",
    operationId: "me",
    handler: ({ caller: { userId }, auth }) => ok({ userId, via: auth.via }),
  });
  const write = defineRoute({
    ...common,
    method: "POST",
    path: "/v1/things",
    operationId: "write",
    handler: () => ok({}),
  });
  const search = defineRoute({
    ...common,
    method: "POST",
    path: "/v1/search",
    operationId: "search",
    readOnlyOk: true,
    handler: () => ok({}),
  });
  const open = defineRoute({
    ...common,
    auth: "public",
    method: "GET",
    path: "/v1/open",
    operationId: "open",
    handler: ({ caller: nobody }) => ok({ nobody: nobody === undefined }),
  });
  const app = appOf([who, write, search, open]);
  const status = async (method: string, path: string, headers: Record<string, string>) =>
    (await app.request(path, { method, headers })).status;

  it("a bearer key or a session with its CSRF token is a caller; nothing, or anything else, is a 401", async () => {
    expect(await json(await app.request("/v1/me", { headers: good }))).toEqual({ userId: "u1", via: "key" });
    expect(await json(await app.request("/v1/me", { headers: { cookie: "a=b; pinakes_session=s1" } }))).toEqual({
      userId: "u1",
      via: "session",
    });
    expect(await status("POST", "/v1/things", { cookie: "pinakes_session=s1" })).toBe(401);
    expect(await status("POST", "/v1/things", { cookie: "pinakes_session=s1", "x-csrf-token": "c1" })).toBe(200);
    for (const headers of [
      {},
      { authorization: "Basic Z29vZA==" },
      { authorization: "Bearer" },
      { authorization: "Bearer bad" },
      { authorization: `Bearer ${"x".repeat(16_385)}` },
    ]) {
      const response = await app.request("/v1/me", { headers });
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toBe('Bearer realm="pinakes"');
    }
    expect(await json(await app.request("/v1/open"))).toEqual({ nobody: true });
  });

  it("a key that may only read reads, searches, and changes nothing", async () => {
    const reader = { authorization: "Bearer reader" };
    expect(await status("GET", "/v1/me", reader)).toBe(200);
    expect(await status("POST", "/v1/search", reader)).toBe(200);
    expect(await status("POST", "/v1/things", reader)).toBe(403);
  });

  it("the types of a handler follow from the declaration", () => {
    defineRoute({
      ...common,
      method: "POST",
      path: "/v1/x/{a}",
      operationId: "typed",
      params: z.strictObject({ a: z.string() }),
      query: z.strictObject({ limit: queryInteger({ min: 1, max: 5 }).default(2), purge: queryFlag().optional() }),
      body: z.strictObject({ n: z.number() }),
      handler: (request) => {
        expectTypeOf(request.caller).toEqualTypeOf<Caller>();
        expectTypeOf(request.params).toEqualTypeOf<{ a: string }>();
        expectTypeOf(request.query).toEqualTypeOf<{ limit: number; purge?: boolean | undefined }>();
        expectTypeOf(request.body).toEqualTypeOf<{ n: number }>();
        return noContent();
      },
    });
    defineRoute({
      ...common,
      auth: "public",
      method: "POST",
      path: "/v1/y",
      operationId: "form",
      body: { multipart: true, json: z.strictObject({ text: z.string() }) },
      handler: ({ body, caller: nobody, params }) => {
        expectTypeOf(nobody).toEqualTypeOf<undefined>();
        expectTypeOf(params).toEqualTypeOf<Record<string, never>>();
        if (body.kind === "json") expectTypeOf(body.value).toEqualTypeOf<{ text: string }>();
        else expectTypeOf(body.kind).toEqualTypeOf<"multipart">();
        return noContent();
      },
    });
  });
});
