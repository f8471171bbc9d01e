/** What only a network can do: lose requests, lose answers, ask for patience. A real server, and a fetch that spoils some calls. */
import { createServer, type AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApp } from "../../pinakes/src/http/app.ts";
import { RateLimiter } from "../../pinakes/src/http/framework/index.ts";
import { serve } from "../../pinakes/src/http/serve.ts";
import {
  createClient,
  createStateClient,
  httpApi,
  PinakesClientError,
  RateLimitedError,
  type StateClient,
} from "../src/index.ts";
import { openWorld, type World } from "./support/worlds.ts";

interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
}
type Spoil = "request lost" | "answer lost" | number | undefined;

/** A fetch that asks `spoil` what to do with each call. */
function spoiling(spoil: (call: Call, n: number) => Spoil): { readonly fetch: typeof fetch; readonly calls: Call[] } {
  const calls: Call[] = [];
  const spoiled: typeof fetch = async (input, init) => {
    const call = {
      method: init?.method ?? "GET",
      path: new Request(input).url.replace(/^\w+:\/\/[^/]+/, ""),
      headers: new Headers(init?.headers),
    };
    const n = calls.push(call);
    const what = spoil(call, n);
    if (what === "request lost") throw new TypeError("fetch failed");
    if (typeof what === "number") return new Response("<h1>no</h1>", { status: what, headers: { "retry-after": "0" } });
    const response = await fetch(input, init);
    if (what !== "answer lost") return response;
    await response.arrayBuffer();
    throw new TypeError("terminated");
  };
  return { fetch: spoiled, calls };
}

