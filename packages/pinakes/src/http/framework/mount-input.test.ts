import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineRoute, ok, queryFlag, queryInteger } from "./index.ts";
import { appOf, common, good, json } from "./test-app.ts";

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
      { path: "color", message: "is unknown; remove it or correct its name" },
    ]);
    expect(problem["detail"]).toBe(
      'name: must be at most 5 characters long; size: must be a number, got "x"; kind: must be one of "a", "b", got "c"; nested.list[1].x: must be a number, got true; color: is unknown; remove it or correct its name.',
    );
    expect(problem).toMatchObject({ reason: "unknown_field", field: "name" });
    expect(await json(await send({}))).not.toHaveProperty("reason");
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
    expect(await query("limit=")).toMatchObject({ detail: "limit: is empty; expected a number." });
    expect(await query("limit=ten")).toMatchObject({ code: "INVALID", errors: [{ path: "limit" }] });
    expect(await query("limit=1&limit=2")).toMatchObject({ detail: "limit: is specified more than once." });
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
