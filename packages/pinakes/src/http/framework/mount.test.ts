import { Hono } from "hono";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { makeCaller, type Caller } from "../../domain/caller.ts";
import { PinakesError } from "../../domain/errors.ts";
import {
  defineRoute,
  mount,
  noContent,
  ok,
  queryFlag,
  queryInteger,
  type Authenticated,
  type Credentials,
  type KitEnv,
  type MountOptions,
  type Route,
} from "./index.ts";

const caller = makeCaller({ tenant: "w1", userId: "u1" });

async function authenticate({ bearer, sessionCookie, csrf, safeMethod }: Credentials): Promise<Authenticated> {
  if (bearer === "good") return { caller, via: "key", keyId: "k1" };
  if (bearer === "reader") return { caller, via: "key", keyId: "k2", readOnly: true };
  if (sessionCookie === "s1" && (safeMethod || csrf === "c1")) return { caller, via: "session" };
  throw new PinakesError("UNAUTHENTICATED", "Sign in first.");
}

function appOf(routes: readonly Route[], options: Partial<MountOptions> = {}): Hono<KitEnv> {
  const app = new Hono<KitEnv>();
  mount(app, routes, { authenticate, checkAnswers: true, ...options });
  return app;
}

const id = z.string().regex(/^[A-Za-z0-9._:/ä-]{1,20}$/);
const anything = { 200: { description: "What came in." } };
const common = { tag: "things", summary: "A route", auth: "caller", answers: anything } as const;
const good = { authorization: "Bearer good" };

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

async function json(response: Response): Promise<Record<string, unknown>> {
  return (await response.json()) as Record<string, unknown>;
}

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
      detail: "PUT is not possible here; use GET, HEAD, DELETE, POST.",
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

describe("http kit: what comes in", () => {
  const Thing = z.strictObject({
    name: z.string().min(2).max(5),
    size: z.number().int().max(10).optional(),
    kind: z.enum(["a", "b"]).optional(),
    nested: z.strictObject({ list: z.array(z.strictObject({ x: z.number() })) }).optional(),
    either: z
      .union([z.strictObject({ text: z.string() }), z.strictObject({ url: z.string(), depth: z.number() })])
      .optional(),
  });
  const post = defineRoute({
    ...common,
    method: "POST",
    path: "/v1/things",
    operationId: "post",
    body: Thing,
    handler: ({ body }) => ok(body),
  });
  const verb = defineRoute({
    ...common,
    method: "POST",
    path: "/v1/things:go",
    operationId: "go",
    handler: ({ body }) => ok({ nothing: body === undefined }),
  });
  const list = defineRoute({
    ...common,
    method: "GET",
    path: "/v1/things",
    operationId: "list",
    query: z.strictObject({
      limit: queryInteger({ min: 1, max: 100 }).default(10),
      purge: queryFlag().optional(),
      tag: z.array(z.string()).optional(),
      q: z.string().optional(),
    }),
    handler: ({ query }) => ok(query),
  });
  const app = appOf([post, verb, list]);
  const send = (body: unknown, path = "/v1/things") =>
    app.request(path, {
      method: "POST",
      headers: { ...good, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const errors = async (body: unknown): Promise<unknown> => (await json(await send(body)))["errors"];

  it("every mistake is told with its path and what is wanted, in the detail and as a list", async () => {
    const response = await send({
      name: "abcdef",
      size: "x",
      kind: "c",
      nested: { list: [{ x: 1 }, { x: true }] },
      color: 1,
    });
    expect(response.status).toBe(400);
    const problem = await json(response);
    expect(problem["errors"]).toEqual([
      { path: "name", message: "must be at most 5 characters long" },
      { path: "size", message: 'must be a number, got "x"' },
      { path: "kind", message: 'must be one of "a", "b", got "c"' },
      { path: "nested.list[1].x", message: "must be a number, got true" },
      { path: "color", message: "is not known here; remove it or correct its name" },
    ]);
    expect(problem["detail"]).toBe(
      'name: must be at most 5 characters long; size: must be a number, got "x"; kind: must be one of "a", "b", got "c"; nested.list[1].x: must be a number, got true; color: is not known here; remove it or correct its name.',
    );
    expect(await errors({})).toEqual([{ path: "name", message: "is missing; expected a text" }]);
    expect(await errors([])).toEqual([{ path: "", message: "must be an object, got []" }]);
    expect(await errors({ name: "ab", size: 11 })).toEqual([{ path: "size", message: "must be at most 10" }]);
  });

  it("of a union, the form that was most likely meant tells what is wrong", async () => {
    expect(await errors({ name: "ab", either: { url: "x", depth: "deep" } })).toEqual([
      { path: "either.depth", message: 'must be a number, got "deep"' },
    ]);
    expect(await errors({ name: "ab", either: 5 })).toEqual([
      { path: "either", message: "matches none of the accepted forms, got 5" },
    ]);
  });

  it("ten mistakes are shown, more are counted", async () => {
    const many = (count: number) => ({
      name: "ab",
      ...Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, 1])),
    });
    expect(await errors(many(10))).toHaveLength(10);
    const problem = await json(await send(many(11)));
    expect(problem["errors"]).toHaveLength(10);
    expect(problem["detail"]).toContain("; and 1 more.");
  });

  it("a query is texts made into values; what is unknown, repeated or empty is refused", async () => {
    const query = async (text: string) => json(await app.request(`/v1/things?${text}`, { headers: good }));
    expect(await query("limit=5&purge=true&tag=a&tag=b&q=x%20y")).toEqual({
      limit: 5,
      purge: true,
      tag: ["a", "b"],
      q: "x y",
    });
    expect(await query("tag=a")).toEqual({ limit: 10, tag: ["a"] });
    expect(await query("limit=0")).toMatchObject({ detail: "limit: must be at least 1." });
    expect(await query("limit=101")).toMatchObject({ detail: "limit: must be at most 100." });
    expect(await query("limit=")).toMatchObject({ detail: "limit: is empty; a number is wanted." });
    expect(await query("limit=ten")).toMatchObject({ code: "INVALID", errors: [{ path: "limit" }] });
    expect(await query("limit=1&limit=2")).toMatchObject({ detail: "limit: is given more than once." });
    expect(await query("purge=yes")).toMatchObject({ detail: 'purge: must be one of "true", "false", got "yes".' });
    expect(await query("colour=red&__proto__=1")).toMatchObject({
      errors: [{ path: "colour" }, { path: "__proto__" }],
    });
    expect(await query(`q=${"x".repeat(16_382)}`)).toMatchObject({ limit: 10 });
    expect(await query(`q=${"x".repeat(16_383)}`)).toMatchObject({
      detail: expect.stringContaining("longer than 16384 characters") as string,
    });
  });

  it("a missing body is told; where none is wanted, nothing or {} may come", async () => {
    const empty = await app.request("/v1/things", { method: "POST", headers: good });
    expect(await json(empty)).toMatchObject({ status: 400, detail: "body: is missing; send it as JSON." });
    expect(await json(await app.request("/v1/things:go", { method: "POST", headers: good }))).toEqual({
      nothing: true,
    });
    expect(await json(await send({}, "/v1/things:go"))).toEqual({ nothing: true });
    expect((await send({ force: true }, "/v1/things:go")).status).toBe(400);
  });
});
