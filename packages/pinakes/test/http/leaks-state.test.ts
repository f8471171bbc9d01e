/** Leaks of agents' state: every operation about it, called by everybody of another workspace and with every bad credential. */
import { describe, expect, it } from "vitest";
import { fillState, newMarker } from "../state/support/secret-state.ts";
import { until } from "../support/until.ts";
import { howToCallState } from "./support/leak-calls-state.ts";
import { describeCall, StateLeaks, type Call } from "./support/leak-walk-state.ts";
import type { Json, Reply } from "./support/server.ts";
import { forAllTests } from "../support/for-tests.ts";

const leaks = forAllTests(() => StateLeaks.open());

const reads = ({ method, how }: Call): boolean =>
  (method === "GET" || how.changes === false) && ["thing", "empty"].includes(how.kind);

describe("the walk", () => {
  it("knows how to call every operation about state, and no other", () => {
    expect(Object.keys(howToCallState).toSorted()).toEqual(leaks.operations.map(({ id }) => id).toSorted());
    expect(leaks.operations.length).toBeGreaterThan(80);
  });

  it("is not blind: who is of the workspace gets all of it from these same calls", async () => {
    const { target, secret, ann } = leaks.world;
    const blind = new Set(leaks.calls.filter(reads).map(({ id }) => id));
    for (const call of leaks.calls.filter((one) => reads(one) && one.how.streams !== true)) {
      const { reply } = await leaks.send(call, target, ann);
      if (reply.text.includes(secret) || reply.text.includes("31415") || reply.text.includes("27182"))
        blind.delete(call.id);
    }
    // Definitions, counts, plans and checks have no text of anybody in them.
    const bare = [
      "countWorkflows",
      "listAgents",
      "listSessions",
      "getSession",
      "listMetricNames",
      "listRollups",
      "getToolLogSettings",
      "verifyToolChain",
    ];
    const plain = ["listContainers", "getContainer", "listContainerIndexes", "explainContainerQuery", "followWorkflow"];
    expect([...blind].toSorted()).toEqual([...bare, ...plain].toSorted());
    const shown = async (path: string): Promise<string> => (await leaks.server.call("GET", path, { key: ann })).text;
    expect(await shown("/v1/workflows:stats")).toContain('"total":2');
    expect(await shown("/v1/agents")).toContain(`"agent_id":"${target.aid}"`);
    expect(await shown(`/v1/agents/${target.aid}/sessions`)).toContain(target.unit);
    expect(await shown(`/v1/tool-log/${target.date}/chain`)).toContain('"entries":1');
    expect(await shown("/v1/metrics/rollups")).toContain('"rows":1');
    expect(await shown("/v1/metrics/names")).toContain(`"dimensions.${target.name}"`);
    expect(await shown("/v1/tool-log/settings")).toContain("true");
    expect(await shown("/v1/containers")).toContain(target.c);
  });
});

