/** What holds for the client whatever is behind it: an embedded Pinakes or a server. */
import { describe, expect, it } from "vitest";
import {
  ConflictError,
  createClient,
  NotFoundError,
  PinakesClientError,
  PreconditionFailedError,
  type NewToolInvocation,
  type StateClient,
  type WorkflowEvent,
} from "../src/index.ts";
import { containerTests } from "./contract-containers.ts";
import { callTests } from "./contract-calls.ts";
import { fresh, type Context } from "./support/context.ts";
import { openWorld, type Engine, type Via } from "./support/worlds.ts";
import { forAllTests } from "../../pinakes/test/support/for-tests.ts";

export function contractTests(engine: Engine, via: Via): void {
  describe(`the client on ${engine}, ${via}`, () => {
    const world = forAllTests(() => openWorld(engine, via));
    const client = forAllTests(async () => createClient(await world.api()));
    const context: Context = { world: () => world, client: () => client };
    updates(context);
    lists(context);
    errors(context);
    events(context);
    recorders(context);
    wording(context);
    containerTests(context);
    callTests(context);
  });
}

function updates({ world, client }: Context): void {
  it("R-AGT-53 a hundred updates at once, by four clients, end at exactly +100", async () => {
    const { workflow_id } = await client().workflows.create({
      type: "sequential",
      name: "Counted",
      total_steps: 1_000,
    });
    const clients = await Promise.all(Array.from({ length: 4 }, async () => createClient(await world().api())));
    const counts = await Promise.all(
      Array.from({ length: 100 }, async (_, i) => {
        const { current_step } = await (clients[i % 4] as StateClient).workflows.update(
          workflow_id,
          (workflow) => ({ ...workflow, current_step: workflow.current_step + 1 }),
          { retries: 100 },
        );
        return current_step;
      }),
    );
    expect(new Set(counts).size).toBe(100);
    expect((await client().workflows.get(workflow_id)).current_step).toBe(100);
  });

  it("R-AGT-53 the same for documents of any shape in a container of one's own", async () => {
    const container = client().container<{ id: string; owner: string; count: number }>(fresh("counters"));
    await container.define({ partition_key: "/owner" });
    await container.create({ id: "c", owner: "o", count: 0 });
    const others = createClient(await world().api()).container<{ id: string; owner: string; count: number }>(
      container.name,
    );
    await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        (i % 2 === 0 ? container : others).update(
          "o",
          "c",
          (document) => ({ ...document, count: document.count + 1 }),
          { retries: 100 },
        ),
      ),
    );
    expect(await container.read("o", "c")).toMatchObject({ count: 100 });
  });

  it("an update writes only what it changed; one that changes nothing writes nothing; an error of the function is the caller's", async () => {
    const made = await client().workflows.create({
      type: "saga",
      name: "Small",
      total_steps: 3,
      metadata: { tags: ["a"] },
    });
    const same = await client().workflows.update(made.workflow_id, (workflow) => structuredClone(workflow));
    expect(same._etag).toBe(made._etag);
    const named = await client().workflows.update(made.workflow_id, () => Promise.resolve({ name: "Named" }));
    expect([named.name, named.metadata.tags, named.created_at]).toEqual(["Named", ["a"], made.created_at]);
    await expect(
      client().workflows.update(made.workflow_id, () => {
        throw new RangeError("mine");
      }),
    ).rejects.toThrow(RangeError);
    await expect(client().workflows.update("nobody", (workflow) => workflow)).rejects.toThrow(NotFoundError);
  });

  it("an update gives up after its retries, with the etag that is there now", async () => {
    const { workflow_id } = await client().workflows.create({ type: "saga", name: "Contended", total_steps: 3 });
    const other = createClient(await world().api());
    let calls = 0;
    const update = client().workflows.update(
      workflow_id,
      async () => {
        calls += 1;
        await other.workflows.patch(workflow_id, { description: `faster ${calls}` });
        return { name: "Late" };
      },
      { retries: 2 },
    );
    const error = await update.catch((thrown: unknown) => thrown);
    expect(PreconditionFailedError.isInstance(error) && error.currentEtag).toBe(
      (await other.workflows.get(workflow_id))._etag,
    );
    expect(calls).toBe(3);
  });
}

