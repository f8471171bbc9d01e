/** Every call of the contract, once: there and back, with what it promises. */
import { expect, it } from "vitest";
import { ConflictError, NotFoundError, PreconditionFailedError } from "../src/index.ts";
import { fresh, type Context } from "./support/context.ts";

export function callTests({ client }: Context): void {
  it("workflows: from start to end, with checkpoints and a lease", async () => {
    const { workflows } = client();
    const { workflow_id } = await workflows.create(
      { type: "sequential", name: "All", total_steps: 4 },
      { idempotencyKey: crypto.randomUUID() },
    );
    await workflows.start(workflow_id);
    await workflows.setAgent(workflow_id, "a1", { agent_name: "One", status: "in_progress" });
    for (const step of [1, 2, 3])
      await workflows.checkpoint(workflow_id, { step, state: { step }, agent_context: { a: step } });
    expect(
      (await workflows.checkpoints(workflow_id, { limit: 2, order: "asc" }).all()).map(({ step }) => step),
    ).toEqual([1, 2, 3]);
    expect([
      (await workflows.checkpointAt(workflow_id, 2)).state,
      (await workflows.checkpointAt(workflow_id, "latest")).state,
    ]).toEqual([{ step: 2 }, { step: 3 }]);
    await workflows.pause(workflow_id);
    const resumed = await workflows.resume(workflow_id, { owner: "worker-7", leaseSeconds: 30 });
    expect([resumed.state, resumed.workflow.status, resumed.lease?.owner]).toEqual([
      { step: 3 },
      "in_progress",
      "worker-7",
    ]);
    const fencingToken = resumed.lease?.fencing_token as number;
    await expect(workflows.patch(workflow_id, { name: "x" })).rejects.toThrow(ConflictError);
    await workflows.update(workflow_id, ({ current_step }) => ({ current_step: current_step + 1 }), { fencingToken });
    await workflows.renewLease(workflow_id, { fencingToken, leaseSeconds: 60 });
    expect(await workflows.lease(workflow_id)).toEqual({
      workflow_id,
      owner: "worker-7",
      expires_at: expect.any(String),
    });
    await workflows.releaseLease(workflow_id, { fencingToken });
    expect(await workflows.lease(workflow_id)).toEqual({ workflow_id, owner: null, expires_at: null });
    const lease = await workflows.acquireLease(workflow_id, { owner: "worker-8" });
    expect(lease.fencing_token).toBeGreaterThan(fencingToken);
    await workflows.fail(workflow_id, { error_message: "no" }, { fencingToken: lease.fencing_token });
    await workflows.retry(workflow_id, { fencingToken: lease.fencing_token });
    await workflows.complete(workflow_id, { fencingToken: lease.fencing_token });
    await expect
      .poll(async () =>
        (await workflows.list({ status: "completed" }).all()).some((one) => one.workflow_id === workflow_id),
      )
      .toBe(true);
    expect((await workflows.stats()).by_status.completed).toBeGreaterThan(0);
    await workflows.delete(workflow_id, { fencingToken: lease.fencing_token });
    await expect(workflows.get(workflow_id)).rejects.toThrow(NotFoundError);
  });

  it("memories, threads and entities", async () => {
    const { memories, threads, systemThreads, entities } = client();
    const [agent_id, session_id] = [fresh("agent"), "s/1"];
    const question = await memories.append({ agent_id, session_id, message_type: "user", content: "What is a pinax?" });
    const answer = await memories.append({
      agent_id,
      session_id,
      message_type: "assistant",
      content: "A tablet.",
      parent_message_id: question.id,
    });
    expect((await memories.thread(agent_id, answer.id)).ancestors.map(({ id }) => id)).toEqual([question.id]);
    await memories.patch(agent_id, answer.id, { relevance_score: 0.9 }, { ifMatch: answer._etag });
    expect((await memories.get(agent_id, answer.id)).relevance_score).toBe(0.9);
    expect(await memories.fork(agent_id, session_id, { session_id: "s2" })).toMatchObject({
      forked_from: session_id,
      message_count: 2,
    });
    expect((await memories.session(agent_id, "s2")).message_count).toBe(2);
    const { hits } = await memories.search({ query: "pinax", agent_id, mode: "keyword" });
    expect(hits.map(({ memory }) => memory.content)).toContain("What is a pinax?");
    await memories.delete(agent_id, answer.id);
    expect(await memories.deleteSession(agent_id, "s2")).toEqual({ deleted: 2 });
    for (const group of [threads, systemThreads]) {
      const thread = fresh("thread");
      await group.append(thread, { id: "m1", items: [1, 2] });
      await group.appendMany(thread, [
        { id: "m2", text: "b" },
        { id: "m3", text: "c" },
      ]);
      expect((await group.list(thread, { limit: 1 }).all()).map(({ id }) => id)).toEqual(["m1", "m2", "m3"]);
      expect(await group.get(thread, "m1")).toMatchObject({ items: [1, 2] });
      await group.deleteMessage(thread, "m2");
      expect(await group.clear(thread)).toEqual({ deleted: 2 });
    }
    const entity = await entities.put(agent_id, { likes: ["x"] });
    await expect(entities.put(agent_id, {}, { ifMatch: "stale" })).rejects.toThrow(PreconditionFailedError);
    expect(await entities.get(agent_id)).toEqual(entity);
    await entities.delete(agent_id);
  });

  it("metrics and the tool log", async () => {
    const { metrics, tools } = client();
    const agent_id = fresh("agent");
    const rows = Array.from({ length: 30 }, (_, i) => ({
      id: `${agent_id}-${i}`,
      agent_id,
      metric_type: "cost" as const,
      value: i,
      timestamp: new Date(Date.UTC(2027, 2, 1, i)).toISOString(),
    }));
    expect(await metrics.ingest(rows)).toMatchObject({ accepted: 30, duplicates: 0, failed: 0 });
    expect(await metrics.ingest(rows, { report: "all" })).toMatchObject({ accepted: 0, duplicates: 30, failed: 0 });
    const range = { from: "2027-03-01T00:00:00.000Z", to: "2027-03-03T00:00:00.000Z" };
    await expect
      .poll(async () =>
        (await metrics.list({ ...range, agent_id, limit: 7, order: "asc" }).all()).map(({ value }) => value),
      )
      .toEqual(rows.map(({ value }) => value));
    expect((await metrics.rollups(range).all()).length).toBeGreaterThan(0);
    const failed = await metrics.ingest([
      { agent_id, metric_type: "cost", value: Number.NaN },
      { agent_id, metric_type: "cost", value: 1 },
    ]);
    expect([failed.accepted, failed.failed, failed.lines[0]?.line]).toEqual([1, 1, 1]);

    const own = { agent_id, metric_type: "custom.faithfulness", timestamp: range.from } as const;
    await metrics.ingest([
      { ...own, value: 0.5, dimensions: { region: "eu" } },
      { ...own, value: 1, dimensions: { region: "us" } },
    ]);
    const filter = { agent_id, metric_type: "custom.faithfulness" } as const;
    const byRegion = await metrics.aggregate({
      ...range,
      aggregates: ["avg"],
      filter,
      group_by: ["dimensions.region"],
    });
    expect(byRegion.items.map(({ group, values }) => [group["dimensions.region"], values.avg])).toEqual([
      ["eu", 0.5],
      ["us", 1],
    ]);
    expect(await metrics.names()).toMatchObject({ types: ["custom.faithfulness"], dimensions: ["dimensions.region"] });
    await metrics.forgetName("dimensions.region");
    await expect(metrics.forgetName("dimensions.region")).rejects.toThrow(NotFoundError);

    const session_id = fresh("session");
    await tools.putRule({ tool_name: "vault", drop: ["input_args.password"] });
    expect((await tools.rules()).items.map(({ tool_name }) => tool_name)).toContain("vault");
    const invocation = {
      id: `${session_id}-1`,
      tool_name: "vault",
      agent_id,
      session_id,
      status: "success" as const,
      duration_ms: 5,
      input_args: { password: "p", user: "u" },
      timestamp: "2027-03-04T10:00:00.000Z",
    };
    await tools.ingest([invocation]);
    expect((await tools.get("2027-03-04", invocation.id)).input_args).toEqual({ user: "u" });
    await tools.deleteRule("vault");
    const day = { from: "2027-03-04T00:00:00.000Z", to: "2027-03-05T00:00:00.000Z", session_id };
    const exported = (await Array.fromAsync(tools.export({ ...day, format: "ndjson" }))).join("");
    expect(
      exported
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { id: string }).id),
    ).toEqual([invocation.id]);
    const csv = (await Array.fromAsync(tools.export({ ...day, format: "csv" }))).join("");
    expect(csv.trim().split("\n")).toHaveLength(2);
    const { items } = await tools.aggregate({
      from: day.from,
      to: day.to,
      filter: { session_id },
      aggregates: ["count", "max"],
    });
    expect(items[0]?.values).toEqual({ count: 1, max: 5 });
    expect(await tools.settings()).toEqual({ hash_chain: false });
    expect(await tools.verifyChain("2027-03-04")).toMatchObject({ tool_date: "2027-03-04" });
  });
}
