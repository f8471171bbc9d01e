/**
 * `migrate-collection` with a process that dies, or whose call fails, at any of its calls: another process continues to the same result,
 * and nothing is lost.
 */
import { describe, expect, it } from "vitest";
import type { FaultKind } from "../vectors/support/calls.ts";
import { contentsOf, plant } from "./support/planted-collection.ts";
import { quietWorld } from "./support/quiet-world.ts";
import { type Process } from "./support/world.ts";

type Step = "copy" | "validate" | "cutover" | "finish" | "rollback";
const order = ["copy", "validate", "cutover"] as const;
const states: Readonly<Record<Step, string>> = {
  copy: "copied",
  validate: "ready",
  cutover: "switched",
  finish: "finished",
  rollback: "rolled_back",
};

const { world, quiet } = await quietWorld();
let names = 0;

/** Each collection goes to its own repository, to stay within the limit of collections. */
async function planted(): Promise<{
  readonly from: string;
  readonly repository: string;
  readonly before: string;
  readonly id: string;
}> {
  const number = (names += 1);
  const repository = `r${number}`;
  await quiet.knowledge.repositories.create(world.admin, { repository_id: repository });
  const from = `c${number}`;
  await plant(world, quiet, from);
  const before = JSON.stringify(await contentsOf(world, "kb", from));
  const { migration_id: id } = await quiet.plan({
    kind: "collection",
    repository: "kb",
    collection: from,
    to: { repository },
  });
  return { from, repository, before, id };
}

async function ask(process: Process, id: string, step: Step): Promise<void> {
  if (step === "finish") await process.migrations.finish(world.admin, id, { remove_old: true, now: true });
  else await process.migrations[step](world.admin, id);
}

/** One step with a fault at its n-th call, then completed by others; false if there is no such call. */
async function faultAt(id: string, step: Step, n: number, kind: FaultKind): Promise<string | undefined> {
  const process = await world.process();
  process.calls.add({ at: n, kind });
  const done = (async () => {
    await ask(process, id, step);
    await process.drive(id);
  })().catch(() => {});
  await Promise.race([done, process.calls.died]);
  // A dead process keeps its lease for a while.
  world.now += 120_000;
  await ask(quiet, id, step);
  await quiet.drive(id);
  if (!process.calls.dead) await process.close();
  return process.calls.names[n];
}

async function expectMoved(
  { from, repository, before }: Awaited<ReturnType<typeof planted>>,
  what: string,
): Promise<void> {
  const there = JSON.stringify(await contentsOf(world, repository, from)).replaceAll(
    `:${repository}:${from}:`,
    `:kb:${from}:`,
  );
  expect(there, what).toBe(before);
  expect(await quiet.knowledge.collections.get(world.admin, repository, from), what).toMatchObject({
    name: `The ${from}`,
    status: "ACTIVE",
    document_count: 2,
  });
  await quiet.knowledge.collections.update(world.admin, repository, from, { description: "open for writers" });
  await expect(quiet.knowledge.collections.get(world.admin, "kb", from), what).rejects.toMatchObject({
    code: "NOT_FOUND",
  });
  const ids = (await quiet.knowledge.collections.list(world.admin, { repositoryId: repository })).items.filter(
    ({ is_default }) => !is_default,
  );
  expect(ids, what).toHaveLength(1);
  await quiet.knowledge.collections.delete(world.admin, repository, from, { purge: true, confirm: from });
}

async function expectBack(
  { from, repository, before }: Awaited<ReturnType<typeof planted>>,
  what: string,
): Promise<void> {
  expect(JSON.stringify(await contentsOf(world, "kb", from)), what).toBe(before);
  await expect(quiet.knowledge.collections.get(world.admin, repository, from), what).rejects.toMatchObject({
    code: "NOT_FOUND",
  });
  expect(await quiet.knowledge.collections.get(world.admin, "kb", from), what).toMatchObject({
    name: `The ${from}`,
    status: "ACTIVE",
  });
  await quiet.knowledge.collections.update(world.admin, "kb", from, { description: "open for writers" });
  await quiet.knowledge.collections.delete(world.admin, "kb", from);
}

