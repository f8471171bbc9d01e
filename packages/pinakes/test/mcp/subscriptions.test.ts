/** Subscriptions at both revisions: what changes reaches those who may see it, and nobody else. */
import { beforeAll, describe, expect, it } from "vitest";
import { connectionDefaults } from "../../src/config-connections.ts";
import { messagesOf, openMcpServer } from "./support/mcp-server.ts";
import { forAllTests } from "../support/for-tests.ts";

let [ann, eve] = ["", ""];
const server = forAllTests(() => openMcpServer());
beforeAll(async () => {
  [ann, eve] = [await server.key("w1", "ann"), await server.key("w2", "eve")];
});

const workflowUri = "state://workflows/wf-1";
const listen = (key: string, uris: readonly string[], signal: AbortSignal) =>
  server.modern(
    "subscriptions/listen",
    { notifications: { resourcesListChanged: true, resourceSubscriptions: uris } },
    { key, signal },
  );

/** The URIs and lists that a stream tells of, until one of them is awaited. */
async function until(response: Response, wanted: string): Promise<readonly string[]> {
  const seen: string[] = [];
  for await (const { method, params } of messagesOf(response)) {
    if (method === "notifications/resources/updated") seen.push(params?.uri ?? "");
    if (method === "notifications/resources/list_changed") seen.push("list");
    if (seen.includes(wanted)) break;
  }
  return seen;
}

function stateOf(workspace: string, userId: string) {
  return server.pinakes.state.as(server.pinakes.as({ tenant: workspace, userId }));
}

/** Writes again and again until the stream has told of it: the stream follows from the moment it is open. */
async function whileWriting<T>(write: (n: number) => Promise<unknown>, reading: Promise<T>): Promise<T> {
  let done = false;
  const finished = reading.finally(() => {
    done = true;
  });
  for (let n = 1; !done; n += 1) {
    await write(n);
    await Promise.race([finished.catch(() => {}), new Promise((resolve) => setTimeout(resolve, 200))]);
  }
  return finished;
}

describe("subscriptions/listen (2026-07-28)", () => {
  it("tells of workflows and collections of the caller; another workspace's changes of the same URI stay there", async () => {
    const stop = new AbortController();
    for (const [workspace, user] of [
      ["w1", "ann"],
      ["w2", "eve"],
    ] as const)
      await stateOf(workspace, user).workflows.create({
        type: "sequential",
        name: "w",
        total_steps: 9,
        workflow_id: "wf-1",
      });
    const streams = await Promise.all([ann, eve].map((key) => listen(key, [workflowUri], stop.signal)));
    expect(streams.map(({ status }) => status)).toEqual([200, 200]);
    const [annStream, eveStream] = streams as [Response, Response];
    const eves: string[] = [];
    const reading = (async () => {
      for await (const { method, params } of messagesOf(eveStream))
        if (method?.startsWith("notifications/resources/") === true) eves.push(params?.uri ?? "list");
    })().catch(() => {});
    const patch = (n: number) => stateOf("w1", "ann").workflows.patch("wf-1", { description: `change ${n}` });
    expect(await whileWriting(patch, until(annStream, workflowUri))).toContain(workflowUri);
    expect(eves).toEqual([]);
    stop.abort();
    await reading;
  });

  it("tells that the list of collections has changed", async () => {
    const stop = new AbortController();
    const stream = await listen(ann, [], stop.signal);
    const knowledge = server.pinakes.knowledge;
    const caller = server.pinakes.as({ tenant: "w1", userId: "ann" });
    const create = (n: number) =>
      knowledge.collections.create(caller, "me", { collection_id: `c-${n}`, name: `C ${n}` });
    expect(await whileWriting(create, until(stream, "list"))).toContain("list");
    stop.abort();
  });
});