function lists({ client }: Context): void {
  it("lists are iterated over all their pages, or read page by page", async () => {
    const [agent_id, session_id] = [fresh("agent"), "s"];
    for (let i = 0; i < 23; i += 1)
      await client().memories.append({
        agent_id,
        session_id,
        message_type: "user",
        content: `m${i}`,
        timestamp: new Date(1_800_000_000_000 + i * 1_000).toISOString(),
      });
    const contents: string[] = [];
    for await (const { content } of client().memories.list({ agent_id, session_id, limit: 5 })) contents.push(content);
    expect(contents).toEqual(Array.from({ length: 23 }, (_, i) => `m${i}`));
    const list = client().memories.list({ agent_id, session_id, limit: 10 });
    const first = await list.page();
    const second = await list.page({ cursor: first.next_cursor as string });
    expect([first.items.length, second.items[0]?.content, (await list.page({ limit: 2 })).items.length]).toEqual([
      10,
      "m10",
      2,
    ]);
    for await (const { content } of list) if (content === "m3") break;
    expect((await list.all()).length).toBe(23);
    const [session] = await client().memories.sessions(agent_id).all();
    expect(session).toMatchObject({ session_id, message_count: 23 });
    const agents = await client().memories.agents({ limit: 1 }).all();
    expect(agents.map((agent) => agent.agent_id)).toContain(agent_id);
  });

  it("R-AGT-32 a context window is asked for by tokens", async () => {
    const [agent_id, session_id] = [fresh("agent"), "s"];
    await client().memories.appendMany(
      agent_id,
      Array.from({ length: 10 }, (_, i) => ({
        session_id,
        message_type: "user" as const,
        content: `m${i}`,
        token_count: 10,
        timestamp: new Date(1_800_000_000_000 + i).toISOString(),
      })),
    );
    const window = await client().memories.context({ agent_id, session_id, maxTokens: 35 });
    expect([window.messages.map(({ content }) => content), window.token_count, window.omitted]).toEqual([
      ["m7", "m8", "m9"],
      30,
      7,
    ]);
  });
}

function errors({ world, client }: Context): void {
  it("errors have classes, codes and what to do, wherever they come from", async () => {
    const made = await client().workflows.create({ type: "saga", name: "Errors", total_steps: 3 });
    const caught = async (call: Promise<unknown>): Promise<PinakesClientError> => {
      const error = await call.then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (!PinakesClientError.isInstance(error)) throw new Error(`not an error of the client: ${String(error)}`);
      return error;
    };
    const missing = await caught(client().workflows.get("nobody"));
    expect([
      missing instanceof NotFoundError,
      NotFoundError.isInstance(missing),
      missing.code,
      missing.status,
      missing.retryable,
    ]).toEqual([true, true, "NOT_FOUND", 404, false]);
    expect(missing.detail).not.toBe("");
    const stale = await caught(client().workflows.patch(made.workflow_id, { name: "x" }, { ifMatch: "stale" }));
    expect([stale.code, PreconditionFailedError.isInstance(stale) && stale.currentEtag]).toEqual([
      "PRECONDITION_FAILED",
      made._etag,
    ]);
    const conflict = await caught(
      client()
        .workflows.resume(made.workflow_id)
        .then(() => client().workflows.complete(made.workflow_id))
        .then(() => client().workflows.start(made.workflow_id)),
    );
    expect([ConflictError.isInstance(conflict), NotFoundError.isInstance(conflict), conflict.status]).toEqual([
      true,
      false,
      409,
    ]);
    const invalid = await caught(client().workflows.create({ type: "nonsense" as never, name: "x", total_steps: 1 }));
    expect([invalid.code, invalid.detail]).toEqual(["INVALID", expect.stringContaining("state_machine")]);
    const forbidden = await caught(
      client().memories.append({
        agent_id: "a",
        session_id: "s",
        message_type: "user",
        content: "x",
        workspace_id: "another",
      }),
    );
    expect(forbidden.code).toBe("FORBIDDEN");
    const other = createClient(await world().api("other"));
    expect((await caught(other.workflows.get(made.workflow_id))).detail).toBe(
      (await caught(other.workflows.get(made.workflow_id))).detail,
    );
    await caught(Array.fromAsync(client().workflows.events("nobody", { signal: AbortSignal.timeout(10_000) })));
    const batch = await caught(client().containers.batch(fresh("nowhere"), "p", [{ op: "read", id: "x" }]));
    expect(batch.code).toBe("NOT_FOUND");
  });
}

function events({ client }: Context): void {
  it("events of a workflow come as they happen, and go on after the last one that was seen", async () => {
    const { workflow_id } = await client().workflows.create({ type: "saga", name: "Watched", total_steps: 3 });
    const stop = new AbortController();
    const seen: WorkflowEvent[] = [];
    const watching = (async () => {
      for await (const event of client().workflows.events(workflow_id, { signal: stop.signal })) {
        seen.push(event);
        if (event.type === "checkpoint.added") stop.abort();
      }
    })();
    // Until it listens, nothing may have been missed: so something happens until it was seen.
    await expect
      .poll(async () => {
        await client().workflows.patch(workflow_id, { description: crypto.randomUUID() });
        return seen.length;
      })
      .toBeGreaterThan(0);
    const first = seen[0] as WorkflowEvent;
    await client().workflows.start(workflow_id);
    await client().workflows.checkpoint(workflow_id, { step: 1, state: { a: 1 } });
    await watching;
    expect(new Set(seen.map(({ workflow_id: id }) => id))).toEqual(new Set([workflow_id]));
    expect(seen.some(({ type }) => type === "workflow.changed")).toBe(true);
    const again = new AbortController();
    // Some may come again, none is missed.
    for await (const event of client().workflows.events(workflow_id, { after: first.id, signal: again.signal })) {
      if (event.type === "checkpoint.added") again.abort();
    }
    expect(again.signal.aborted).toBe(true);
  });
}

