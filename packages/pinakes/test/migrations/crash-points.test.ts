/** A process that dies, or whose call fails, at any of its calls: another one continues from the record to the same result. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { makeCaller } from "../../src/domain/caller.ts";
import { quietWorld } from "./support/quiet-world.ts";
import { legacyFile, triples, type Process } from "./support/world.ts";
import type { FaultKind } from "../vectors/support/calls.ts";

const { world, quiet } = await quietWorld();
let names = 0;

let lastFault = "";

type Step = "copy" | "validate" | "cutover" | "finish" | "rollback";
const order: readonly Step[] = ["copy", "validate", "cutover"];

interface Case {
  readonly user: string;
  readonly path: string;
  readonly source: object;
  readonly check: () => Promise<void>;
}

function tables(): Case {
  const user = `u${(names += 1)}`;
  const path = join(world.folder, `${user}.db`);
  legacyFile(path, { [`${user}__a`]: triples(5), [`${user}__b`]: triples(1) });
  const caller = makeCaller({ tenant: "acme", userId: user });
  const check = async () => {
    expect((await quiet.knowledge.graph.matchTriples(caller, "me", "a", { limit: 100 })).items).toHaveLength(5);
    expect((await quiet.knowledge.graph.matchTriples(caller, "me", "b", { limit: 100 })).items).toHaveLength(1);
    expect((await quiet.knowledge.collections.list(caller, { repositoryId: "me" })).items).toHaveLength(2);
  };
  return { user, path, source: { kind: "triples", sqlite: path, separator: "__", objects: "absolute" }, check };
}

async function ask(process: Process, id: string, step: Step): Promise<void> {
  const { migrations } = process;
  if (step === "finish") await migrations.finish(world.admin, id, { remove_old: true, now: true });
  else await migrations[step](world.admin, id);
}

/** One step with a fault at its n-th call, then completed by others; false if there is no such call. */
async function faultAt(made: Case, id: string, step: Step, n: number, kind: FaultKind): Promise<boolean> {
  const process = await world.process();
  process.calls.add({ at: n, kind });
  const done = (async () => {
    await ask(process, id, step);
    await process.drive(id);
  })().catch(() => {});
  await Promise.race([done, process.calls.died]);
  const reached = process.calls.names[n] !== undefined;
  lastFault = process.calls.names[n] ?? "none";
  // A dead process keeps its lease for a while.
  world.now += 120_000;
  await ask(quiet, id, step);
  await quiet.drive(id);
  if (!process.calls.dead) await process.close();
  return reached;
}

/** Up to the step, without faults. */
async function upTo(made: Case, step: Step): Promise<string> {
  const { migration_id } = await quiet.plan(made.source);
  for (const before of step === "finish" || step === "rollback" ? order : order.slice(0, order.indexOf(step))) {
    await ask(quiet, migration_id, before);
    await quiet.drive(migration_id);
  }
  return migration_id;
}

const states: Readonly<Record<Step, string>> = {
  copy: "copied",
  validate: "ready",
  cutover: "switched",
  finish: "finished",
  rollback: "rolled_back",
};

