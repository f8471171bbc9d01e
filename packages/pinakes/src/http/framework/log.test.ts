import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { makeCaller } from "../../domain/caller.ts";
import { createLogger, defineRoute, mount, ok, type KitEnv, type Logger } from "./index.ts";
import { describeError } from "./log.ts";

interface Line {
  readonly [name: string]: unknown;
}

function setUp(): { app: Hono<KitEnv>; log: Logger; lines: () => Line[]; text: () => string } {
  const written: string[] = [];
  const log = createLogger({ destination: { write: (line) => void written.push(line) } });
  const app = new Hono<KitEnv>();
  const common = { auth: "caller", tag: "t", summary: "s", answers: { 200: { description: "x" } } } as const;
  mount(
    app,
    [
      defineRoute({
        ...common,
        method: "POST",
        path: "/v1/things/{id}:go",
        operationId: "go",
        params: z.strictObject({ id: z.string() }),
        query: z.strictObject({ q: z.string().optional() }),
        body: z.unknown(),
        handler: () => ok({ answer: "answer-secret" }, { cookie: "pinakes_session=cookie-secret" }),
      }),
      defineRoute({
        ...common,
        method: "GET",
        path: "/v1/broken",
        operationId: "broken",
        handler: ({ header }) => {
          throw new Error(`upstream refused ${header("authorization")}`, {
            cause: new Error(`cookie was ${header("cookie")}`),
          });
        },
      }),
      defineRoute({
        ...common,
        method: "GET",
        path: "/v1/cut",
        operationId: "cut",
        handler: () => ({
          status: 200,
          stream: (async function* () {
            yield* await Promise.reject<never[]>(new Error("the disk went away"));
          })(),
        }),
      }),
    ],
    { log, authenticate: async () => ({ caller: makeCaller({ tenant: "w1", userId: "u1" }), via: "key" }) },
  );
  app.get("/healthz", (c) => c.json({}));
  app.get("/v1/info", (c) => c.json({}));
  app.get("/crash", () => {
    throw new Error("outside of the kit");
  });
  return { app, log, lines: () => written.map((line) => JSON.parse(line) as Line), text: () => written.join("") };
}

const secrets = {
  authorization: "Bearer key-secret",
  cookie: "pinakes_session=cookie-secret",
  "x-csrf-token": "csrf-secret",
};

describe("http kit: the log", () => {
  it("has one line a request: the pattern of the route, what came of it, how long, for whom", async () => {
    const { app, lines } = setUp();
    await app.request("/v1/things/thing-name:go?q=query-secret", { method: "POST", headers: { "x-request-id": "r1" } });
    await app.request("/v1/info");
    await app.request("/nothing/name-secret");
    await app.request("/healthz");
    expect(lines()).toEqual([
      {
        level: "info",
        time: expect.stringMatching(/^\d{4}-.*Z$/) as string,
        method: "POST",
        route: "/v1/things/{id}:go",
        status: 200,
        ms: expect.any(Number) as number,
        request_id: "r1",
        workspace: "w1",
        user: "u1",
        msg: "request",
      },
      expect.objectContaining({ route: "/v1/info", status: 200 }),
      expect.objectContaining({ route: "/*", status: 404 }),
    ]);
  });

  it("never has bodies, queries, names in paths, tokens or cookies", async () => {
    const { app, text } = setUp();
    await app.request("/v1/things/name-secret:go?q=query-secret", {
      method: "POST",
      headers: { ...secrets, "content-type": "application/json" },
      body: '{"a":"body-secret"}',
    });
    await app.request("/v1/things/name-secret:go?wrong=query-secret", { method: "POST", headers: secrets });
    await app.request("/v1/broken", { headers: secrets });
    expect(text()).toContain("[redacted]");
    expect(text()).not.toContain("secret");
  });

  it("has the stack and the causes of an error of ours, and the request id that the client was told", async () => {
    const { app, lines } = setUp();
    const response = await app.request("/v1/broken", { headers: { "x-request-id": "r7" } });
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("upstream");
    await app.request("/crash");
    const [broken, crash] = lines();
    expect(broken).toMatchObject({
      level: "error",
      status: 500,
      request_id: "r7",
      user: "u1",
      error: {
        name: "Error",
        message: "upstream refused undefined",
        stack: expect.stringContaining("log.test.ts") as string,
        cause: { message: "cookie was undefined" },
      },
    });
    expect(crash).toMatchObject({ level: "error", route: "/crash", error: { message: "outside of the kit" } });
  });

  it("tells of a stream that broke after its answer began", async () => {
    const { app, lines } = setUp();
    const response = await app.request("/v1/cut", { headers: { "x-request-id": "r9" } });
    await expect(response.text()).rejects.toThrow("the disk went away");
    expect(lines()).toContainEqual(
      expect.objectContaining({
        level: "error",
        request_id: "r9",
        msg: "a response was interrupted",
        error: expect.objectContaining({ message: "the disk went away" }) as unknown,
      }),
    );
  });

  it("hides what others log under names of secrets", () => {
    const { log, lines } = setUp();
    log.info(
      {
        token: "t",
        headers: { authorization: "a", "set-cookie": "b", host: "h" },
        deep: { down: { password: "p", name: "n" } },
      },
      "x",
    );
    expect(lines()[0]).toMatchObject({
      token: "[redacted]",
      headers: { authorization: "[redacted]", "set-cookie": "[redacted]", host: "h" },
      deep: { down: { password: "[redacted]", name: "n" } },
    });
  });

  it("follows causes only so far, and takes what is no error", () => {
    let error = new Error("0");
    for (let i = 1; i < 20; i += 1) error = new Error(String(i), { cause: error });
    expect(JSON.stringify(describeError(error, [])).split('"cause"')).toHaveLength(6);
    expect(describeError("Bearer abc.def", [])).toEqual({ name: "unknown", message: "Bearer [redacted]" });
  });
});
