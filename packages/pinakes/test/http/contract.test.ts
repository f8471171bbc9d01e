/** What every answer has, what the reference says, how much may be asked, and sessions of browsers. */
import { gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { createApp } from "../../src/http/app.ts";
import { RateLimiter } from "../../src/http/framework/index.ts";
import {
  newSite,
  openTestServer,
  readReply,
  requestInit,
  rootToken,
  sendAndSettle,
  type Json,
} from "./support/server.ts";
import { forAllTests } from "../support/for-tests.ts";

let key: string;

const server = forAllTests(() => openTestServer());
beforeAll(async () => {
  key = await server.key("w1", "ann", { role: "admin" });
});

describe("every answer", () => {
  it("has a request id (the client's own when it can be one) and headers that keep browsers from guessing", async () => {
    const calls = [
      server.call("GET", "/v1/me", { key }),
      server.call("GET", "/v1/me"),
      server.call("GET", "/nothing"),
      server.call("PUT", "/v1/me", { key }),
      server.call("GET", "/v1/openapi.json"),
      server.call("POST", "/v1/repositories", { key, body: "{", headers: { "content-type": "application/json" } }),
    ];
    const ids = new Set<string | null>();
    for (const { headers } of await Promise.all(calls)) {
      ids.add(headers.get("x-request-id"));
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("x-frame-options")).toBe("DENY");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("content-security-policy")).toContain("default-src 'none'");
      expect(headers.get("access-control-allow-origin")).toBeNull();
    }
    expect(ids.size).toBe(calls.length);
    expect(
      (await server.call("GET", "/v1/me", { key, headers: { "x-request-id": "mine-7" } })).headers.get("x-request-id"),
    ).toBe("mine-7");
    expect(
      (await server.call("GET", "/v1/me", { key, headers: { "x-request-id": "two words" } })).headers.get(
        "x-request-id",
      ),
    ).toMatch(/^[\da-f-]{36}$/);
  });

  it("of a caller is not kept by shared caches", async () => {
    const site = await newSite(server, key);
    for (const path of ["/v1/me", "/v1/repositories", "/v1/jobs", "/v1/keys", `${site.at}/documents`])
      expect((await server.call("GET", path, { key })).headers.get("cache-control"), path).toBe("no-store");
    expect((await server.call("GET", site.at, { key })).headers.get("cache-control")).toBe("private, no-cache");
  });

  it("to a method that a path does not have is 405 with those it has; OPTIONS tells them, too", async () => {
    const { paths } = (await server.call("GET", "/v1/openapi.json")).json as { paths: Record<string, Json> };
    for (const [path, item] of Object.entries(paths)) {
      const filled = path.replaceAll(/\{\w+\}/g, "x");
      const reply = await server.call("TRACE" in item ? "COPY" : "PROPFIND", filled, { key });
      // The facades have errors of their own form.
      const { error } = reply.json;
      const code = typeof error === "string" ? error : ((error as Json | undefined) ?? reply.json)["code"];
      const isLisa = /^\/(repository|models|configuration|session|bedrock-kb)(\/|$)/.test(path);
      const expected = isLisa ? "Bad Request" : path.startsWith("/openai/") ? "invalid_value" : "INVALID";
      const { type } = (error as Json | undefined) ?? {};
      if (path.startsWith("/api/v1/")) expect([reply.status, type], path).toEqual([405, "request-error"]);
      else expect([reply.status, code], path).toEqual([405, expected]);
      const allowed = reply.headers.get("allow")?.split(", ") ?? [];
      for (const method of Object.keys(item)) expect(allowed, path).toContain(method.toUpperCase());
      expect((await server.call("OPTIONS", filled)).headers.get("allow"), path).toBe(reply.headers.get("allow"));
    }
  });
});