describe("every call of every step", () => {
  it.each([
    ["copy", "crash-before"],
    ["copy", "crash-after"],
    ["copy", "error-after"],
    ["validate", "crash-before"],
    ["cutover", "crash-before"],
    ["cutover", "crash-after"],
    ["cutover", "error-after"],
    ["finish", "error-before"],
    ["finish", "error-after"],
  ] as const)(
    "R-TG-63 R-TG-99 %s, %s: after a retry, everything exists and is open, and the old one is in the trash or gone",
    async (step, kind) => {
      let points = 0;
      // Verification only makes reads of the same kind: a sample suffices. The switch starts with it. Interrupted purges are covered by the
      // lifecycle's own tests.
      const stride = { copy: 1, validate: 7, cutover: 2, finish: 17 }[step];
      for (let n = 0; ; n += stride) {
        const made = await planted();
        await quiet.run(made.id, ...(step === "finish" ? order : order.slice(0, order.indexOf(step))));
        const reached = await faultAt(made.id, step, n, kind);
        const what = `${step} ${kind} ${n} ${reached ?? "none"}`;
        expect(await quiet.migrations.get(world.admin, made.id), what).toMatchObject({
          state: states[step],
          error: null,
        });
        if (step !== "finish") await quiet.run(made.id, ...order.slice(order.indexOf(step) + 1));
        expect((await quiet.units(made.id))[0], what).toMatchObject({ status: "switched", made: true });
        await expectMoved(made, what);
        if (reached === undefined) break;
        points += 1;
      }
      expect(points).toBeGreaterThan(5);
    },
  );

  it.each([
    ["copied", "crash-before"],
    ["copied", "error-after"],
    ["switched", "crash-before"],
    ["switched", "crash-after"],
    ["switched", "error-before"],
    ["switched", "error-after"],
  ] as const)(
    "R-TG-63 R-TG-97 R-TG-99 rollback in state %s, %s: after a retry, the old one is unchanged and open, the new one in the trash",
    async (state, kind) => {
      let points = 0;
      for (let n = 0; ; n += state === "switched" ? 2 : 1) {
        const made = await planted();
        await quiet.run(made.id, ...(state === "copied" ? (["copy"] as const) : order));
        const reached = await faultAt(made.id, "rollback", n, kind);
        const what = `${state} ${kind} ${n} ${reached ?? "none"}`;
        expect(await quiet.migrations.get(world.admin, made.id), what).toMatchObject({
          state: "rolled_back",
          error: null,
        });
        await expectBack(made, what);
        if (reached === undefined) break;
        points += 1;
      }
      expect(points).toBeGreaterThan(8);
    },
  );

  it("R-TG-63 R-TG-99 a rollback during a switch, wherever that died, restores the old one", async () => {
    let points = 0;
    for (let n = 0; ; n += 2) {
      const made = await planted();
      await quiet.run(made.id, "copy", "validate");
      const process = await world.process();
      process.calls.add({ at: n, kind: n % 4 === 0 ? "crash-before" : "crash-after" });
      const done = ask(process, made.id, "cutover")
        .then(() => process.drive(made.id))
        .catch(() => {});
      await Promise.race([done, process.calls.died]);
      const reached = process.calls.names[n];
      world.now += 120_000;
      await ask(quiet, made.id, "rollback");
      expect(await quiet.drive(made.id), `${n} ${reached ?? "none"}`).toMatchObject({ state: "rolled_back" });
      await expectBack(made, `${n} ${reached ?? "none"}`);
      if (!process.calls.dead) await process.close();
      if (reached === undefined) break;
      points += 1;
    }
    expect(points).toBeGreaterThan(8);
  });
});