describe("the client and a bad network", () => {
  let world: World;
  let key: string;
  beforeAll(async () => {
    world = await openWorld("memory", "http");
    key = await world.key("acme");
  });
  afterAll(async () => world[Symbol.asyncDispose]());
  const clientOver = (
    spoil: (call: Call, n: number) => Spoil,
    options: object = {},
  ): { client: StateClient; calls: Call[] } => {
    const { fetch: spoiled, calls } = spoiling(spoil);
    return { client: createStateClient({ url: world.url, apiKey: key, fetch: spoiled, ...options }), calls };
  };

  it("reads are repeated until they are answered; not more often than allowed", async () => {
    const { client, calls } = clientOver((_call, n) =>
      n < 4 ? ["request lost" as const, 503, 429][n - 1] : undefined,
    );
    expect((await client.workflows.stats()).total).toBeGreaterThanOrEqual(0);
    expect(calls).toHaveLength(4);
    const lost = clientOver(() => "request lost", { retries: 2 });
    const error = await lost.client.workflows.stats().catch((thrown: unknown) => thrown);
    expect(PinakesClientError.isInstance(error) && [error.code, error.status, error.retryable]).toEqual([
      "UNAVAILABLE",
      0,
      true,
    ]);
    expect(lost.calls).toHaveLength(3);
    const limited = clientOver(() => 429, { retries: 1 });
    const told = await limited.client.workflows.stats().catch((thrown: unknown) => thrown);
    expect(RateLimitedError.isInstance(told) && told.retryAfterMs).toBe(0);
    const none = clientOver(() => 500);
    await expect(none.client.workflows.stats()).rejects.toMatchObject({
      code: "INTERNAL",
      detail: expect.stringContaining("<h1>no</h1>") as string,
    });
    expect(none.calls).toHaveLength(1);
  });

  it("a server that asks for more than a minute is not waited for; the caller hears how long it is", async () => {
    let calls = 0;
    const busy = (retryAfter: string): typeof fetch => {
      calls = 0;
      return () => {
        calls += 1;
        return Promise.resolve(new Response("{}", { status: 503, headers: { "retry-after": retryAfter } }));
      };
    };
    await expect(createStateClient({ url: world.url, fetch: busy("61") }).workflows.stats()).rejects.toMatchObject({
      code: "UNAVAILABLE",
      retryAfterMs: 61_000,
    });
    expect(calls).toBe(1);
    await expect(
      createStateClient({ url: world.url, fetch: busy("Thu, 01 Jan 1970 00:00:00 GMT"), retries: 2 }).workflows.stats(),
    ).rejects.toMatchObject({
      retryAfterMs: 0,
    });
    expect(calls).toBe(3);
    // Of exactly a minute it is: the call is still under way.
    const stop = new AbortController();
    const waiting = createStateClient({ url: world.url, fetch: busy("60"), signal: stop.signal }).workflows.stats();
    await expect.poll(() => calls).toBe(1);
    stop.abort(new Error("no patience"));
    await expect(waiting).rejects.toThrow("no patience");
  });

  it("a create whose answer was lost is repeated under its key, and is there once", async () => {
    const { client, calls } = clientOver((_call, n) => (n === 1 ? "answer lost" : undefined));
    const made = await client.memories.append({
      agent_id: "once",
      session_id: "s",
      message_type: "user",
      content: "x",
    });
    expect((await client.memories.list({ agent_id: "once" }).all()).map(({ id }) => id)).toEqual([made.id]);
    const keys = calls.filter(({ method }) => method === "POST").map(({ headers }) => headers.get("idempotency-key"));
    expect(keys).toHaveLength(2);
    expect(keys[0]).toBe(keys[1]);
    expect(keys[0]).not.toBeNull();
  });

  it("what cannot be repeated safely is not", async () => {
    const { client, calls } = clientOver(() => "request lost");
    await expect(client.workflows.patch("w", { name: "x" })).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await expect(client.workflows.start("w")).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await expect(client.containers.bulk("c", [])).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(calls).toHaveLength(3);
  });

  it("R-AGT-53 an update whose answer was lost is never applied twice: it says that it does not know", async () => {
    const plain = createStateClient({ url: world.url, apiKey: key });
    const { workflow_id } = await plain.workflows.create({ type: "saga", name: "Lost", total_steps: 9 });
    const increment = (client: StateClient): Promise<unknown> =>
      client.workflows.update(workflow_id, ({ current_step }) => ({ current_step: current_step + 1 }));
    const lost = clientOver(({ method }, n) => (method === "PATCH" && n === 2 ? "answer lost" : undefined));
    await expect(increment(lost.client)).rejects.toMatchObject({ code: "UNKNOWN_OUTCOME", retryable: false });
    expect((await plain.workflows.get(workflow_id)).current_step).toBe(1);
    // A request that never arrived is simply sent again.
    const late = clientOver(({ method }, n) => (method === "PATCH" && n === 2 ? "request lost" : undefined));
    await increment(late.client);
    expect((await plain.workflows.get(workflow_id)).current_step).toBe(2);
  });

  it.each(["request lost", "answer lost"] as const)(
    "a recorder keeps its lines when a flush fails (%s): nothing is lost, nothing is doubled",
    async (how) => {
      const { client, calls } = clientOver((_call, n) => (n === 1 || n === 3 ? how : undefined), { retries: 0 });
      const errors: unknown[] = [];
      const session_id = `flaky-${how.length}`;
      const recorder = client.tools.recorder({
        flushMs: 60_000,
        maxBatch: 10,
        onError: (error, lines) => errors.push([(error as PinakesClientError).code, lines.length]),
      });
      const record = (i: number): boolean =>
        recorder.record({ tool_name: "t", agent_id: "a", session_id, status: "success", duration_ms: i });
      for (let i = 0; i < 25; i += 1) record(i);
      await expect.poll(() => errors).toEqual([["UNAVAILABLE", 0]]);
      await expect(recorder.flush()).rejects.toMatchObject({ code: "UNAVAILABLE" });
      expect(recorder.pending).toBe(15);
      record(25);
      await recorder.close();
      expect(recorder.pending).toBe(0);
      const stored = (await client.tools.list({ session_id }).all())
        .map(({ duration_ms }) => duration_ms)
        .toSorted((a, b) => a - b);
      expect(stored).toEqual(Array.from({ length: 26 }, (_, i) => i));
      expect(calls.filter(({ path }) => path.endsWith(":ingest")).length).toBeGreaterThanOrEqual(5);
    },
  );

  it("a recorder has a bound, and tells what it could not take or send", async () => {
    const { client } = clientOver(() => "request lost", { retries: 0 });
    const errors: unknown[] = [];
    const recorder = client.metrics.recorder({
      maxBuffer: 3,
      maxBatch: 10,
      onError: (error, lines) => errors.push([(error as PinakesClientError).code, lines.length]),
    });
    const line = { agent_id: "a", metric_type: "cost", value: 1 } as const;
    expect([1, 2, 3, 4].map(() => recorder.record(line))).toEqual([true, true, true, false]);
    await expect(recorder.close()).rejects.toMatchObject({
      code: "INCOMPLETE",
      detail: expect.stringContaining("4 recorded lines") as string,
    });
    expect(errors).toEqual([
      ["LIMIT_EXCEEDED", 1],
      ["UNAVAILABLE", 0],
    ]);
    expect(recorder.record(line)).toBe(false);
    for (const options of [{ maxBatch: 0 }, { maxBatch: 10_001 }, { flushMs: 0 }, { maxBuffer: 0.5 }])
      expect(() => client.metrics.recorder(options)).toThrow("whole number");
    expect(client.metrics.recorder({ maxBatch: 10_000 }).pending).toBe(0);
  });

  it("events go on after a connection that broke, from the last one that was seen", async () => {
    const plain = createStateClient({ url: world.url, apiKey: key });
    const { workflow_id } = await plain.workflows.create({ type: "saga", name: "Events", total_steps: 9 });
    const cut: ReadableStreamDefaultReader<Uint8Array>[] = [];
    const { fetch: spoiled, calls } = spoiling((_call, n) => (n === 2 ? 503 : undefined));
    // Gives each event stream to us, so that it can be cut.
    const cutting: typeof fetch = async (input, init) => {
      const response = await spoiled(input, init);
      const reader = response.body?.getReader();
      if (reader === undefined) return response;
      cut.push(reader);
      const body = new ReadableStream<Uint8Array>({
        pull: async (controller) => {
          const { done, value } = await reader.read();
          // As soon as an event has come through, the first connection breaks.
          if (done) controller.error(new TypeError("terminated"));
          else controller.enqueue(value);
          if (cut.length === 1 && value !== undefined && new TextDecoder().decode(value).includes("data:"))
            await reader.cancel();
        },
      });
      return new Response(body, { status: response.status, headers: response.headers });
    };
    const client = createStateClient({ url: world.url, apiKey: key, fetch: cutting });
    const stop = new AbortController();
    const seen: string[] = [];
    const watching = (async () => {
      for await (const { data, id } of client.workflows.events(workflow_id, { signal: stop.signal })) {
        expect(id).not.toBe("");
        seen.push(String((data as { current_step?: number }).current_step));
        if (seen.includes("8")) stop.abort();
      }
    })();
    await expect
      .poll(
        async () => (
          await plain.workflows.update(workflow_id, ({ description }) => ({ description: `${description}.` })),
          seen.length
        ),
      )
      .toBeGreaterThan(0);
    await plain.workflows.patch(workflow_id, { current_step: 8 });
    await watching;
    expect(cut.length).toBeGreaterThanOrEqual(2);
    expect(calls.at(-1)?.headers.get("last-event-id")).not.toBeNull();
  });

  it("a signal ends what is under way, and a time limit what takes too long", async () => {
    const hanging: typeof fetch = (_input, init) =>
      new Promise((_resolve, reject) => {
        const stop = (): void => reject(init?.signal?.reason as Error);
        if (init?.signal?.aborted === true) stop();
        else init?.signal?.addEventListener("abort", stop);
      });
    const stop = new AbortController();
    const client = createStateClient({ url: world.url, apiKey: key, fetch: hanging, signal: stop.signal });
    const call = client.workflows.stats();
    stop.abort(new Error("enough"));
    await expect(call).rejects.toThrow("enough");
    await expect(client.workflows.stats()).rejects.toThrow("enough");
    const slow = createStateClient({ url: world.url, fetch: hanging, timeoutMs: 5, retries: 1 });
    await expect(slow.workflows.stats()).rejects.toMatchObject({
      code: "UNAVAILABLE",
      detail: expect.stringContaining("within 5 ms") as string,
    });
  });

  it("keys may be made for each request; without one the server says so", async () => {
    let asked = 0;
    const client = createStateClient({
      url: `${world.url}/`,
      apiKey: () => {
        asked += 1;
        return Promise.resolve(key);
      },
    });
    await client.workflows.stats();
    await client.workflows.stats();
    expect(asked).toBe(2);
    await expect(createStateClient({ url: world.url }).workflows.stats()).rejects.toMatchObject({
      code: "UNAUTHENTICATED",
      status: 401,
      detail: expect.stringContaining("The first key is in the file `root-token` of the data folder") as string,
      requestId: expect.any(String) as string,
    });
  });

  it("an address that cannot be one is refused at once; one with the version works; a port where nobody listens says so", async () => {
    for (const url of [undefined, "", "127.0.0.1:7991", "localhost", 7430]) {
      const made = () => createStateClient({ url, apiKey: key } as never);
      expect(made).toThrow(PinakesClientError);
      expect(made).toThrow(
        "url: must be the address of the server with http:// or https://, such as http://127.0.0.1:7430; got ",
      );
    }
    expect(
      (await createStateClient({ url: `${world.url}/v1/`, apiKey: key }).workflows.stats()).total,
    ).toBeGreaterThanOrEqual(0);
    const nobody = createServer();
    await new Promise<void>((resolve) => void nobody.listen(0, "127.0.0.1", resolve));
    const { port } = nobody.address() as AddressInfo;
    await new Promise<void>((resolve) => void nobody.close(() => resolve()));
    const refused = await createStateClient({ url: `http://127.0.0.1:${port}`, retries: 0 })
      .workflows.stats()
      .catch((thrown: unknown) => thrown);
    expect(PinakesClientError.isInstance(refused) && refused.detail).toBe(
      `http://127.0.0.1:${port} could not be reached: connect ECONNREFUSED 127.0.0.1:${port}. Check the address, and that the server runs.`,
    );
    const secure = await createStateClient({ url: world.url.replace("http:", "https:"), retries: 0 })
      .workflows.stats()
      .catch((thrown: unknown) => thrown);
    expect(PinakesClientError.isInstance(secure) && secure.detail).toContain(
      "it does not speak https there; use http://",
    );
  });

  it("R-AGT-93 a server that asks for patience gets it: 429 with Retry-After, then the answer", async () => {
    const limiter = new RateLimiter({
      caller: { perSecond: 1, burst: 1 },
      authFailures: { perSecond: 1e6, burst: 1e6 },
    });
    const app = await createApp(world.pinakes, { limiter });
    const server = await serve(app, { host: "127.0.0.1", port: 0 });
    try {
      const statuses: number[] = [];
      const watched: typeof fetch = async (input, init) => {
        const response = await fetch(input, init);
        statuses.push(response.status);
        return response;
      };
      const client = createClient(httpApi({ url: server.url, apiKey: key, fetch: watched, retries: 10 }));
      await Promise.all([client.workflows.stats(), client.workflows.stats()]);
      expect(statuses).toContain(429);
      expect(statuses.filter((status) => status === 200)).toHaveLength(2);
    } finally {
      await server.close();
    }
  });
});

