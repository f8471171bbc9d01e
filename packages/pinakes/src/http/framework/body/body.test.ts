import fc from "fast-check";
import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { makeCaller } from "../../../domain/caller.ts";
import { jsonDepthMax, parseJson } from "./body.ts";
import { defineRoute, mount, ok, type KitEnv } from "../index.ts";
import { deeperThan, jsonErrorPlace } from "./json-position.ts";
import { jsonBytesMaxDefault } from "../route.ts";

const app = new Hono<KitEnv>();
const common = { auth: "caller", tag: "t", summary: "s", answers: { 200: { description: "x" } } } as const;
mount(
  app,
  [
    defineRoute({
      ...common,
      method: "POST",
      path: "/v1/json",
      operationId: "json",
      body: z.unknown(),
      handler: ({ body }) => ok({ body }),
    }),
    defineRoute({
      ...common,
      method: "POST",
      path: "/v1/small",
      operationId: "small",
      body: z.unknown(),
      limits: { bodyBytesMax: 10 },
      handler: ({ body }) => ok({ body }),
    }),
    defineRoute({
      ...common,
      method: "POST",
      path: "/v1/raw",
      operationId: "raw",
      body: { raw: ["text/turtle", "application/n-quads"], json: z.strictObject({ a: z.number() }) },
      limits: { bodyBytesMax: 10 },
      handler: async ({ body }) => {
        if (body.kind === "json") return ok(body);
        let bytes = 0;
        for await (const chunk of body.stream) bytes += chunk.byteLength;
        return ok({ type: body.contentType, bytes });
      },
    }),
  ],
  { authenticate: async () => ({ caller: makeCaller({ tenant: "w", userId: "u" }), via: "key" }) },
);

async function post(
  path: string,
  body: string | Uint8Array | ReadableStream<Uint8Array>,
  headers: Record<string, string> = { "content-type": "application/json" },
) {
  const response = await app.request(path, { method: "POST", body, headers, duplex: "half" });
  return {
    status: response.status,
    headers: response.headers,
    ...((await response.json()) as { body?: unknown; detail?: string; code?: string }),
  };
}

/** A body of unknown length, in small pieces. */
function streamed(text: string): ReadableStream<Uint8Array> {
  return ReadableStream.from((text.match(/[^]{1,4096}/g) ?? []).map((piece) => Buffer.from(piece)));
}

