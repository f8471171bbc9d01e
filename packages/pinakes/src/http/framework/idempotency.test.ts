import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { makeCaller } from "../../domain/caller.ts";
import { PinakesError } from "../../domain/errors.ts";
import { openMemoryItems } from "../../drivers/memory/index.ts";
import { ManualClock } from "../../testing/item-store/fixture.ts";
import { idempotencyLimits, makeClaim, runOnce } from "./idempotency.ts";
import { created, defineRoute, mount, openIdempotencyStore, type Answer, type KitEnv } from "./index.ts";

type Work = (name: string) => Promise<Answer> | Answer;

async function setUp(work?: Work) {
  const clock = new ManualClock();
  const store = await openIdempotencyStore(await openMemoryItems({ clock }), { clock });
  let runs = 0;
  const make: Work =
    work ?? ((name) => created({ name, run: runs }, { etag: `e${runs}`, location: `/v1/things/${name}` }));
  const route = (operationId: string, path: string) =>
    defineRoute({
      method: "POST",
      path,
      operationId,
      tag: "t",
      summary: "s",
      auth: "caller",
      idempotent: true,
      query: z.strictObject({ q: z.string().optional() }),
      body: { multipart: true, json: z.strictObject({ name: z.string() }) },
      answers: { 201: { description: "made" } },
      handler: async ({ body }) => {
        runs += 1;
        return make(body.kind === "json" ? body.value.name : "form");
      },
    });
  const app = new Hono<KitEnv>();
  mount(app, [route("make", "/v1/things"), route("other", "/v1/others")], {
    idempotency: store,
    checkAnswers: true,
    authenticate: async ({ bearer = "w1 u1" }) => {
      const [tenant = "", userId = ""] = bearer.split("-");
      return { caller: makeCaller({ tenant, userId }), via: "key" };
    },
  });
  const post = (key: string | undefined, body: unknown, { path = "/v1/things", who = "w1-u1" } = {}) =>
    app.request(path, {
      method: "POST",
      headers: {
        authorization: `Bearer ${who}`,
        "content-type": "application/json",
        ...(key === undefined ? {} : { "idempotency-key": key }),
      },
      body: JSON.stringify(body),
    });
  return { clock, store, app, post, runs: () => runs };
}