describe("session tokens", () => {
  it("R-AGT-02 what answers carry is sent back, the newest when there are many", async () => {
    const sent: (string | null)[] = [];
    let answer = 0;
    const server: typeof fetch = (_input, init) => {
      sent.push(new Headers(init?.headers).get("x-session-token"));
      answer += 1;
      return Promise.resolve(
        new Response("{}", { headers: { "x-session-token": `c~${String(answer).padStart(60, "t")} c~same` } }),
      );
    };
    const api = httpApi({ url: "http://server", fetch: server });
    for (let i = 0; i < 100; i += 1) await api.workflows.stats();
    expect(sent.slice(0, 2)).toEqual([null, `c~${"1".padStart(60, "t")} c~same`]);
    const last = sent.at(-1) as string;
    expect(last.length).toBeLessThanOrEqual(4_096);
    expect(last.endsWith(`c~${"99".padStart(60, "t")} c~same`)).toBe(true);
    expect(last.split(" ").length).toBeGreaterThan(50);
  });

  it("R-AGT-02 on an engine whose indexes are late a client sees its own writes", async () => {
    await using world = await openWorld("dynamodb-late", "http");
    const client = createClient(await world.api());
    for (let i = 0; i < 5; i += 1) {
      const { workflow_id } = await client.workflows.create({ type: "saga", name: `w${i}`, total_steps: 1 });
      expect((await client.workflows.list({ status: "pending" }).all()).map((one) => one.workflow_id)).toContain(
        workflow_id,
      );
    }
  });
});