describe("another workspace", () => {
  it.each(["user", "admin"] as const)(
    "R-AGT-09 its %s finds nothing by any name: the answer is that about what never was, to the byte; lists, counts, figures, searches and exports are empty",
    async (role) => {
      const key = await leaks.server.key("w2", role, { role });
      await leaks.unchanged(async () => expect(await leaks.walk(key, role === "admin")).toBeGreaterThan(180));
    },
  );

  it.each(["user", "admin"] as const)(
    "R-AGT-09 its %s may use the same names, ids and keys: all are free, and the others' things stay as they are",
    async (role) => {
      await leaks.unchanged(async () => expect(await leaks.walkMaking(role)).toBeGreaterThan(25));
    },
  );

  it("R-AGT-09 with one of everything under the same names it can change, count, clear and delete its own, and only that", async () => {
    const { server, world } = leaks;
    const admin = server.pinakes.as({ tenant: "w6", userId: "eve", role: "admin" });
    const key = await server.key("w6", "eve", { role: "admin" });
    await leaks.unchanged(async () => {
      await fillState(server.pinakes.state, admin, world.target, newMarker(), Date.now());
      let worked = 0;
      for (const call of leaks.calls) {
        const { reply, sent } = await leaks.send(call, world.target, key);
        expect(reply.status, `${describeCall(call)}: ${reply.text}`).toBeLessThan(
          500 + (call.how.status === 501 ? 2 : 0),
        );
        leaks.expectNothing(reply, sent, describeCall(call), { sameNames: true });
        if (reply.status < 300) worked += 1;
      }
      expect(worked).toBeGreaterThan(100);
    });
  });

  it("a body that says it is of w1 is 403 on what is the caller's own, too", async () => {
    const { server } = leaks;
    const key = await server.key("w7", "eve", { role: "admin" });
    const call = (method: string, path: string, body: unknown): Promise<Reply> =>
      server.call(method, path, { key, body });
    await call("POST", "/v1/workflows", { workflow_id: "w", type: "saga", name: "n", total_steps: 1 });
    await call("PUT", "/v1/containers/notes", { partition_key: "/owner" });
    await call("POST", "/v1/containers/notes/items", { id: "n", owner: "o" });
    await call("POST", "/v1/agents/a/memories", { id: "m", session_id: "s", content: "c", message_type: "user" });
    const foreign = { workspace_id: "w1" };
    const move = { operations: [{ op: "set", path: "/workspace_id", value: "w1" }] };
    const tries: readonly (readonly [method: string, path: string, body: unknown])[] = [
      ["POST", "/v1/containers/notes/items", { id: "x", owner: "o", ...foreign }],
      ["POST", "/v1/containers/notes/items?upsert=true", { id: "n", owner: "o", ...foreign }],
      ["PUT", "/v1/containers/notes/items/n", { id: "n", owner: "o", ...foreign }],
      ["PATCH", "/v1/containers/notes/items/n?pk=o", move],
      ["PATCH", "/v1/containers/agent-memories/items/m?pk=a", move],
      [
        "PATCH",
        "/v1/containers/agent-memories/items/m?pk=a",
        { operations: [{ op: "remove", path: "/workspace_id" }] },
      ],
      [
        "POST",
        "/v1/containers/notes/batch",
        { pk: "o", operations: [{ op: "create", document: { id: "x", owner: "o", ...foreign } }] },
      ],
      ["POST", "/v1/containers/notes/batch", { pk: "o", operations: [{ op: "patch", id: "n", ...move }] }],
    ];
    await leaks.unchanged(async () => {
      for (const [method, path, body] of tries) {
        const reply = await call(method, path, body);
        expect([reply.status, reply.json["code"]], `${method} ${path} ${JSON.stringify(body)}: ${reply.text}`).toEqual([
          403,
          "FORBIDDEN",
        ]);
      }
      // Its workspace is nothing that a change of a workflow may name at all.
      expect((await call("PATCH", "/v1/workflows/w", foreign)).status).toBe(403);
      const line = (
        await call("POST", "/v1/containers/notes/bulk", { operations: [{ op: "patch", pk: "o", id: "n", ...move }] })
      ).json["lines"] as Json[];
      expect(line[0]).toMatchObject({ status: 403 });
    });
    expect((await server.call("GET", "/v1/containers/notes/items/n?pk=o", { key })).json["workspace_id"]).toBe("w7");
  });
});

