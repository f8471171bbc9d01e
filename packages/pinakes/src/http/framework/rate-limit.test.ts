import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { makeCaller } from "../../domain/caller.ts";
import { PinakesError } from "../../domain/errors.ts";
import { ManualClock } from "../../testing/item-store/fixture.ts";
import { serve } from "../serve.ts";
import { defineRoute, mount, ok, RateLimiter, type KitEnv, type RateLimitOptions } from "./index.ts";
import { addressKey, rateLimitDefaults, TokenBuckets } from "./rate-limit.ts";

const common = { method: "GET", tag: "t", summary: "s", answers: { 200: { description: "x" } } } as const;

function setUp(options: RateLimitOptions = {}) {
  const clock = new ManualClock();
  const limiter = new RateLimiter({ clock, ...options });
  const app = new Hono<KitEnv>();
  const me = defineRoute({ ...common, auth: "caller", path: "/v1/me", operationId: "me", handler: () => ok({}) });
  const login = defineRoute({
    ...common,
    auth: "public",
    path: "/v1/login",
    operationId: "login",
    handler: () => {
      throw new PinakesError("UNAUTHENTICATED", "Wrong token.");
    },
  });
  mount(app, [me, login], {
    limiter,
    clientAddress: (c) => c.req.header("x-address") ?? "10.0.0.1",
    authenticate: async ({ bearer }) => {
      if (bearer?.startsWith("user-") !== true) throw new PinakesError("UNAUTHENTICATED", "No.");
      return { caller: makeCaller({ tenant: "w", userId: bearer }), via: "key" };
    },
  });
  const ask = (bearer: string, headers: Record<string, string> = {}, path = "/v1/me") =>
    app.request(path, { headers: { authorization: `Bearer ${bearer}`, ...headers } });
  return { clock, ask };
}

async function statuses(count: number, work: () => Response | Promise<Response>): Promise<number[]> {
  const found: number[] = [];
  for (let i = 0; i < count; i += 1) found.push((await work()).status);
  return found;
}

describe("http kit: rate limits", () => {
  it("a caller may send a burst, then as many a second as allowed; others are not affected", async () => {
    const { clock, ask } = setUp({ caller: { perSecond: 2, burst: 3 } });
    const first = await ask("user-a");
    expect([
      first.headers.get("ratelimit-limit"),
      first.headers.get("ratelimit-remaining"),
      first.headers.get("ratelimit-reset"),
    ]).toEqual(["3", "2", "1"]);
    expect(await statuses(3, () => ask("user-a"))).toEqual([200, 200, 429]);
    const refused = await ask("user-a");
    expect([refused.headers.get("retry-after"), refused.headers.get("ratelimit-remaining")]).toEqual(["1", "0"]);
    expect(await refused.json()).toMatchObject({
      code: "THROTTLED",
      retryable: true,
      detail: "Too many requests at once; try again in 1 s, and send fewer in parallel.",
    });
    expect((await ask("user-b")).status).toBe(200);
    clock.advance(499);
    expect((await ask("user-a")).status).toBe(429);
    clock.advance(1);
    expect(await statuses(2, () => ask("user-a"))).toEqual([200, 429]);
    clock.advance(3_600_000);
    expect(await statuses(4, () => ask("user-a"))).toEqual([200, 200, 200, 429]);
  });

  it("by default a caller has 200 at once, and an address 20 failures, then 10 a minute", async () => {
    const { clock, ask } = setUp();
    const { burst } = rateLimitDefaults.caller;
    expect((await statuses(burst + 1, () => ask("user-a"))).filter((status) => status === 200)).toHaveLength(200);
    expect(await statuses(21, () => ask("bad"))).toEqual([...Array.from({ length: 20 }, () => 401), 429]);
    const refused = await ask("bad");
    expect([refused.headers.get("retry-after"), await refused.json()]).toEqual([
      "6",
      expect.objectContaining({ code: "THROTTLED" }),
    ]);
    clock.advance(5_999);
    expect((await ask("bad")).status).toBe(429);
    clock.advance(1);
    expect(await statuses(2, () => ask("bad"))).toEqual([401, 429]);
  });

  it("failures count for their address only, also on public routes; a client that was let in before stays in", async () => {
    const { ask } = setUp({ authFailures: { perSecond: 1, burst: 2 } });
    expect((await ask("user-a")).status).toBe(200);
    expect(await statuses(3, () => ask("x", {}, "/v1/login"))).toEqual([401, 401, 429]);
    expect((await ask("user-new")).status).toBe(429);
    expect((await ask("user-a")).status).toBe(200);
    expect((await ask("user-new", { "x-address": "10.0.0.2" })).status).toBe(200);
  });

  it("a request without credentials is no attempt to sign in", async () => {
    const { ask } = setUp({ authFailures: { perSecond: 1, burst: 2 } });
    expect(await statuses(5, () => ask("", { authorization: "" }))).toEqual([401, 401, 401, 401, 401]);
    expect((await ask("user-a")).status).toBe(200);
  });

  it("the memory is bounded: the least recently seen makes room", () => {
    const buckets = new TokenBuckets({ perSecond: 1, burst: 1 }, 3, new ManualClock());
    for (const key of ["a", "b", "c"]) expect(buckets.take(key).allowed).toBe(true);
    expect(buckets.take("a").allowed).toBe(false);
    expect(buckets.take("d").allowed).toBe(true);
    expect(buckets.size).toBe(3);
    expect(buckets.take("a").allowed).toBe(false);
    expect(buckets.take("b").allowed).toBe(true);
    expect(buckets.size).toBe(3);
    expect(buckets.take("zzz", 0).allowed).toBe(true);
    expect(buckets.size).toBe(3);
  });

  it("through a socket, the address is that of the other end", async () => {
    const app = new Hono<KitEnv>();
    const route = defineRoute({
      ...common,
      auth: "caller",
      path: "/v1/me",
      operationId: "me",
      handler: ({ clientAddress }) => ok({ clientAddress }),
    });
    mount(app, [route], {
      limiter: new RateLimiter({ clock: new ManualClock(), authFailures: { perSecond: 1, burst: 1 } }),
      authenticate: async ({ bearer }) => {
        if (bearer !== "good") throw new PinakesError("UNAUTHENTICATED", "No.");
        return { caller: makeCaller({ tenant: "w", userId: "u" }), via: "key" };
      },
    });
    const server = await serve(app, { host: "127.0.0.1", port: 0 });
    const ask = (bearer: string) =>
      fetch(`${server.url}/v1/me`, { headers: { authorization: `Bearer ${bearer}`, "x-forwarded-for": "10.9.9.9" } });
    expect(await (await ask("good")).json()).toEqual({ clientAddress: "127.0.0.1" });
    expect(await statuses(2, () => ask("bad"))).toEqual([401, 429]);
    expect((await ask("good")).status).toBe(200);
    await server.close();
  });

  it("an IPv6 network of 64 bits is one address, and a mapped IPv4 address is itself", () => {
    expect(addressKey("2001:db8:1:2:3:4:5:6")).toBe("2001:db8:1:2");
    expect(addressKey("2001:0db8:1::6")).toBe("2001:db8:1:0");
    expect(addressKey("::1")).toBe("0:0:0:0");
    expect(addressKey("fe80::1%eth0")).toBe("fe80:0:0:0");
    expect(addressKey("::ffff:10.0.0.1")).toBe("10.0.0.1");
    expect(addressKey("10.0.0.1")).toBe("10.0.0.1");
    expect(addressKey("unknown")).toBe("unknown");
  });
});