describe("resources/subscribe (2025-11-25)", () => {
  it("tells on the session's stream, until unsubscribed", async () => {
    const session = await server.session(ann);
    const headers = { "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" };
    const send = (method: string) =>
      server.post({ jsonrpc: "2.0", id: 5, method, params: { uri: workflowUri } }, { key: ann, headers });
    expect((await send("resources/subscribe")).status).toBe(200);
    const stop = new AbortController();
    const stream = await server.post(undefined, { method: "GET", key: ann, headers, signal: stop.signal });
    const patch = (n: number) => stateOf("w1", "ann").workflows.patch("wf-1", { description: `again ${n}` });
    expect(await whileWriting(patch, until(stream, workflowUri))).toContain(workflowUri);
    expect((await send("resources/unsubscribe")).status).toBe(200);
    stop.abort();
  });
});

/** SUBSCRIPTIONS: how many streams one user tries to open; 10,000 in `npm run test:long`. */
const streams = Number(process.env["SUBSCRIPTIONS"] ?? 1_000);

describe("many subscriptions", () => {
  it("beyond the limit of a user are refused in the protocol's form, and free again when others end", async () => {
    const limits = { ...connectionDefaults, eventStreamsMax: 20, eventStreamsPerUserMax: 10 };
    await using small = await openMcpServer({}, { connections: limits });
    const key = await small.key("w1", "ann");
    const stop = new AbortController();
    const listenTo = () =>
      small.modern(
        "subscriptions/listen",
        { notifications: { resourceSubscriptions: [workflowUri] } },
        { key, signal: stop.signal },
      );
    const answers: Response[] = [];
    const refusals: number[] = [];
    for (let n = 0; n < streams; n += 100) {
      const some = await Promise.all(Array.from({ length: 100 }, listenTo));
      for (const response of some)
        if (response.status === 200 || answers.length < 100) answers.push(response);
        else if ((await response.arrayBuffer()).byteLength > 0) refusals.push(response.status);
    }
    expect(refusals.length + answers.length).toBe(streams);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(new Set([...refusals, ...refused.map(({ status }) => status)])).toEqual(new Set([429]));
    expect(await refused[0]?.json()).toMatchObject({
      jsonrpc: "2.0",
      error: { message: expect.stringContaining("event streams") as string },
    });
    stop.abort();
    const again = new AbortController();
    for (let open = false; !open;) {
      const response = await small.modern(
        "subscriptions/listen",
        { notifications: { resourceSubscriptions: [workflowUri] } },
        { key, signal: again.signal },
      );
      open = response.status === 200;
    }
    again.abort();
  });

  it("of one client: 1,000 resources are accepted, one more is refused, and those before it stay", async () => {
    const uri = (n: number) => `state://workflows/w-${n}`;
    const uris = Array.from({ length: 1_001 }, (_, n) => uri(n));
    const stop = new AbortController();
    const refused = await listen(ann, uris, stop.signal);
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      {
        jsonrpc: "2.0",
        error: { code: -32_600, message: expect.stringContaining("At most 1000 resources") as string },
      },
    ]);
    const accepted = await listen(ann, uris.slice(1), stop.signal);
    expect(accepted.status).toBe(200);
    stop.abort();

    const headers = { "mcp-session-id": await server.session(ann), "mcp-protocol-version": "2025-11-25" };
    const send = async (method: string, n: number) => {
      const body = { jsonrpc: "2.0", id: n, method, params: { uri: uri(n) } };
      const [answer] = await Array.fromAsync(messagesOf(await server.post(body, { key: ann, headers })));
      return answer;
    };
    for (let n = 0; n < 1_000; n += 1) expect(await send("resources/subscribe", n)).toMatchObject({ result: {} });
    const message = expect.stringContaining("At most 1000 resources") as string;
    expect(await send("resources/subscribe", 1_000)).toMatchObject({ error: { code: -32_600, message } });
    // One that is subscribed to already, and another in its place.
    expect(await send("resources/subscribe", 0)).toMatchObject({ result: {} });
    expect(await send("resources/unsubscribe", 1)).toMatchObject({ result: {} });
    expect(await send("resources/subscribe", 1_000)).toMatchObject({ result: {} });
  });
});