describe("http kit: Idempotency-Key", () => {
  it("the same request again answers the same and does nothing", async () => {
    const { post, runs } = await setUp();
    const first = await post("k1", { name: "a" });
    const again = await post("k1", { name: "a" });
    expect([again.status, again.headers.get("etag"), again.headers.get("location")]).toEqual([
      201,
      '"e1"',
      "/v1/things/a",
    ]);
    expect(await again.json()).toEqual(await first.json());
    expect([first.headers.get("idempotency-replayed"), again.headers.get("idempotency-replayed")]).toEqual([
      null,
      "true",
    ]);
    expect((await post('"k1"', { name: "a" })).headers.get("idempotency-replayed")).toBe("true");
    expect(runs()).toBe(1);
    await post(undefined, { name: "a" });
    expect(runs()).toBe(2);
  });

  it("another body, path or query under the same key is a 422 and does nothing", async () => {
    const { post, runs } = await setUp();
    await post("k1", { name: "a" });
    const other = await post("k1", { name: "b" });
    expect([other.status, await other.json()]).toEqual([
      422,
      expect.objectContaining({ code: "CONFLICT", retryable: false }),
    ]);
    expect((await post("k1", { name: "a" }, { path: "/v1/things?q=1" })).status).toBe(422);
    expect(runs()).toBe(1);
  });

  it("a key belongs to one workspace, one user and one route", async () => {
    const { post, runs } = await setUp();
    await post("k1", { name: "a" });
    for (const other of [{ who: "w2-u1" }, { who: "w1-u2" }, { path: "/v1/others" }]) {
      const response = await post("k1", { name: "b" }, other);
      expect([response.status, response.headers.get("idempotency-replayed")]).toEqual([201, null]);
    }
    expect(runs()).toBe(4);
  });

  it("while the first is at work, a second is a 409 that says when to try again", async () => {
    const gate = Promise.withResolvers<void>();
    const { post, runs } = await setUp(async (name) => {
      await gate.promise;
      return created({ name });
    });
    const first = post("k1", { name: "a" });
    await expect.poll(() => runs()).toBe(1);
    const second = await post("k1", { name: "a" });
    expect([second.status, second.headers.get("retry-after"), await second.json()]).toEqual([
      409,
      "5",
      expect.objectContaining({ retryable: true }),
    ]);
    gate.resolve();
    expect((await first).status).toBe(201);
    expect((await post("k1", { name: "a" })).headers.get("idempotency-replayed")).toBe("true");
    expect(runs()).toBe(1);
  });

  it("of many at the same moment one does the work", async () => {
    const { post, runs } = await setUp();
    const all = await Promise.all(Array.from({ length: 20 }, async () => post("k1", { name: "a" })));
    expect(runs()).toBe(1);
    expect(new Set(all.map(({ status }) => status)).isSubsetOf(new Set([201, 409]))).toBe(true);
  });

  it("a refusal is kept; an error that trying again can cure is not", async () => {
    const errors = [
      [new PinakesError("CONFLICT", "Taken."), 409, 1],
      [new PinakesError("NOT_FOUND", "Gone."), 404, 1],
      [new PinakesError("UNAVAILABLE", "Later."), 503, 2],
      [new PinakesError("THROTTLED", "Slower."), 429, 2],
      [new Error("a bug"), 500, 2],
    ] as const;
    for (const [error, status, expected] of errors) {
      const { post, runs } = await setUp(() => Promise.reject(error));
      expect((await post("k1", { name: "a" })).status).toBe(status);
      const again = await post("k1", { name: "a" });
      expect([again.status, again.headers.get("content-type"), runs()]).toEqual([
        status,
        "application/problem+json",
        expected,
      ]);
    }
  });

  it("a request that is not valid leaves its key free", async () => {
    const { post, runs } = await setUp();
    expect((await post("k1", { nam: "a" })).status).toBe(400);
    expect((await post("k1", { name: "a" })).status).toBe(201);
    expect(runs()).toBe(1);
  });

  it("answers are kept for 24 hours", async () => {
    const { post, clock, runs } = await setUp();
    await post("k1", { name: "a" });
    clock.advance(idempotencyLimits.keptSeconds * 1000 - 1_000);
    expect((await post("k1", { name: "a" })).headers.get("idempotency-replayed")).toBe("true");
    clock.advance(2_000);
    expect((await post("k1", { name: "b" })).headers.get("idempotency-replayed")).toBeNull();
    expect(runs()).toBe(2);
  });

  it("an answer as large as what is kept comes again; of a larger one is told that it was carried out", async () => {
    const bytes = idempotencyLimits.bodyBytesMax - 2;
    for (const [extra, status] of [
      [0, 201],
      [1, 409],
    ] as const) {
      const { post, runs } = await setUp(() => created("x".repeat(bytes + extra)));
      expect((await post("k1", { name: "a" })).status).toBe(201);
      const again = await post("k1", { name: "a" });
      expect([again.status, runs()]).toEqual([status, 1]);
      if (status === 409)
        expect(await again.json()).toMatchObject({ detail: expect.stringContaining("too large to store") as string });
    }
  });

  it("a key is 1–255 visible characters, and works with JSON only", async () => {
    const { post, app } = await setUp();
    expect((await post("k".repeat(255), { name: "a" })).status).toBe(201);
    for (const bad of ["k".repeat(256), "a b", "", '""']) expect((await post(bad, { name: "a" })).status).toBe(400);
    const form = new FormData();
    form.set("file", new File(["x"], "a.txt"));
    const response = await app.request("/v1/things", {
      method: "POST",
      headers: { "idempotency-key": "k9", authorization: "Bearer w1-u1" },
      body: form,
    });
    expect([response.status, await response.json()]).toEqual([
      400,
      expect.objectContaining({ detail: expect.stringContaining("works only with JSON bodies") as string }),
    ]);
  });
});