describe("what one workspace was given opens nothing in another", () => {
  it("R-AGT-09 cursors of every list, query and feed are refused", async () => {
    const { server, world } = leaks;
    const { target, ann } = world;
    const eve = await server.key("w4", "eve", { role: "admin" });
    const sql = { query: "SELECT * FROM c ORDER BY c.id", limit: 1 };
    const tries: readonly (readonly [path: string, body?: Json])[] = [
      ["/v1/workflows?limit=1"],
      [`/v1/agents/${target.aid}/memories?limit=1`],
      [`/v1/agents/${target.aid}/sessions?limit=1`],
      [`/v1/agents/${target.aid}/sessions/${target.sid}/messages?limit=1`],
      [`/v1/threads/${target.threadId}/messages?limit=1`],
      [`/v1/system-threads/${target.threadId}/messages?limit=1`],
      ["/v1/metrics?limit=1"],
      ["/v1/tool-invocations?limit=1"],
      ["/v1/containers/agent-memories/query", sql],
      ["/v1/containers/agent-metrics/query", { index: "byTime", equals: { workspace_id: "w1" }, limit: 1 }],
      ["/v1/containers/tool-invocations/query", { query: "SELECT * FROM c ORDER BY c.timestamp DESC", limit: 1 }],
      ["/v1/containers/workflow-states/changes?limit=1"],
      ["/v1/containers/agent-memories/changes?limit=1&mode=all"],
    ];
    await leaks.unchanged(async () => {
      for (const [path, body] of tries) {
        const send = (key: string, cursor?: string): Promise<Reply> =>
          body === undefined
            ? server.call("GET", cursor === undefined ? path : `${path}&cursor=${encodeURIComponent(cursor)}`, { key })
            : server.call("POST", path, { key, body: cursor === undefined ? body : { ...body, cursor } });
        const page = await send(ann);
        const cursor = (page.json["next_cursor"] ?? page.json["cursor"]) as string;
        expect(cursor, `${path}: ${page.text}`).toBeTypeOf("string");
        const reply = await send(eve, cursor);
        expect(reply.status, `${path}: ${reply.text}`).toBe(400);
        leaks.expectNothing(reply, `${path} ${cursor}`, path);
        expect((await send(ann, cursor)).status, path).toBe(200);
      }
      // A place in time that anybody may name: it shows the caller's own hours, of which there are none.
      const { next_cursor } = (
        await server.call("GET", `/v1/metrics/rollups?limit=1&from=${target.dayBefore}T00:00:00Z`, { key: ann })
      ).json;
      const harmless = await server.call(
        "GET",
        `/v1/metrics/rollups?from=${target.dayBefore}T00:00:00Z&cursor=${next_cursor as string}`,
        { key: eve },
      );
      expect(harmless.json).toEqual({ items: [], next_cursor: null });
    });
  });

  it("R-AGT-09 session tokens and ids of events are refused; an Idempotency-Key repeats nobody else's answer", async () => {
    const { server, world } = leaks;
    const { target, admin, ann } = world;
    const { result, sessions } = await server.pinakes.withSessions(() =>
      server.pinakes.state.memories.append(admin, {
        agent_id: "tokens",
        session_id: "s",
        content: world.secret,
        message_type: "user",
      }),
    );
    const token = sessions.find(({ container }) => container === "agent-memories")?.token as string;
    expect(token).toBeTypeOf("string");
    const eve = await server.key("w4", "ann", { role: "admin" });
    const withToken = await server.call("GET", "/v1/agents/tokens/memories", {
      key: eve,
      headers: { "x-session-token": `agent-memories~${token}` },
    });
    expect(withToken.status, withToken.text).toBe(400);
    leaks.expectNothing(withToken, token, "X-Session-Token");
    expect(
      (
        await server.call("GET", "/v1/agents/tokens/memories", {
          key: ann,
          headers: { "x-session-token": `agent-memories~${token}` },
        })
      ).text,
    ).toContain(result.id);
    const stop = new AbortController();
    const stream = server.pinakes.state.workflows.events(admin, target.wid, { signal: stop.signal });
    const events = stream[Symbol.asyncIterator]();
    const first = events.next();
    await until(async () => {
      await server.pinakes.state.workflows.patch(
        admin,
        target.wid,
        { description: `changed ${world.secret}` },
        { fencingToken: 1 },
      );
      return Promise.race([first.then(() => true), new Promise<false>((done) => void setImmediate(() => done(false)))]);
    });
    const { id } = (await first).value as { id: string };
    stop.abort();
    const follow = `/v1/workflows/${target.wid}/events`;
    expect((await server.call("GET", follow, { key: eve, headers: { "last-event-id": id } })).status).toBe(400);
    const body = { type: "saga", name: "Once", total_steps: 1 };
    const once = (key: string): Promise<Reply> =>
      server.call("POST", "/v1/workflows", { key, body, headers: { "idempotency-key": "same-for-both" } });
    const [theirs, again, mine] = [await once(ann), await once(ann), await once(eve)];
    expect([again.headers.get("idempotency-replayed"), again.json["workflow_id"]]).toEqual([
      "true",
      theirs.json["workflow_id"],
    ]);
    expect([mine.status, mine.headers.get("idempotency-replayed"), mine.json["workspace_id"]]).toEqual([
      201,
      null,
      "w4",
    ]);
    expect(mine.json["workflow_id"]).not.toBe(theirs.json["workflow_id"]);
  });

  it("R-AGT-09 streams tell of the caller's workspace only, also of what has the same name in both", async () => {
    const { server, world } = leaks;
    const { target, admin } = world;
    const key = await server.key("w9", "eve", { role: "admin" });
    const { state } = server.pinakes;
    const eve = server.pinakes.as({ tenant: "w9", userId: "eve" });
    await state.workflows.create(eve, {
      workflow_id: target.wid,
      id: target.wid,
      type: "saga",
      name: "mine",
      total_steps: 1,
    });
    const stop = new AbortController();
    const headers = { accept: "text/event-stream" };
    const paths = [
      `/v1/workflows/${target.wid}/events`,
      "/v1/containers/workflow-states/changes?from=now",
      "/v1/containers/agent-memories/changes?from=now",
    ];
    const heard = await Promise.all(
      paths.map(async (path) => listen(await server.raw("GET", path, { key, headers, signal: stop.signal }))),
    );
    const mine = async (): Promise<boolean> => {
      await state.workflows.patch(eve, target.wid, { description: "mine" });
      await state.memories.append(eve, {
        agent_id: target.aid,
        session_id: target.sid,
        content: "mine",
        message_type: "user",
      });
      return heard.every(({ text }) => text().includes("data:"));
    };
    await until(mine);
    await state.workflows.patch(admin, target.wid, { current_step: 7, description: world.secret }, { fencingToken: 1 });
    await state.workflows.checkpoint(
      admin,
      target.wid,
      { step: 7, state: { secret: world.secret } },
      { fencingToken: 1 },
    );
    await state.memories.append(admin, {
      agent_id: target.aid,
      session_id: target.sid,
      content: world.secret,
      message_type: "user",
    });
    // Whatever came before has been told when something later of their own is.
    const before = heard.map(({ text }) => text().length);
    await until(async () => (await mine()) && heard.every(({ text }, i) => text().length > (before[i] as number)));
    stop.abort();
    await Promise.all(heard.map(({ done }) => done));
    for (const [i, { text }] of heard.entries()) {
      leaks.expectNothing({ text: text(), headers: new Headers() }, JSON.stringify(target), paths[i] as string);
      expect(text(), paths[i]).not.toMatch(/"current_step":7|"checkpoint\.added"|"workspace_id":"w1"/);
    }
  });
});