/** Whoever writes to a server or embeds one reads the same words, with the names of this client. */
function wording({ client }: Context): void {
  const detailOf = async (call: Promise<unknown>): Promise<string> =>
    call.then(
      () => "it was taken",
      (error: unknown) => (PinakesClientError.isInstance(error) ? error.detail : String(error)),
    );

  it("errors name what was sent and what is wanted", async () => {
    const wrong = await detailOf(client().metrics.aggregate({ aggregates: ["mode" as never] }));
    expect(wrong).toMatch(/^aggregates\[0\]: must be one of "count", "sum", .*, got "mode"/);
    const kind = await detailOf(client().workflows.create({ type: "parallel" as never, name: "x", total_steps: 1 }));
    expect(kind).toContain(
      'type: must be one of "sequential", "concurrent", "group_chat", "handoff", "state_machine", "saga", got "parallel"',
    );
    const missing = await detailOf(client().workflows.create({ name: "x", total_steps: 1 } as never));
    expect(missing).toContain('type: is missing; expected one of "sequential"');
    const window = await detailOf(client().memories.context({ agent_id: "a", session_id: "s", maxTokens: 0 }));
    expect(window).toContain("maxTokens (over HTTP max_tokens): must be a whole number from 1");
    const parameters = await detailOf(
      client().containers.query("agent-metrics", {
        query: "SELECT * FROM c WHERE c.id = @x",
        parameters: { x: 1 } as never,
      }),
    );
    expect(parameters).toContain("parameters: must be a list");
  });

  it("a lease that another worker holds says how long", async () => {
    const { workflow_id } = await client().workflows.create({ type: "saga", name: "held", total_steps: 1 });
    await client()
      .workflows.resume(workflow_id, { owner: "one", leaseSeconds: 60 })
      .catch(() => client().workflows.acquireLease(workflow_id, { owner: "one", leaseSeconds: 60 }));
    const held: unknown = await client()
      .workflows.acquireLease(workflow_id, { owner: "two" })
      .catch((error: unknown) => error);
    expect(ConflictError.isInstance(held) && held.detail).toContain("Wait until then and try again");
    expect(ConflictError.isInstance(held) && (held.retryAfterMs ?? 0)).toBeGreaterThan(30_000);
  });
}

function recorders({ client }: Context): void {
  const call = (i: number, session_id: string): NewToolInvocation => ({
    tool_name: "search",
    agent_id: "a",
    session_id,
    status: "success",
    duration_ms: i,
    timestamp: new Date(1_800_000_000_000 + i).toISOString(),
  });

  it("a recorder stores what was recorded, once, in the background and at its end", async () => {
    const session_id = fresh("session");
    const recorder = client().tools.recorder({ flushMs: 20, maxBatch: 40 });
    for (let i = 0; i < 100; i += 1) expect(recorder.record(call(i, session_id))).toBe(true);
    await expect.poll(() => recorder.pending).toBe(0);
    recorder.record(call(100, session_id));
    await recorder.close();
    const range = { session_id, from: "2027-01-01T00:00:00.000Z", to: "2027-12-31T00:00:00.000Z" };
    await expect.poll(async () => (await client().tools.list(range).all()).length).toBe(101);
    const metrics = client().metrics.recorder();
    const agent_id = fresh("agent");
    for (const value of [1, 2, 3])
      metrics.record({ agent_id, metric_type: "latency", value, timestamp: "2027-05-01T10:00:00.000Z" });
    await metrics.close();
    const { items } = await client().metrics.aggregate({
      from: "2027-05-01T00:00:00.000Z",
      to: "2027-05-02T00:00:00.000Z",
      filter: { agent_id },
      aggregates: ["count", "sum"],
    });
    expect(items[0]?.values).toEqual({ count: 3, sum: 6 });
  });

  it("a line that the store refuses is told, and the others are stored", async () => {
    const session_id = fresh("session");
    const refused: unknown[] = [];
    const recorder = client().tools.recorder({
      onError: (error, lines) =>
        refused.push([(error as PinakesClientError).code, lines.map(({ duration_ms }) => duration_ms)]),
    });
    recorder.record(call(1, session_id));
    recorder.record({ ...call(2, session_id), status: "broken" as never });
    recorder.record(call(3, session_id));
    await expect(recorder.close()).rejects.toMatchObject({
      code: "INCOMPLETE",
      detail: expect.stringMatching(
        /^1 recorded line was not stored: .*status: must be one of "success", "error", "timeout", got "broken"/,
      ) as string,
    });
    expect(refused).toEqual([["INVALID", [2]]]);
    const range = { session_id, from: "2027-01-01T00:00:00.000Z", to: "2027-12-31T00:00:00.000Z" };
    await expect
      .poll(async () => (await client().tools.list(range).all()).map(({ duration_ms }) => duration_ms).toSorted())
      .toEqual([1, 3]);
  });
}
