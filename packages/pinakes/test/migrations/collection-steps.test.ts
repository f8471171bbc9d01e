/** `migrate-collection` step by step: counts, repeated copies, leases, and authorization. */
import { describe, expect, it, vi } from "vitest";
import { PinakesError } from "../../src/domain/errors.ts";
import { makeCaller } from "../../src/domain/caller.ts";
import { CollectionPartition } from "../../src/knowledge/records/collection-partition.ts";
import { ownVectorsName } from "../../src/knowledge/records/raw-vectors-name.ts";
import { entity, plant } from "./support/planted-collection.ts";
import { World } from "./support/world.ts";
import { forAllTests } from "../support/for-tests.ts";

const world = forAllTests(() => World.open());
const process = forAllTests(() => world.process());

const source = (collection: string, to: object) => ({ kind: "collection", repository: "kb", collection, to });

describe("counts and checks", () => {
  it("R-TG-63 everything copied is counted, including the last page of each store", async () => {
    await plant(world, process, "counted");
    const { migration_id } = await process.plan(source("counted", { collection: "recounted" }));
    await process.run(migration_id, "copy");
    const [objects, passages, rows, quads, items] = [6, 4, 2, 3, 4];
    expect((await process.units(migration_id))[0]?.copied).toBe(objects + passages + rows + quads + items);
  });

  it("R-TG-63 a triple with more supports than can be listed is a problem of the plan, not of the verification", async () => {
    const { scope } = world.admin;
    const { incarnation } = await plant(world, process, "stated");
    const quad = { s: entity("stated", "often"), p: "<http://x/p>", o: '"x"', g: "" };
    const state = (part: number) =>
      world.triples.write(scope, incarnation, { insert: [quad], source: { source: "stated-one.1.1", part } });
    for (let part = 0; part < 1_000; part += 1) await state(part);
    expect(await process.plan(source("stated", { collection: "restated" }))).toMatchObject({ problem_count: 0 });
    await state(1_000);
    const plan = await process.plan(source("stated", { collection: "restated" }));
    expect(plan).toMatchObject({ problem_count: 1, problems: [{ where: expect.stringContaining("often") as string }] });
    expect(plan.problems[0]?.reason).toContain("more than 1000 supporting sources");
  });
});

describe("copying again", () => {
  it("R-TG-63 what differed is copied from the start, and then equal", async () => {
    const { scope } = world.admin;
    const { incarnation } = await plant(world, process, "moving");
    const { migration_id } = await process.plan(source("moving", { collection: "moved" }));
    await process.run(migration_id, "copy");
    const target = (await process.knowledge.collections.get(world.admin, "kb", "moved")).incarnation;
    const partition = new CollectionPartition(world.items, scope, {
      repository_id: "kb",
      collection_id: "moving",
      incarnation,
    });
    // By writers admitted before the hold; and the copy has lost a row.
    await world.triples.write(scope, incarnation, {
      insert: [{ s: "<http://x/s>", p: "<http://x/p>", o: '"late"', g: "" }],
    });
    await world.objects.put(scope, `${partition.prefix}moving-one/1/content`, Buffer.from("other bytes"));
    const row = { id: "r1", vector: Float32Array.of(9, 9, 9), text: "changed", metadata: {} };
    await world.vectors.vectors.append(scope, ownVectorsName(incarnation), { upsert: [row] });
    await world.vectors.vectors.append(scope, ownVectorsName(target), { delete: ["r2"] });
    expect(await process.run(migration_id, "validate")).toMatchObject({
      state: "copied",
      error: expect.stringContaining("missing here") as string,
    });
    expect((await process.units(migration_id))[0]?.differences).toContain("row r2");
    await process.run(migration_id, "copy");
    expect((await process.units(migration_id))[0]).toMatchObject({ status: "copied", differences: null });
    expect(await process.run(migration_id, "validate", "cutover")).toMatchObject({ state: "switched", error: null });
  });

  it("R-TG-63 rows that exist only in the new one stay and are named: they may belong to others", async () => {
    const { scope } = world.admin;
    await plant(world, process, "plain");
    const { migration_id } = await process.plan(source("plain", { collection: "more" }));
    await process.run(migration_id, "copy");
    const { incarnation } = await process.knowledge.collections.get(world.admin, "kb", "more");
    const own = { s: "<http://x/own>", p: "<http://x/p>", o: '"own"', g: "" };
    await world.triples.write(scope, incarnation, { insert: [own] });
    const told = { state: "copied", error: expect.stringContaining("only here") as string };
    expect(await process.run(migration_id, "validate")).toMatchObject(told);
    expect(await process.run(migration_id, "copy", "validate")).toMatchObject(told);
    expect(await world.triples.count(scope, incarnation, own)).toBe(1);
  });
});