describe("the reference", () => {
  it("is an OpenAPI 3.1 document whose references resolve, and whose operations have a summary, a tag, answers and security", async () => {
    const { json, text } = await server.call("GET", "/v1/openapi.json");
    const document = json as {
      openapi: string;
      paths: Record<string, Record<string, Json>>;
      components: Record<string, Json>;
    };
    expect(document.openapi).toBe("3.1.0");
    // Generators of clients stop at a reference that leads nowhere or to the whole document, and print names that a library made up.
    const schemas = document.components["schemas"] as Json;
    const references = [...text.matchAll(/"\$ref": ?"([^"]*)"/g)].map(([, reference]) => reference as string);
    expect(references.length).toBeGreaterThan(100);
    for (const reference of references)
      expect(
        reference === "#/components/responses/Problem" ||
          Object.hasOwn(schemas, reference.replace("#/components/schemas/", "")),
        reference,
      ).toBe(true);
    expect(text).not.toContain("__schema");
    const page = await server.app.request("/docs", { headers: { "accept-encoding": "gzip" } });
    const zipped = new Uint8Array(await page.arrayBuffer());
    expect([page.headers.get("content-encoding"), page.headers.get("vary")]).toEqual([
      "gzip",
      expect.stringContaining("accept-encoding"),
    ]);
    expect(gunzipSync(zipped).toString()).not.toContain("__schema");
    const ids = new Set<unknown>();
    for (const [path, item] of Object.entries(document.paths)) {
      for (const [method, operation] of Object.entries(item)) {
        const where = `${method} ${path}`;
        ids.add(operation["operationId"]);
        expect((operation["summary"] as string).length, where).toBeGreaterThan(5);
        expect(operation["tags"], where).toHaveLength(1);
        expect(operation["security"], where).toBeInstanceOf(Array);
        const responses = operation["responses"] as Json;
        expect(
          Object.keys(responses).some((status) => status.startsWith("2")),
          where,
        ).toBe(true);
        const declared = ((operation["parameters"] ?? []) as Json[])
          .filter((parameter) => parameter["in"] === "path")
          .map(({ name }) => name);
        expect(declared.toSorted(), where).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).toSorted());
      }
    }
    expect(ids.size).toBe(Object.values(document.paths).reduce((sum, item) => sum + Object.keys(item).length, 0));
  });

  it("is a page for people at /docs, with every operation and without scripts", async () => {
    const page = await server.call("GET", "/docs");
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.text).not.toMatch(/<script/i);
    const { paths } = (await server.call("GET", "/v1/openapi.json")).json as {
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    for (const item of Object.values(paths))
      for (const { operationId } of Object.values(item)) expect(page.text).toContain(`id="${operationId}"`);
    const known = page.headers.get("etag") as string;
    expect((await server.call("GET", "/docs", { headers: { "if-none-match": known } })).status).toBe(304);
  });
});

describe("limits", () => {
  it("who asks too much at once is told 429 and when to come again; others are not held up", async () => {
    let now = 1_000_000;
    const limiter = new RateLimiter({
      caller: { perSecond: 1, burst: 3 },
      authFailures: { perSecond: 1 / 60, burst: 2 },
      clock: { now: () => now },
    });
    const app = await createApp(server.pinakes, { limiter, checkAnswers: true });
    const me = async (bearer: string) => readReply(await app.request("/v1/me", requestInit("GET", { key: bearer })));
    const ben = await server.key("w1", "ben");
    const left: unknown[] = [];
    for (let i = 0; i < 3; i += 1) left.push((await me(key)).headers.get("ratelimit-remaining"));
    expect(left).toEqual(["2", "1", "0"]);
    const refused = await me(key);
    expect([
      refused.status,
      refused.json["code"],
      refused.json["retryable"],
      refused.headers.get("retry-after"),
    ]).toEqual([429, "THROTTLED", true, "1"]);
    expect((await me(ben)).status).toBe(200);
    now += 1_000;
    expect((await me(key)).status).toBe(200);
    // Guessing is slowed down for the address; who is signed in already goes on.
    expect([(await me("pk_wrong")).status, (await me("pk_wrong")).status, (await me("pk_wrong")).status]).toEqual([
      401, 401, 429,
    ]);
    now += 1_000;
    expect((await me(ben)).status).toBe(200);
    const login = await app.request("/v1/sessions", requestInit("POST", { body: { token: "guess" } }));
    expect(login.status).toBe(429);
  });
});

