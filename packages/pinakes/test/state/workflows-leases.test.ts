/** Two workers and more: one holder at a time, and no write of anybody who was overtaken. */
import { beforeEach, describe, expect, it } from "vitest";
import type { Workflows } from "../../src/state/workflows/workflows.ts";
import { workflowLimits } from "../../src/state/workflows/limits.ts";
import { failure } from "../../src/testing/item-store/fixture.ts";
import { ann, openWorld, some, type World } from "./workflows-support.ts";

let world: World;
let workflows: Workflows;
let id: string;
beforeEach(async () => {
  world = await openWorld();
  ({ workflows } = await world.process());
  id = (await workflows.create(ann, some())).workflow_id;
});

describe("a lease", () => {
  it("R-AGT-24 while it is held, every write needs its token; with an older one it is refused, whether or not anybody holds it", async () => {
    const first = await workflows.acquireLease(ann, id, { owner: "one" });
    expect(first).toEqual({
      workflow_id: id,
      owner: "one",
      fencing_token: 1,
      expires_at: new Date(world.clock.now() + 30_000).toISOString(),
    });
    const writes = (fencingToken?: number) => [
      () => workflows.patch(ann, id, { name: "x" }, { fencingToken }),
      () => workflows.start(ann, id, { fencingToken }),
      () => workflows.pause(ann, id, { fencingToken }),
      () => workflows.resume(ann, id, { fencingToken }),
      () => workflows.setAgent(ann, id, "a", {}, { fencingToken }),
      () => workflows.checkpoint(ann, id, { step: 1, state: {} }, { fencingToken }),
      () => workflows.fail(ann, id, {}, { fencingToken }),
      () => workflows.retry(ann, id, { fencingToken }),
      () => workflows.complete(ann, id, { fencingToken }),
      () => workflows.delete(ann, id, { fencingToken }),
    ];
    const others = (fencingToken?: number) => [
      () => workflows.skip(ann, id, { fencingToken }),
      () => workflows.cancel(ann, id, { fencingToken }),
    ];
    const before = await workflows.get(ann, id);
    for (const write of [...writes(), ...others()])
      expect((await failure(write(), "CONFLICT")).detail).toContain("Another worker holds the lease");
    for (const take of [
      () => workflows.acquireLease(ann, id, { owner: "two" }),
      () => workflows.resume(ann, id, { owner: "two" }),
    ]) {
      const held = await failure(take(), "CONFLICT");
      expect(held.detail).toContain("Another worker holds");
      // Not the token, which only the holder has; how long to wait.
      expect(held.detail).toContain("Wait until then and try again");
      expect(held).toMatchObject({ retryAfterMs: 30_000 });
    }
    world.clock.advance(30_000);
    const second = await workflows.acquireLease(ann, id, { owner: "two" });
    expect(second.fencing_token).toBe(2);
    for (const write of [...writes(1), ...others(1), ...writes(3), ...others(3)])
      expect((await failure(write(), "CONFLICT")).detail).toContain("fencing token");
    expect((await failure(workflows.renewLease(ann, id, { fencingToken: 1 }), "CONFLICT")).status).toBe(409);
    await failure(workflows.releaseLease(ann, id, { fencingToken: 1 }), "CONFLICT");
    await workflows.releaseLease(ann, id, { fencingToken: 2 });
    for (const write of writes(1)) await failure(write(), "CONFLICT");
    expect(await workflows.get(ann, id)).toEqual(before);
    const third = await workflows.acquireLease(ann, id, { owner: "three" });
    for (const write of writes(third.fencing_token)) await write();
    await failure(workflows.get(ann, id), "NOT_FOUND");
  });

  it("R-AGT-24 ends by itself: then everybody may write, and its last holder too until another takes it", async () => {
    const { fencing_token: fencingToken } = await workflows.acquireLease(ann, id, { owner: "one", leaseSeconds: 1 });
    world.clock.advance(999);
    await failure(workflows.patch(ann, id, { name: "x" }), "CONFLICT");
    world.clock.advance(1);
    await workflows.patch(ann, id, { name: "x" });
    await workflows.patch(ann, id, { name: "y" }, { fencingToken });
    const renewed = await workflows.renewLease(ann, id, { fencingToken, leaseSeconds: 10 });
    expect(renewed).toMatchObject({
      fencing_token: fencingToken,
      expires_at: new Date(world.clock.now() + 10_000).toISOString(),
    });
    await failure(workflows.patch(ann, id, { name: "z" }), "CONFLICT");
    await workflows.releaseLease(ann, id, { fencingToken });
    await workflows.releaseLease(ann, id, { fencingToken });
    await failure(workflows.renewLease(ann, id, { fencingToken }), "CONFLICT");
    await workflows.patch(ann, id, { name: "z" });
  });

  it("R-AGT-24 everybody sees who holds it and until when, without the token; once it ends or is given back it is nobody's", async () => {
    const second = (await world.process()).workflows;
    const nobody = { workflow_id: id, owner: null, expires_at: null };
    expect(await second.lease(ann, id)).toEqual(nobody);
    const { fencing_token: fencingToken, ...held } = await workflows.acquireLease(ann, id, {
      owner: "one",
      leaseSeconds: 1,
    });
    expect(await second.lease(ann, id)).toEqual(held);
    world.clock.advance(999);
    expect(await second.lease(ann, id)).toEqual(held);
    world.clock.advance(1);
    expect(await second.lease(ann, id)).toEqual(nobody);
    const renewed = await workflows.renewLease(ann, id, { fencingToken, leaseSeconds: 10 });
    expect(await second.lease(ann, id)).toEqual({ workflow_id: id, owner: "one", expires_at: renewed.expires_at });
    await workflows.releaseLease(ann, id, { fencingToken });
    expect(await second.lease(ann, id)).toEqual(nobody);
    expect((await failure(second.lease(ann, "never-was"), "NOT_FOUND")).detail).toContain("There is no workflow");
  });

  it("a worker that was restarted takes its own lease again, and its earlier self is stale", async () => {
    const before = await workflows.acquireLease(ann, id, { owner: "one" });
    const after = await workflows.acquireLease(ann, id, { owner: "one" });
    expect(after.fencing_token).toBe(before.fencing_token + 1);
    await failure(workflows.patch(ann, id, { name: "x" }, { fencingToken: before.fencing_token }), "CONFLICT");
  });

  it("1 to 3600 seconds, an owner of 1 to 256 characters, a whole token", async () => {
    const { leaseSecondsMax, ownerCharsMax } = workflowLimits;
    for (const leaseSeconds of [0, leaseSecondsMax + 1, 1.5, "30"]) {
      await failure(workflows.acquireLease(ann, id, { owner: "w", leaseSeconds: leaseSeconds as number }), "INVALID");
      await failure(
        workflows.renewLease(ann, id, { fencingToken: 1, leaseSeconds: leaseSeconds as number }),
        "INVALID",
      );
      await failure(workflows.resume(ann, id, { owner: "w", leaseSeconds: leaseSeconds as number }), "INVALID");
    }
    for (const owner of ["", "o".repeat(ownerCharsMax + 1), 5])
      await failure(workflows.acquireLease(ann, id, { owner: owner as string }), "INVALID");
    for (const fencingToken of [-1, 1.5, "1", null]) {
      await failure(workflows.renewLease(ann, id, { fencingToken: fencingToken as number }), "INVALID");
      await failure(workflows.patch(ann, id, {}, { fencingToken: fencingToken as number }), "INVALID");
    }
    expect(await workflows.get(ann, id)).toMatchObject({ status: "pending" });
    const lease = await workflows.acquireLease(ann, id, {
      owner: "o".repeat(ownerCharsMax),
      leaseSeconds: leaseSecondsMax,
    });
    await workflows.renewLease(ann, id, { fencingToken: lease.fencing_token, leaseSeconds: 1 });
  });

  it("R-AGT-24 a new life of the workflow goes on with the tokens of the one that expired", async () => {
    await workflows.create(ann, some({ workflow_id: "short", ttl: 60 }));
    const { fencing_token } = await workflows.acquireLease(ann, "short", { owner: "one", leaseSeconds: 3_600 });
    world.clock.advance(60_000);
    await workflows.create(ann, some({ workflow_id: "short" }));
    await failure(workflows.patch(ann, "short", { name: "x" }, { fencingToken: 0 }), "CONFLICT");
    expect(await workflows.acquireLease(ann, "short", { owner: "two" })).toMatchObject({
      fencing_token: fencing_token + 1,
    });
  });

  it("R-AGT-24 a takeover between the decision and the commit is noticed: the write of the old holder is not there", async () => {
    const slow = await world.process();
    const { fencing_token } = await slow.workflows.acquireLease(ann, id, { owner: "slow", leaseSeconds: 1 });
    const held = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    slow.calls.add({
      at: (name) => name === "batch workflow-states",
      kind: "hold",
      until: held.promise,
      reached: reached.resolve,
    });
    const write = slow.workflows.checkpoint(
      ann,
      id,
      { step: 1, state: { from: "slow" } },
      { fencingToken: fencing_token },
    );
    await reached.promise;
    world.clock.advance(1_000);
    const next = await workflows.acquireLease(ann, id, { owner: "next" });
    held.resolve();
    await failure(write, "CONFLICT");
    await failure(workflows.checkpointAt(ann, id, "latest"), "NOT_FOUND");
    await workflows.checkpoint(ann, id, { step: 1, state: { from: "next" } }, { fencingToken: next.fencing_token });
  });
});