describe("leases and authorization", () => {
  it.each(["copy", "validate"] as const)(
    "R-TG-99 a %s that takes longer than a lease renews it: no other process takes over",
    async (step) => {
      await plant(world, process, `slow-${step}`);
      const { migration_id } = await process.plan(source(`slow-${step}`, { collection: `slower-${step}` }));
      if (step === "validate") await process.run(migration_id, "copy");
      const other = await world.process();
      const [late, looked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      let objects = 0;
      other.calls.add({
        at: (name) => name.startsWith("objects.stream") && (objects += 1) === 6,
        kind: "hold",
        until: looked.promise,
        reached: () => late.resolve(),
      });
      other.calls.add({
        at: (name) => name.startsWith("objects.stream"),
        kind: "hold",
        always: true,
        until: Promise.resolve(),
        // Six objects, each of which takes a third of a lease.
        reached: () => (world.now += 20_000),
      });
      await other.migrations[step](world.admin, migration_id);
      const working = other.drive(migration_id);
      await late.promise;
      await expect(process.drive(migration_id)).rejects.toMatchObject({
        code: "UNAVAILABLE",
        detail: expect.stringContaining("Another process") as string,
      });
      looked.resolve();
      expect(await working).toMatchObject({ state: step === "copy" ? "copied" : "ready", error: null });
      await other.close();
    },
  );

  it("R-TG-99 listing the ids of vectors for longer than a lease renews it, and an aborted copy ends there", async () => {
    const { incarnation } = await plant(world, process, "listed");
    const items = Array.from({ length: 600 }, (_, i) => ({ id: `n${i}`, vector: [i, 1, 2] }));
    await process.knowledge.rows.upsert(world.admin, "kb", "listed", { items });
    const { migration_id } = await process.plan(source("listed", { collection: "relisted" }));
    const { vectors } = world.vectors;
    const rows = vectors.rows.bind(vectors);
    const controller = new AbortController();
    let [seen, refused] = [0, 0];
    const stop = { at: 200 };
    // Each row of the listing takes a third of a lease; another process checks from time to time.
    const slow = vi.spyOn(vectors, "rows").mockImplementation(async function* (...given) {
      for await (const row of rows(...given)) {
        if (given[1] !== ownVectorsName(incarnation)) yield row;
        else {
          world.now += 20_000;
          seen += 1;
          if (seen % 50 === 0)
            refused += await process.drive(migration_id).then(
              () => 0,
              (error: unknown) => (error instanceof PinakesError && /another process/i.test(error.detail) ? 1 : 0),
            );
          if (seen === stop.at) controller.abort();
          yield row;
        }
      }
    });
    const other = await world.process();
    await other.migrations.copy(world.admin, migration_id);
    await expect(
      other.migrations.drive(world.admin, migration_id, { signal: controller.signal }),
    ).rejects.toMatchObject({ name: "AbortError" });
    expect([seen, refused]).toEqual([200, 4]);
    stop.at = -1;
    expect(await other.drive(migration_id)).toMatchObject({ state: "copied", error: null });
    expect([seen, refused]).toEqual([802, 16]);
    slow.mockRestore();
    expect(await process.run(migration_id, "validate")).toMatchObject({ state: "ready", error: null });
    await other.close();
  });

  it("R-TG-63 R-TG-100 an automatic migration checks before every step, and waits if its requester lost the right", async () => {
    const ann = makeCaller({ tenant: "acme", userId: "ann", groups: ["staff"] });
    await process.knowledge.repositories.create(world.admin, { repository_id: "shared" });
    await process.knowledge.collections.create(ann, "kb", { collection_id: "anns" });
    const { migration_id } = await process.migrations.create(ann, {
      source: source("anns", { repository: "shared" }),
      auto: true,
    });
    const other = await world.process();
    const [reached, changed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let batches = 0;
    // The hold of the old one is the first, the new one is the second: it is being copied by then.
    other.calls.add({
      at: (name) => name === "items.batch collections" && (batches += 1) === 2,
      kind: "hold",
      until: changed.promise,
      reached: reached.resolve,
    });
    const driving = other.drive(migration_id);
    await reached.promise;
    await process.knowledge.repositories.update(world.admin, "shared", { allow_user_collections: false });
    changed.resolve();
    expect(await driving).toMatchObject({
      state: "copied",
      error: expect.stringContaining("Only admins can create collections") as string,
    });
    expect(await process.migrations.get(ann, migration_id)).not.toHaveProperty("asker");
    // An admin may: from here it runs with the admin's rights.
    await process.migrations.validate(world.admin, migration_id);
    expect(await process.drive(migration_id)).toMatchObject({ state: "switched", error: null });
    await other.close();
  });
});