describe("sessions", () => {
  it("a key opens a session: a cookie that scripts cannot read; changes need the CSRF token, and signing out ends it", async () => {
    const opened = await server.raw("POST", "/v1/sessions", { body: { token: key } });
    expect(opened.status).toBe(201);
    const set = opened.headers.get("set-cookie") as string;
    expect(set).toMatch(/^pinakes_session=ps_[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Expires=/);
    const cookie = set.split(";")[0] as string;
    const csrf = ((await opened.json()) as Json)["csrf_token"] as string;
    const me = await server.call("GET", "/v1/me", { headers: { cookie } });
    expect(me.json).toMatchObject({ user_id: "ann", workspace_id: "w1", via: "session", csrf_token: csrf });
    const make = (headers: Record<string, string>) =>
      server.call("POST", "/v1/repositories/me/collections", {
        body: { name: "Mine" },
        headers: { cookie, ...headers },
      });
    const without = await make({});
    expect([without.status, without.json["detail"]]).toEqual([403, expect.stringContaining("X-CSRF-Token")]);
    expect((await make({ "x-csrf-token": "wrong" })).status).toBe(403);
    expect((await server.call("GET", "/v1/repositories/me/collections", { key })).json["items"]).toEqual([]);
    expect((await make({ "x-csrf-token": csrf })).status).toBe(201);
    expect((await server.call("DELETE", "/v1/sessions", { headers: { cookie } })).status).toBe(403);
    const ended = await server.call("DELETE", "/v1/sessions", { headers: { cookie, "x-csrf-token": csrf } });
    expect([ended.status, ended.headers.get("set-cookie")]).toEqual([
      204,
      expect.stringMatching(/^pinakes_session=; .*Expires=Thu, 01 Jan 1970/),
    ]);
    expect((await server.call("GET", "/v1/me", { headers: { cookie } })).status).toBe(401);
  });

  it("a session of a key that may only read changes nothing; one of the root token is an admin of default and no more", async () => {
    const reader = await server.key("w1", "reader", { scopes: ["read"] });
    const signIn = async (token: string) => {
      const response = await server.raw("POST", "/v1/sessions", { body: { token } });
      const cookie = (response.headers.get("set-cookie") as string).split(";")[0] as string;
      return { cookie, "x-csrf-token": ((await response.json()) as Json)["csrf_token"] as string };
    };
    const reads = await signIn(reader);
    expect((await server.call("GET", "/v1/me", { headers: reads })).json).toMatchObject({ read_only: true });
    expect(
      (await server.call("POST", "/v1/repositories/me/collections", { body: { name: "X" }, headers: reads })).status,
    ).toBe(403);
    const root = await signIn(rootToken);
    expect((await server.call("GET", "/v1/me", { headers: root })).json).toMatchObject({
      workspace_id: "default",
      role: "admin",
    });
    expect(
      (await server.call("POST", "/v1/keys", { body: { user_id: "x", workspace_id: "w1" }, headers: root })).status,
    ).toBe(403);
    expect((await server.call("POST", "/v1/keys", { body: { user_id: "x" }, headers: root })).status).toBe(201);
  });
});

describe("keys", () => {
  it("are shown once, listed without their secret, and another workspace is for the root token", async () => {
    const made = await server.call("POST", "/v1/keys", {
      key,
      body: { user_id: "new", groups: ["g"], name: "Laptop" },
    });
    expect([made.status, made.json["workspace_id"]]).toEqual([201, "w1"]);
    const secret = made.json["key"] as string;
    const listed = await server.call("GET", "/v1/keys?limit=100", { key });
    expect((listed.json["items"] as Json[]).map(({ key_id }) => key_id)).toContain(made.json["key_id"]);
    expect(listed.text).not.toContain(secret.split("_").slice(2).join("_"));
    expect((await server.call("GET", "/v1/me", { key: secret })).json).toMatchObject({
      user_id: "new",
      groups: ["g"],
      role: "user",
    });
    expect((await server.call("POST", "/v1/keys", { key, body: { user_id: "x", workspace_id: "w9" } })).status).toBe(
      403,
    );
    expect(
      (await server.call("POST", "/v1/keys", { key: rootToken, body: { user_id: "x", workspace_id: "w9" } })).status,
    ).toBe(201);
  });
});

describe("search", () => {
  it("says which mode answered, scores each hit in it, and names its document; 10 hits unless asked otherwise", async () => {
    const site = await newSite(server, key);
    const ids = new Map<unknown, unknown>();
    for (let i = 0; i < 12; i += 1)
      ids.set(
        `n${i}.txt`,
        (await sendAndSettle(site, `n${i}.txt`, `The heron number ${i} stands in the water.`))["document_id"],
      );
    const search = async (body: object) =>
      (await server.call("POST", `${site.at}/search`, { key, body: { query: "heron", ...body } })).json as {
        hits: Json[];
        mode_used: string;
      };
    expect((await search({})).hits).toHaveLength(10);
    for (const mode of ["hybrid", "vector", "keyword"] as const) {
      const { hits, mode_used } = await search({ mode, limit: 3 });
      expect([mode_used, hits.length]).toEqual([mode, 3]);
      for (const { document_id, score, scores, citation } of hits) {
        expect(document_id).toBe(ids.get((citation as Json)["filename"]));
        expect(score).toBeTypeOf("number");
        expect(Object.keys(scores as Json).toSorted()).toEqual(
          mode === "hybrid" ? ["fused", "keyword", "vector"] : [mode],
        );
      }
    }
    const everywhere = await server.call("POST", "/v1/search", {
      key,
      body: { query: "heron", collections: [{ repository: site.repository, collection: site.collection }] },
    });
    expect(everywhere.json["hits"]).toHaveLength(10);
  });

  it("of a time of which nothing is kept is 404 in words of this interface", async () => {
    const site = await newSite(server, key);
    await sendAndSettle(site, "now.txt", "words of today");
    const { status, json } = await server.call("POST", `${site.at}/search`, {
      key,
      body: { query: "words", as_of: "2001-01-01T00:00:00Z" },
    });
    expect([status, json["detail"]]).toEqual([
      404,
      "as_of: no data is kept for 2001-01-01T00:00:00Z; it is too long ago, or before the first data.",
    ]);
  });

  it("of rows that callers embed themselves: the first ones may come from many at once, and all are found", async () => {
    const site = await newSite(server, key);
    const none = await server.call("POST", `${site.at}/vectors:delete`, { key, body: { ids: ["a"] } });
    expect([none.status, none.json["detail"]]).toEqual([404, expect.stringContaining("nothing to delete")]);
    const upsert = (i: number) =>
      server.call("POST", `${site.at}/vectors:upsert`, {
        key,
        body: { items: [{ id: `row ${i}`, vector: [i, 1, 0] }] },
      });
    const replies = await Promise.all(Array.from({ length: 10 }, (_, i) => upsert(i)));
    expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
    const { json } = await server.call("POST", `${site.at}/vectors:query`, {
      key,
      body: { vector: [1, 1, 0], limit: 20 },
    });
    expect((json["hits"] as Json[]).map(({ id }) => id).toSorted()).toEqual(
      Array.from({ length: 10 }, (_, i) => `row ${i}`),
    );
    const other = await server.call("POST", `${site.at}/vectors:upsert`, {
      key,
      body: { items: [{ id: "x", vector: [1] }] },
    });
    expect([other.status, other.json["detail"]]).toEqual([
      400,
      expect.stringContaining("has 1 numbers; this collection's vectors have 3"),
    ]);
  });
});
