/** A repair interrupted at any call does no harm, and the next one completes it. */
import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { auditLimits } from "../../src/knowledge/index.ts";
import { World, type Place, type Process } from "../lifecycle/support/world.ts";
import { fsck, kinds } from "./support/fsck.ts";

/** What no repair may change: records of documents, and rows and triples that are named. */
async function named(world: World, { repository_id, incarnation }: Place): Promise<unknown> {
  const { scope } = world.admin;
  const { items } = await world.items.query(scope, "documents", {
    equals: { repository_id, incarnation },
    limit: 1_000,
  });
  const { keys } = await world.objects.list(scope, `knowledge/${incarnation}/`, { limit: 1_000 });
  return {
    documents: items
      .filter(({ id }) => id.startsWith("document:") || id.startsWith("source:") || id === "stats")
      .map(({ document }) => document),
    objects: keys.map(({ key }) => key),
    own: (await Array.fromAsync(world.vectors.vectors.rows(scope, `${incarnation}.own`)))
      .map(({ id }) => id)
      .toSorted(),
    triples: await world.triples.usage(scope, incarnation),
  };
}

/** Plants one of each kind that needs no model. */
async function plant(world: World, { repository_id, incarnation }: Place): Promise<void> {
  const { scope } = world.admin;
  const partition = [repository_id, incarnation];
  await world.objects.put(scope, `knowledge/${incarnation}/${randomUUID()}/1/content`, Buffer.from("stray"));
  const { vectors } = world.vectors;
  await vectors.create(scope, `${incarnation}.1`, { dims: 2 });
  await vectors.append(scope, `${incarnation}.1`, { upsert: [{ id: `${randomUUID()}.1.0`, vector: [1, 2] }] });
  const source = { source: `${randomUUID()}.1.1`, part: 0 };
  await world.triples.write(scope, incarnation, {
    insert: [{ s: "<urn:left>", p: "<urn:p>", o: "<urn:o>", g: "" }],
    source,
  });
  await world.items.write(scope, "documents", partition, {
    op: "patch",
    id: "stats",
    patch: [{ op: "incr", path: "/document_count", value: 5 }],
  });
  await world.items.write(scope, "collections", [repository_id], {
    op: "patch",
    id: "count",
    patch: [{ op: "incr", path: "/collections", value: 5 }],
  });
  const document_id = randomUUID();
  const removal = {
    id: `removal:${document_id}:1.deleted`,
    kind: "removal",
    document_id,
    chunks: [],
    object_keys: [],
    at: new Date(world.now).toISOString(),
  };
  await world.items.write(scope, "documents", partition, {
    op: "create",
    document: { ...removal, repository_id, incarnation },
  });
  world.now += auditLimits.objectYoungMs;
}

/** Everything removed is quarantined once, however often the repair was repeated, and complete: it can be restored. */
async function quarantined(world: World, { knowledge }: Process): Promise<readonly string[]> {
  const { items } = await knowledge.quarantine.list(world.admin);
  for (const { entry_id } of items) await knowledge.quarantine.restore(world.admin, entry_id);
  const { scope } = world.admin;
  for (const { kind, target, incarnation, document_id } of items) {
    if (kind === "object")
      expect(await world.objects.get(scope, target)).toEqual(Uint8Array.from(Buffer.from("stray")));
    if (kind === "triples")
      expect((await world.triples.ofSource(scope, incarnation, target)).quads).toMatchObject([
        { quad: { s: "<urn:left>" }, parts: [0] },
      ]);
    if (kind === "rows")
      expect((await world.vectors.vectors.get(scope, target, [`${document_id}.1.0`]))[0]?.vector).toEqual(
        Float32Array.of(1, 2),
      );
  }
  return items.map(({ kind }) => kind).toSorted();
}

const planted = [
  "counter_off",
  "counter_off",
  "object_without_record",
  "removal_left",
  "triples_without_support_source",
  "vectors_without_document",
];

async function prepared(): Promise<{ world: World; process: Process; place: Place; before: unknown }> {
  const world = await World.open();
  const process = await world.process();
  const place = await world.fill(process, world.admin, "papers");
  const before = await named(world, place);
  await plant(world, place);
  return { world, process, place, before };
}

it("R-TG-54 all of them together are found, repaired, and gone", async () => {
  const { world, process, place, before } = await prepared();
  expect(kinds(await fsck(world, process))).toEqual(planted);
  const report = await fsck(world, process, { repair: true });
  expect(kinds(report)).toEqual(planted.map((kind) => `${kind} repaired`));
  expect(report).toMatchObject({ found: 6, left: 0, summary: { counter_off: { found: 2, repaired: 2 } } });
  expect(await fsck(world, process, { deep: true })).toMatchObject({ found: 0, waiting: 0 });
  expect(report.quarantined).toBe(3);
  expect(await named(world, place)).toEqual(before);
  expect(await quarantined(world, process)).toEqual(["object", "rows", "triples"]);
  await process.close();
  await world[Symbol.asyncDispose]();
});

it("R-TG-54 a process that dies at any call of a repair leaves intact data unchanged; the next repair completes it", async () => {
  const first = await prepared();
  first.process.calls.names.length = 0;
  await fsck(first.world, first.process, { repair: true });
  const calls = first.process.calls.names.length;
  expect(calls).toBeGreaterThan(50);
  await first.process.close();
  await first.world[Symbol.asyncDispose]();
  for (let at = 0; at < calls; at += 1) {
    const { world, process, place, before } = await prepared();
    process.calls.names.length = 0;
    process.calls.add({ at, kind: at % 2 === 0 ? "crash-before" : "crash-after" });
    const done = fsck(world, process, { repair: true }).then(
      () => {},
      () => {},
    );
    await Promise.race([process.calls.died, done]);
    const next = await world.process();
    await fsck(world, next, { repair: true });
    expect(await fsck(world, next, { deep: true }), `call ${at}`).toMatchObject({ found: 0, waiting: 0 });
    expect(await named(world, place), `call ${at}`).toEqual(before);
    expect(await quarantined(world, next), `call ${at}`).toEqual(["object", "rows", "triples"]);
    await next.close();
    await world[Symbol.asyncDispose]();
  }
});