describe("every call of every step", () => {
  it.each([
    ["copy", "crash-before"],
    ["copy", "crash-after"],
    ["validate", "crash-before"],
    ["cutover", "crash-before"],
    ["cutover", "crash-after"],
    ["cutover", "error-after"],
    ["finish", "error-before"],
    ["finish", "error-after"],
  ] as const)("R-TG-99 %s, %s: after a retry, the result is the same", async (step, kind) => {
    let points = 0;
    // Verification only makes reads of the same kind: a sample suffices.
    for (let n = 0; ; n += step === "validate" ? 7 : step === "cutover" ? 3 : 1) {
      const made = tables();
      const id = await upTo(made, step);
      const reached = await faultAt(made, id, step, n, kind);
      expect(await quiet.migrations.get(world.admin, id), `${step} ${kind} ${n}`).toMatchObject({
        state: states[step],
        error: null,
      });
      // To the end: equal, and open for writers.
      if (step !== "finish")
        await quiet.run(
          id,
          ...order.slice(order.indexOf(step) + 1).map((one) => one as "copy" | "validate" | "cutover"),
        );
      for (const unit of await quiet.units(id))
        expect(unit, `${step} ${kind} ${n}`).toMatchObject({ status: "switched", made: true, held_hash: unit.hash });
      await made.check();
      if (!reached) break;
      points += 1;
    }
    expect(points).toBeGreaterThan(5);
  });

  it.each(["error-before", "error-after"] as const)(
    "R-TG-97 R-TG-99 rollback of removed tables, %s: after a retry, all of them are back",
    async (kind) => {
      let points = 0;
      for (let n = 0; ; n += 1) {
        const made = tables();
        const id = await upTo(made, "finish");
        const before = contents(made.path);
        await ask(quiet, id, "finish");
        await quiet.drive(id);
        expect(contents(made.path)).toEqual({});
        const reached = await faultAt(made, id, "rollback", n, kind);
        expect(await quiet.migrations.get(world.admin, id), `${kind} ${n}`).toMatchObject({ state: "rolled_back" });
        expect(contents(made.path), `${kind} ${n}`).toEqual(before);
        const caller = makeCaller({ tenant: "acme", userId: made.user });
        expect(
          (await quiet.knowledge.collections.list(caller, { repositoryId: "me" })).items.map(
            ({ collection_id }) => collection_id,
          ),
          `${kind} ${n} ${lastFault}`,
        ).toEqual([]);
        if (!reached) break;
        points += 1;
      }
      expect(points).toBeGreaterThan(5);
    },
  );

  it.each(["dies", "is overtaken"] as const)(
    "R-TG-97 R-TG-99 a copy that %s at any call, and is rolled back by another process: nothing of it remains, and nothing is held",
    async (how) => {
      let points = 0;
      for (let n = 0; ; n += 1) {
        const made = tables();
        const caller = makeCaller({ tenant: "acme", userId: made.user });
        // One exists already, and is empty: it stays.
        await quiet.knowledge.collections.create(caller, "me", { collection_id: "b" });
        const id = await upTo(made, "copy");
        const process = await world.process();
        const [reached, overtaken] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        process.calls.add(
          how === "dies"
            ? { at: n, kind: "crash-after" }
            : { at: n, kind: "hold", until: overtaken.promise, reached: reached.resolve },
        );
        const done = ask(process, id, "copy")
          .then(() => process.drive(id))
          .catch(() => {});
        await Promise.race([done, process.calls.died, reached.promise]);
        world.now += 120_000;
        await ask(quiet, id, "rollback");
        const what = `${how} ${n} ${process.calls.names[n] ?? "none"}`;
        expect(await quiet.drive(id), what).toMatchObject({ state: "rolled_back" });
        overtaken.resolve();
        if (how === "is overtaken") await done;
        const left = (await quiet.knowledge.collections.list(caller, { repositoryId: "me" })).items;
        expect(
          left.map(({ collection_id, held_by }) => [collection_id, held_by]),
          what,
        ).toEqual([["b", undefined]]);
        await quiet.knowledge.collections.update(caller, "me", "b", { description: "open for writers" });
        if (!process.calls.dead) await process.close();
        if (process.calls.names[n] === undefined) break;
        points += 1;
      }
      expect(points).toBeGreaterThan(15);
    },
  );

  it("R-TG-99 rows of a file, dying at any call of the copy: no row twice, none lost", async () => {
    let points = 0;
    for (let n = 0; ; n += 1) {
      const name = `rows${(names += 1)}`;
      const path = join(world.folder, `${name}.jsonl`);
      // Two batches: the lines are long enough for that.
      const rows = Array.from({ length: 2_100 }, (_, i) => JSON.stringify({ id: `r${i}`, values: [i, 1] }));
      await writeFile(path, rows.join("\n"));
      const { migration_id } = await quiet.plan({ kind: "rows", path, repository: "kb" });
      const made: Case = { user: "", path, source: {}, check: async () => {} };
      const reached = await faultAt(made, migration_id, "copy", n, n % 2 === 0 ? "crash-after" : "crash-before");
      expect(await quiet.run(migration_id, "validate", "cutover"), String(n)).toMatchObject({ state: "switched" });
      expect((await quiet.units(migration_id))[0]).toMatchObject({ count: 2_100, held_count: 2_100 });
      if (!reached) break;
      points += 1;
    }
    expect(points).toBeGreaterThan(5);
  });

  it("a plan that died is repeated, and one in progress is left alone", async () => {
    const made = tables();
    const process = await world.process();
    const { migration_id } = await process.migrations.create(world.admin, { source: made.source });
    process.calls.add({ at: (name) => name.startsWith("items.batch"), kind: "crash-before" });
    void process.drive(migration_id).catch(() => {});
    await process.calls.died;
    await expect(quiet.drive(migration_id)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await quiet.migrations.tick(new AbortController().signal);
    expect(await quiet.migrations.get(world.admin, migration_id)).toMatchObject({ state: "planning" });
    world.now += 120_000;
    await quiet.migrations.tick(new AbortController().signal);
    expect(await quiet.migrations.get(world.admin, migration_id)).toMatchObject({ state: "planned", unit_count: 2 });
  });
});

function contents(path: string): Record<string, unknown[]> {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const found = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").all();
    return Object.fromEntries(
      found.map(({ name }) => [name as string, db.prepare(`SELECT * FROM "${String(name)}" ORDER BY s, p, o`).all()]),
    );
  } finally {
    db.close();
  }
}