describe("http kit: JSON bodies", () => {
  it("JSON of any +json type and with a charset is taken", async () => {
    expect(
      await post("/v1/json", '\ufeff{"a":[1]}', { "content-type": "application/json; charset=utf-8" }),
    ).toMatchObject({ status: 200, body: { a: [1] } });
    expect(await post("/v1/json", "[]", { "content-type": "application/merge-patch+json" })).toMatchObject({
      status: 200,
      body: [],
    });
  });

  it("the limit holds at its byte, declared or streamed", async () => {
    const text = (bytes: number) => JSON.stringify("x".repeat(bytes - 2));
    expect((await post("/v1/json", text(jsonBytesMaxDefault))).status).toBe(200);
    expect((await post("/v1/json", streamed(text(jsonBytesMaxDefault)))).status).toBe(200);
    for (const body of [text(jsonBytesMaxDefault + 1), streamed(text(jsonBytesMaxDefault + 1))]) {
      expect(await post("/v1/json", body)).toMatchObject({
        status: 413,
        code: "LIMIT_EXCEEDED",
        detail: expect.stringContaining("1048576 bytes") as string,
      });
    }
    expect((await post("/v1/small", text(10))).status).toBe(200);
    expect((await post("/v1/small", text(11))).status).toBe(413);
  });

  it("a declared length past the limit is refused before the body is read", async () => {
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>({ pull: () => void (pulled += 1) }, { highWaterMark: 0 });
    expect((await post("/v1/small", body, { "content-type": "application/json", "content-length": "11" })).status).toBe(
      413,
    );
    expect(pulled).toBe(0);
  });

  it("nesting goes to its limit and no further", async () => {
    const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
    expect((await post("/v1/json", nested(jsonDepthMax))).status).toBe(200);
    expect(await post("/v1/json", nested(jsonDepthMax + 1))).toMatchObject({
      status: 400,
      detail: expect.stringContaining("nested deeper than 64") as string,
    });
    expect(deeperThan(String.raw`{"a":"[[[\"[[["}`, 1)).toBe(false);
  });

  it("what is not JSON is told with line and column, what is not UTF-8 with its byte", async () => {
    const cases: Record<string, string> = {
      "[1,x]": "line 1, column 4",
      '{\n "a": 1,\n}': "line 3, column 1",
      '{"a"': "line 1, column 5",
      "[1] 2": "line 1, column 5",
      '"a\nb"': "line 1, column 1",
      " ": "line 1, column 2",
      '{"a":1 "b":2}': "line 1, column 8",
      "[01]": "line 1, column 3",
    };
    for (const [text, place] of Object.entries(cases))
      expect(await post("/v1/json", text)).toMatchObject({
        status: 400,
        detail: `The body is not valid JSON at ${place}.`,
      });
    const bad = Buffer.concat([Buffer.from('{"ä":"'), Buffer.from([0xff]), Buffer.from('"}')]);
    expect(await post("/v1/json", bad)).toMatchObject({
      status: 400,
      detail: expect.stringContaining("UTF-8 near byte 7") as string,
    });
  });

  it("the place of an error is the end for valid JSON, and within the text for a broken one", () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), (text, at) => {
        expect(jsonErrorPlace(text)).toEqual({ line: 1, column: text.length + 1 });
        expect(parseJson(Buffer.from(text))).toEqual(JSON.parse(text));
        const broken = `${text.slice(0, at % (text.length + 1))}\u0001${text.slice(at % (text.length + 1))}`;
        expect(jsonErrorPlace(broken).column).toBeLessThanOrEqual((at % (text.length + 1)) + 1);
      }),
      { numRuns: 300 },
    );
  });

  it("another content type is a 415 that names the wanted one; a compressed body is refused", async () => {
    const wrong = await post("/v1/json", "a=1", { "content-type": "application/x-www-form-urlencoded" });
    expect(wrong).toMatchObject({
      status: 415,
      code: "INVALID",
      detail: "The body is application/x-www-form-urlencoded; send application/json.",
    });
    expect(wrong.headers.get("accept")).toBe("application/json");
    const packed = await post("/v1/json", "x", { "content-type": "application/json", "content-encoding": "gzip" });
    expect(packed).toMatchObject({
      status: 415,
      detail: "Content-Encoding: gzip is not supported; send the body uncompressed.",
    });
    expect(
      (await post("/v1/json", "1", { "content-type": "application/json", "content-encoding": "identity" })).status,
    ).toBe(200);
  });

  it("a client that goes away in the middle is an error that says so", async () => {
    const cut = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(Buffer.from('{"a":'));
        controller.error(new Error("socket hang up"));
      },
    });
    expect(await post("/v1/json", cut)).toMatchObject({
      status: 400,
      detail: expect.stringContaining("connection closed") as string,
    });
  });
});

describe("http kit: raw bodies", () => {
  it("the handler reads the bytes, up to the limit; JSON comes parsed where both are taken", async () => {
    expect(await post("/v1/raw", "x".repeat(10), { "content-type": "text/turtle; charset=utf-8" })).toMatchObject({
      status: 200,
      type: "text/turtle",
      bytes: 10,
    });
    expect((await post("/v1/raw", streamed("x".repeat(11)), { "content-type": "text/turtle" })).status).toBe(413);
    expect(await post("/v1/raw", '{"a":1}')).toMatchObject({ status: 200, kind: "json", value: { a: 1 } });
    expect(await post("/v1/raw", "x", { "content-type": "text/html" })).toMatchObject({
      status: 415,
      detail: "The body is text/html; send text/turtle or application/n-quads or application/json.",
    });
  });
});