describe("http kit: the store of idempotency keys", () => {
  const { scope } = makeCaller({ tenant: "w1", userId: "u1" });
  const claim = makeClaim({
    userId: "u1",
    operationId: "make",
    key: "k",
    url: new URL("http://x/v1/things"),
    body: Buffer.from("{}"),
  });
  const answer = { status: 200, headers: {}, body: "1", tooLarge: false };

  it("after a crash the key is in progress until its lease ends, then the work is done again; the first can no longer finish", async () => {
    const { store, clock } = await setUp();
    const crashed = await store.begin(scope, claim);
    if (crashed.state !== "new") throw new Error("the first claim is new");
    clock.advance(idempotencyLimits.leaseMs - 1);
    expect(await store.begin(scope, claim)).toEqual({ state: "running", retryAfterMs: 1 });
    clock.advance(1);
    const next = await store.begin(scope, claim);
    if (next.state !== "new") throw new Error("the lease has ended");
    await expect(store.finish(scope, claim, crashed.lease, answer)).rejects.toThrow();
    await store.finish(scope, claim, next.lease, answer);
    expect(await store.begin(scope, claim)).toEqual({ state: "done", answer });
  });

  it("a lease can be renewed, and a claim given up is free at once", async () => {
    const { store, clock } = await setUp();
    const begun = await store.begin(scope, claim);
    if (begun.state !== "new") throw new Error("the first claim is new");
    clock.advance(idempotencyLimits.leaseMs - 1);
    const lease = await store.renew(scope, claim, begun.lease);
    clock.advance(idempotencyLimits.leaseMs - 1);
    expect((await store.begin(scope, claim)).state).toBe("running");
    await store.abandon(scope, claim, lease);
    expect((await store.begin(scope, claim)).state).toBe("new");
  });

  it("work that takes long keeps its lease, and its answer is kept", async () => {
    const { store } = await setUp();
    const renewed: string[] = [];
    const watched = {
      ...bound(store),
      renew: async (...args: Parameters<typeof store.renew>) => {
        const lease = await store.renew(...args);
        renewed.push(lease);
        return lease;
      },
    };
    const run = async (): Promise<Answer> => {
      await expect.poll(() => renewed.length).toBeGreaterThan(1);
      return created({ done: true });
    };
    const failures: unknown[] = [];
    expect(
      (
        await runOnce({
          store: watched,
          scope,
          claim,
          requestId: "r",
          run,
          onError: (error) => failures.push(error),
          renewMs: 5,
        })
      ).status,
    ).toBe(201);
    expect(failures).toEqual([]);
    expect(await store.begin(scope, claim)).toMatchObject({ state: "done", answer: { status: 201 } });
  });

  it("an answer that cannot be kept is given all the same, and the failure is told", async () => {
    const { store } = await setUp();
    const failures: unknown[] = [];
    const broken = { ...bound(store), finish: () => Promise.reject(new Error("disk full")) };
    const answered = await runOnce({
      store: broken,
      scope,
      claim,
      requestId: "r",
      run: async () => created({}),
      onError: (error) => failures.push(error),
    });
    expect([answered.status, failures.map(String)]).toEqual([201, ["Error: disk full"]]);
  });
});

type Store = Awaited<ReturnType<typeof openIdempotencyStore>>;
function bound(store: Store): Store {
  return {
    begin: (...args) => store.begin(...args),
    renew: (...args) => store.renew(...args),
    finish: (...args) => store.finish(...args),
    abandon: (...args) => store.abandon(...args),
  };
}
