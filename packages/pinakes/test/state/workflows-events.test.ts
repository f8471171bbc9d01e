/** What happened to a workflow, as it happens and after coming back. */
import type { WorkflowEvent } from "@pinakes/client";
import { beforeEach, describe, expect, it } from "vitest";
import type { Workflows } from "../../src/state/workflows/workflows.ts";
import { failure } from "../../src/testing/item-store/fixture.ts";
import { until } from "../support/until.ts";
import { ann, day, eve, long, openWorld, type Process, type World } from "./workflows-support.ts";

let world: World;
let process: Process;
let workflows: Workflows;
let id: string;
beforeEach(async () => {
  world = await openWorld();
  process = await world.process();
  ({ workflows } = process);
  id = (await workflows.create(ann, long())).workflow_id;
});

class Listener {
  readonly #stop = new AbortController();
  readonly #events: AsyncIterator<WorkflowEvent>;
  #first: Promise<IteratorResult<WorkflowEvent>> | undefined;

  constructor(after?: string) {
    this.#events = workflows.events(ann, id, { after, signal: this.#stop.signal, pollMs: 1 })[Symbol.asyncIterator]();
    this.#first = this.#events.next();
  }

  async take(count: number): Promise<WorkflowEvent[]> {
    const taken: WorkflowEvent[] = [];
    while (taken.length < count) {
      const { value } = (await (this.#first ?? this.#events.next())) as { value: WorkflowEvent };
      this.#first = undefined;
      taken.push(value);
    }
    return taken;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    expect(await this.#events.next()).toMatchObject({ done: true });
  }
}

/** Its place in the feed is taken when it is first asked. */
async function listen(after?: string): Promise<Listener> {
  const looks = process.calls.count("changes") + (after === undefined ? 2 : 1);
  const listener = new Listener(after);
  await until(async () => process.calls.count("changes") >= looks);
  return listener;
}

describe("events", () => {
  it("tell of this workflow alone: changes, checkpoints, leases and its end", async () => {
    const listener = await listen();
    const other = (await workflows.create(ann, long())).workflow_id;
    const theirs = await workflows.create(eve, long({ workflow_id: id }));
    await workflows.start(eve, theirs.workflow_id);
    await workflows.start(ann, other);
    const { _etag } = await workflows.start(ann, id);
    const [started] = await listener.take(1);
    expect(started).toMatchObject({
      type: "workflow.changed",
      workflow_id: id,
      data: { status: "in_progress", etag: _etag },
      at: new Date(world.clock.now()).toISOString(),
    });
    await workflows.checkpoint(ann, id, { step: 3, state: {} });
    expect(await listener.take(1)).toMatchObject([{ type: "checkpoint.added", data: { step: 3 } }]);
    const { fencing_token } = await workflows.acquireLease(ann, id, { owner: "w" });
    expect(await listener.take(1)).toMatchObject([{ type: "lease.changed", data: { owner: "w", fencing_token } }]);
    await workflows.releaseLease(ann, id, { fencingToken: fencing_token });
    expect(await listener.take(1)).toMatchObject([
      { type: "lease.changed", data: { owner: null, fencing_token, expires_at: null } },
    ]);
    await workflows.delete(ann, id);
    expect(await listener.take(1)).toMatchObject([{ type: "workflow.deleted", data: {} }]);
    await listener.stop();
  });

  it("whoever comes back with the id of an event misses nothing after it; an expiry is told as one", async () => {
    const listener = await listen();
    for (let i = 0; i < 5; i += 1) await workflows.checkpoint(ann, id, { step: i, state: {} });
    const seen = await listener.take(5);
    await listener.stop();
    for (let i = 5; i < 8; i += 1) await workflows.checkpoint(ann, id, { step: i, state: {} });
    const back = await listen((seen.at(-1) as WorkflowEvent).id);
    expect((await back.take(3)).map(({ data }) => data["step"])).toEqual([5, 6, 7]);
    await back.stop();
    // From the middle of a page some may come twice, none is missed.
    const middle = await listen((seen[2] as WorkflowEvent).id);
    const steps = new Set((await middle.take(5)).map(({ data }) => data["step"]));
    for (const step of [3, 4]) expect(steps).toContain(step);
    await middle.stop();
    const last = await listen();
    world.clock.advance(31 * day);
    await world.items.purgeExpired(process.parts.system, "workflow-states");
    expect(await last.take(1)).toMatchObject([{ type: "workflow.deleted", data: { expired: true } }]);
    await last.stop();
  });

  it("an id that is none, or another workflow's or workspace's, is refused at once; so is a workflow that is not there", async () => {
    const listener = await listen();
    await workflows.start(ann, id);
    const [event] = await listener.take(1);
    await listener.stop();
    const { signal } = new AbortController();
    const other = (await workflows.create(ann, long())).workflow_id;
    await workflows.create(eve, long({ workflow_id: id }));
    const after = (event as WorkflowEvent).id;
    for (const open of [
      () => workflows.events(ann, id, { after: "x", signal }),
      () => workflows.events(ann, id, { after: `${after}x`, signal }),
      () => workflows.events(ann, other, { after, signal }),
      () => workflows.events(eve, id, { after, signal }),
    ])
      expect(open).toThrow(expect.objectContaining({ code: "INVALID" }) as Error);
    await failure(workflows.events(ann, "never", { signal })[Symbol.asyncIterator]().next(), "NOT_FOUND");
  });
});