interface Heard {
  readonly text: () => string;
  readonly done: Promise<void>;
}

function listen(response: Response): Heard {
  expect(response.status).toBe(200);
  let text = "";
  const decoder = new TextDecoder();
  const read = async (): Promise<void> => {
    for await (const chunk of response.body as ReadableStream<Uint8Array>)
      text += decoder.decode(chunk, { stream: true });
  };
  return { text: () => text, done: read().catch(() => {}) };
}

describe("credentials", () => {
  /** Everything is refused, in one wording, and nothing happens. */
  async function refusedEverywhere(key: string | undefined): Promise<void> {
    const wordings = new Set<string>();
    await leaks.unchanged(async () => {
      for (const call of leaks.calls) {
        const { reply, sent } = await leaks.send(call, leaks.world.target, key);
        expect(reply.status, `${describeCall(call)}: ${reply.text}`).toBe(401);
        expect(reply.headers.get("www-authenticate"), describeCall(call)).toBe('Bearer realm="pinakes"');
        leaks.expectNothing(reply, sent, describeCall(call));
        wordings.add(reply.text);
      }
    });
    expect(leaks.calls.length).toBeGreaterThan(200);
    expect([...wordings]).toHaveLength(1);
  }

  it("without any, with a revoked key and with one that has expired every operation is 401", async () => {
    const { server, world } = leaks;
    await refusedEverywhere(undefined);
    const revoked = await server.key("w1", "gone");
    const at = `/v1/workflows/${world.target.wid}`;
    expect((await server.call("GET", at, { key: revoked })).status).toBe(200);
    const boss = await server.key("w1", "boss", { role: "admin" });
    expect((await server.call("DELETE", `/v1/keys/${revoked.split("_")[1] as string}`, { key: boss })).status).toBe(
      204,
    );
    await refusedEverywhere(revoked);
    const late = await server.key("w1", "late", { expires_at: new Date(Date.now() + 60_000).toISOString() });
    expect((await server.call("GET", at, { key: late })).status).toBe(200);
    server.later(60_001);
    await refusedEverywhere(late);
  });

  it("a key that is read-only reads everything, by POST too, and changes nothing: 403", async () => {
    const { server, world } = leaks;
    const key = await server.key("w1", "reader", { role: "admin", scopes: ["read"] });
    let refused = 0;
    let read = 0;
    // A search brings its index up to date; that is not for the reader to do here.
    for (const call of leaks.calls.filter(({ id }) => id === "searchMemories"))
      await leaks.send(call, world.target, world.ann);
    await leaks.unchanged(async () => {
      for (const call of leaks.calls.filter(({ method, how }) => method !== "GET" && how.changes !== false)) {
        const { reply } = await leaks.send(call, world.target, key);
        expect(reply.status, `${describeCall(call)}: ${reply.text}`).toBe(403);
        expect(reply.json["detail"], describeCall(call)).toContain("is read-only");
        refused += 1;
      }
      for (const call of leaks.calls.filter(reads)) {
        const { reply } = await leaks.send(call, world.target, key);
        expect([200, 304, ...(isOurs(call) ? [404] : [])], `${describeCall(call)}: ${reply.text}`).toContain(
          reply.status,
        );
        read += 1;
      }
    });
    expect([refused > 100, read > 80]).toEqual([true, true]);
  });
});

/** Ids that begin with "~" are the system's own: nobody gets them. */
function isOurs({ how }: Call): boolean {
  return how.params?.(leaks.world.target)["id"]?.startsWith("~") === true;
}