describe("fifty workers", () => {
  it("R-AGT-24 one holder at a time: each counts up in its turn, and the history has neither gap nor overlap", async () => {
    const workers = await Promise.all(Array.from({ length: 5 }, async () => (await world.process()).workflows));
    const history: { token: number; event: "begin" | "end" }[] = [];
    const worker = async (n: number): Promise<void> => {
      const mine = workers[n % workers.length] as Workflows;
      for (;;) {
        const lease = await mine.acquireLease(ann, id, { owner: `w${n}`, leaseSeconds: 3_600 }).catch(() => undefined);
        if (lease === undefined) {
          await new Promise((resolve) => setTimeout(resolve, 1));
          continue;
        }
        const fencingToken = lease.fencing_token;
        history.push({ token: fencingToken, event: "begin" });
        const { description } = await mine.get(ann, id, { checkpoints: "none" });
        await mine.patch(ann, id, { description: `${description}${n} ` }, { fencingToken });
        history.push({ token: fencingToken, event: "end" });
        await mine.releaseLease(ann, id, { fencingToken });
        return;
      }
    };
    await Promise.all(Array.from({ length: 50 }, (_, n) => worker(n)));
    expect(history).toEqual(
      Array.from({ length: 50 }, (_, i) => [
        { token: i + 1, event: "begin" },
        { token: i + 1, event: "end" },
      ]).flat(),
    );
    const { description } = await workflows.get(ann, id);
    expect(
      description
        .trim()
        .split(" ")
        .toSorted((a, b) => Number(a) - Number(b)),
    ).toEqual(Array.from({ length: 50 }, (_, n) => String(n)));
  });
});
