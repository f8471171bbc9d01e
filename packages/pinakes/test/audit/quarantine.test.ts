/** What a repair removes can be restored until it expires, and none of it outlives its collection. */
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { makeCaller } from "../../src/domain/caller.ts";
import { auditLimits, quarantineLimits, walkWorkspaces } from "../../src/knowledge/index.ts";
import { lifecycleLimits } from "../../src/lifecycle/index.ts";
import { open } from "../../src/open.ts";
import { system, World, type Place, type Process } from "../lifecycle/support/world.ts";
import { useServers } from "../support/servers.ts";
import { pagesOf } from "../../src/runtime/pages.ts";
import { Audited, hourMs } from "./support/audited.ts";
import { fsck, kinds } from "./support/fsck.ts";

const { postgres } = useServers();

describe.each([
  ["SQLite", () => Audited.open("sqlite")],
  ["PostgreSQL", () => Audited.open("elsewhere", { items: postgres() })],
])("on %s", (_, opened) => {
  it("a repair with outdated records is undone: searches find the same, and everything is as it was", async () => {
    await using world = await opened();
    const place = await world.place();
    const { knowledge, caller, repository, collection, incarnation } = place;
    const { items } = world.test.pinakes;
    // Except the time of the last search.
    const state = async () => JSON.stringify(await world.state(place)).replaceAll(/"last_used_at":"[^"]+"/g, "");
    const before = await state();
    const search = async () => {
      const { hits } = await knowledge.search.run(caller, {
        query: "computable numbers",
        collections: [{ repository, collection }],
      });
      return hits.map(({ document_id, text, score }) => ({ document_id, text, score }));
    };
    const hits = await search();
    expect(hits.map(({ document_id }) => document_id)).toContain(place.first);
    // Items restored from a backup before the upload.
    const key = { partition: [repository, incarnation], id: `document:${place.first}` };
    const record = (await items.read(world.scope, "documents", key))?.document as { readonly id: string };
    await items.write(world.scope, "documents", key.partition, { op: "delete", id: key.id });
    world.time.shift += hourMs;
    const report = await world.fsck({ repository, repair: true, deep: true });
    expect(report.summary).toMatchObject({
      object_without_record: { repaired: 2 },
      vectors_without_document: { repaired: 1 },
    });
    expect(report.quarantined).toBe(report.found - (report.summary.counter_off?.found ?? 0));
    expect((await search()).map(({ document_id }) => document_id)).not.toContain(place.first);
    // The current items are back.
    await items.write(world.scope, "documents", key.partition, { op: "create", document: record });
    const { items: entries } = await knowledge.quarantine.list(caller, { repository, collection });
    expect(entries).toHaveLength(report.quarantined);
    for (const { entry_id } of entries) await knowledge.quarantine.restore(caller, entry_id);
    expect(await world.kinds({ repository, repair: true, deep: true })).toEqual(["counter_off repaired"]);
    expect(await search()).toEqual(hits);
    expect(await state()).toBe(before);
    expect(await world.kinds({ deep: true })).toEqual([]);
  });
});

/** A file, a chunk and a triple that no record names, removed by a repair. */
async function repaired(
  world: World,
  process: Process,
  id = "papers",
): Promise<Place & { readonly key: string; readonly row: string; readonly source: string }> {
  const place = await world.fill(process, world.admin, id);
  const { scope } = world.admin;
  const { vectors } = world.vectors;
  const [key, row, source] = [
    `knowledge/${place.incarnation}/${randomUUID()}/1/content`,
    `${randomUUID()}.1.0`,
    `${randomUUID()}.1.1`,
  ];
  await world.objects.put(scope, key, Buffer.from("stray"));
  await vectors.create(scope, `${place.incarnation}.1`, { dims: 2 });
  await vectors.append(scope, `${place.incarnation}.1`, {
    upsert: [{ id: row, vector: [1, 2], text: "stray", metadata: { n: 1 } }],
  });
  await world.triples.write(scope, place.incarnation, {
    insert: [{ s: "<urn:left>", p: "<urn:p>", o: "<urn:o>", g: "" }],
    source: { source, part: 3 },
  });
  world.now += auditLimits.objectYoungMs;
  expect(await fsck(world, process, { repair: true })).toMatchObject({ left: 0, quarantined: 3 });
  expect(await world.objects.head(scope, key)).toBeUndefined();
  return { ...place, key, row, source };
}

const held = async (world: World, { knowledge }: Process) => (await knowledge.quarantine.list(world.admin)).items;
const keysOf = async (world: World) =>
  (await world.objects.list(world.admin.scope, "quarantine/", { limit: 1_000 })).keys.map(({ key }) => key);

it("an entry says what it is and when it expires; a restore is idempotent, and never overwrites what exists", async () => {
  await using world = await World.open();
  const process = await world.process();
  const place = await repaired(world, process);
  const { quarantine } = process.knowledge;
  const { scope } = world.admin;
  const entries = await held(world, process);
  const expires_at = new Date(world.now + quarantineLimits.retentionMs).toISOString();
  expect(
    entries
      .map(({ kind, target, count, restored_at, ...one }) => [kind, target, count, restored_at, one.expires_at])
      .toSorted(),
  ).toEqual([
    ["object", place.key, 1, null, expires_at],
    ["rows", `${place.incarnation}.1`, 1, null, expires_at],
    ["triples", place.source, 1, null, expires_at],
  ]);
  for (const entry of entries) {
    expect(await quarantine.get(world.admin, entry.entry_id)).toEqual(entry);
    for (let i = 0; i < 2; i += 1)
      expect((await quarantine.restore(world.admin, entry.entry_id)).restored_at).toBe(
        new Date(world.now).toISOString(),
      );
  }
  expect(Buffer.from((await world.objects.get(scope, place.key)) as Uint8Array).toString()).toBe("stray");
  expect(await world.vectors.vectors.get(scope, `${place.incarnation}.1`, [place.row])).toMatchObject([
    { text: "stray", metadata: { n: 1 } },
  ]);
  expect((await world.triples.ofSource(scope, place.incarnation, place.source)).quads).toMatchObject([
    { quad: { s: "<urn:left>" }, parts: [3] },
  ]);
  expect(kinds(await fsck(world, process))).toEqual(["triples_without_support_source", "vectors_without_document"]);
  // Something else exists there now.
  await world.objects.put(scope, place.key, Buffer.from("newer"));
  await world.vectors.vectors.append(scope, `${place.incarnation}.1`, { upsert: [{ id: place.row, vector: [3, 4] }] });
  const of = (kind: string) => entries.find((one) => one.kind === kind)?.entry_id as string;
  await expect(quarantine.restore(world.admin, of("object"))).rejects.toMatchObject({
    code: "CONFLICT",
    detail: expect.stringContaining("Another file") as string,
  });
  await expect(quarantine.restore(world.admin, of("rows"))).rejects.toMatchObject({
    code: "CONFLICT",
    detail: expect.stringContaining("overwritten") as string,
  });
  expect(Buffer.from((await world.objects.get(scope, place.key)) as Uint8Array).toString()).toBe("newer");
  expect((await world.vectors.vectors.get(scope, `${place.incarnation}.1`, [place.row]))[0]?.vector).toEqual(
    Float32Array.of(3, 4),
  );
  // Nothing is written in the trash.
  await process.knowledge.collections.delete(world.admin, "kb", "papers");
  await expect(quarantine.restore(world.admin, of("triples"))).rejects.toMatchObject({ code: "CONFLICT" });
  await process.close();
});

it("a damaged copy is refused before anything is written; a dropped entry is gone", async () => {
  await using world = await World.open();
  const process = await world.process();
  const place = await repaired(world, process);
  const { quarantine } = process.knowledge;
  const entry = (await held(world, process)).find(({ kind }) => kind === "object");
  const id = entry?.entry_id as string;
  const data = (await keysOf(world)).find(
    (key) => key.includes(id.split(".")[1] as string) && key.endsWith("/data"),
  ) as string;
  await world.objects.put(world.admin.scope, data, Buffer.from("other"));
  await expect(quarantine.restore(world.admin, id)).rejects.toMatchObject({ code: "CORRUPT" });
  await world.objects.delete(world.admin.scope, [data]);
  await expect(quarantine.restore(world.admin, id)).rejects.toMatchObject({ code: "CORRUPT" });
  expect(await world.objects.head(world.admin.scope, place.key)).toBeUndefined();
  for (const { entry_id } of await held(world, process)) {
    await quarantine.drop(world.admin, entry_id);
    await expect(quarantine.get(world.admin, entry_id)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(quarantine.restore(world.admin, entry_id)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(quarantine.drop(world.admin, entry_id)).rejects.toMatchObject({ code: "NOT_FOUND" });
  }
  expect(await keysOf(world)).toEqual([]);
  await process.close();
});

it("an earlier generation of chunks is trashed, undeleted by a restore, and purged when dropped", async () => {
  await using world = await World.open();
  const process = await world.process();
  const { repository_id, incarnation } = await world.fill(process, world.admin, "papers");
  const { scope } = world.admin;
  const { vectors } = world.vectors;
  const patch = [{ op: "set" as const, path: "/generation", value: 2 }];
  await world.items.write(scope, "documents", [repository_id, incarnation], { op: "patch", id: "fence", patch });
  const name = `${incarnation}.1`;
  await vectors.create(scope, name, { dims: 2 });
  await vectors.append(scope, name, { upsert: [{ id: "x.1.0", vector: [1, 2] }] });
  await fsck(world, process);
  world.now += auditLimits.generationMs;
  expect(await fsck(world, process, { repair: true })).toMatchObject({ left: 0, quarantined: 1 });
  const [entry] = await held(world, process);
  expect(entry).toMatchObject({ kind: "generation", target: name });
  await expect(vectors.count(scope, name)).rejects.toMatchObject({ code: "NOT_FOUND" });
  for (let i = 0; i < 2; i += 1) await process.knowledge.quarantine.restore(world.admin, entry?.entry_id as string);
  expect(await vectors.count(scope, name)).toBe(1);
  // Already restored: dropping the entry keeps it.
  await process.knowledge.quarantine.drop(world.admin, entry?.entry_id as string);
  expect(await vectors.count(scope, name)).toBe(1);
  expect(await fsck(world, process, { repair: true })).toMatchObject({ quarantined: 1 });
  await process.knowledge.quarantine.drop(world.admin, entry?.entry_id as string);
  expect(await vectors.remains(scope, name)).toEqual({ status: "deleted", left: 0 });
  await process.close();
});

it("data of an unknown collection stays in place; a restore restarts its grace period, and a returning record ends the quarantine", async () => {
  await using world = await World.open();
  const process = await world.process();
  const place = await world.fill(process, world.admin, "papers");
  const { scope } = world.admin;
  const document = (await world.items.read(scope, "collections", { partition: ["kb"], id: "collection:papers" }))
    ?.document as { id: string };
  await world.items.write(scope, "collections", ["kb"], { op: "delete", id: document.id });
  await fsck(world, process, { repair: true });
  const before = await world.left(place);
  world.now += lifecycleLimits.orphanGraceMs;
  expect(await fsck(world, process, { repair: true })).toMatchObject({ quarantined: 4 });
  const entries = await held(world, process);
  expect(entries.map(({ kind, store }) => `${kind} ${store}`).toSorted()).toEqual(
    ["documents", "objects", "triples", "vectors"].map((one) => `collection ${one}`),
  );
  expect(await world.left(place)).toEqual(before);
  expect(kinds(await fsck(world, process)).filter((kind) => kind.startsWith("unknown"))).toEqual([]);
  await process.knowledge.quarantine.restore(world.admin, entries[0]?.entry_id as string);
  expect(await held(world, process)).toHaveLength(3);
  world.now += auditLimits.suspectMs;
  expect(kinds(await fsck(world, process, { repair: true })).filter((kind) => kind.startsWith("unknown"))).toEqual([
    "unknown_incarnation",
  ]);
  await world.items.write(scope, "collections", ["kb"], { op: "create", document });
  await fsck(world, process);
  expect(await held(world, process)).toEqual([]);
  expect(await world.left(place)).toEqual(before);
  expect((await process.knowledge.rows.query(world.admin, "kb", "papers", { vector: [0, 1] })).hits).toHaveLength(3);
  await process.close();
});

it("a purge of the collection removes its quarantine, including entries written during the purge", async () => {
  await using world = await World.open();
  const process = await world.process();
  const gone = await repaired(world, process, "gone");
  const stays = await repaired(world, process, "stays");
  const { job_id } = await process.purge(gone);
  await process.lifecycle.idle();
  await process.pass(2);
  expect(await process.knowledge.operations.get(world.admin, job_id)).toMatchObject({ status: "done" });
  expect((await keysOf(world)).filter((key) => key.includes(gone.incarnation))).toEqual([]);
  expect((await held(world, process)).map(({ incarnation }) => incarnation)).toEqual(
    Array.from({ length: 3 }, () => stays.incarnation),
  );
  // A process that died after writing an entry, just when the purge had ended.
  const [entry] = await keysOf(world);
  const late = (entry as string).replace(stays.incarnation, gone.incarnation).replace(/data$/, "entry.json");
  const text = Buffer.from(
    (await world.objects.get(world.admin.scope, (entry as string).replace(/data$/, "entry.json"))) as Uint8Array,
  ).toString("utf8");
  await world.objects.put(
    world.admin.scope,
    late,
    Buffer.from(text.replaceAll(stays.incarnation, gone.incarnation).replaceAll('"stays"', '"gone"')),
  );
  const watching = await world.process({
    workspaces: walkWorkspaces({
      book: { after: async () => undefined, has: async () => false },
      objects: world.objects,
      system,
    }),
  });
  await watching.opened.audit.round(new AbortController().signal);
  expect((await keysOf(world)).filter((key) => key.includes(gone.incarnation))).toEqual([]);
  expect(await keysOf(world)).toHaveLength(6);
  await watching.close();
  await process.close();
});

it("entries expire after their configurable retention; unfinished copies are removed after an hour", async () => {
  await using world = await World.open();
  const walk = walkWorkspaces({
    book: { after: async () => undefined, has: async () => false },
    objects: world.objects,
    system,
  });
  const process = await world.process({ workspaces: walk });
  const place = await repaired(world, process);
  const unfinished = `quarantine/${place.incarnation}/${"f".repeat(32)}/data`;
  await world.objects.put(world.admin.scope, unfinished, Buffer.from("half"));
  const sweep = async () => {
    world.now += auditLimits.passPauseMs;
    await process.opened.audit.round(new AbortController().signal);
  };
  const taken = world.now;
  await process.opened.audit.round(new AbortController().signal);
  expect(await keysOf(world)).toHaveLength(7);
  await sweep();
  expect(await keysOf(world)).not.toContain(unfinished);
  world.now = taken + quarantineLimits.retentionMs - auditLimits.passPauseMs - 1;
  await sweep();
  expect(await held(world, process)).toHaveLength(3);
  await sweep();
  expect(await keysOf(world)).toEqual([]);
  await process.close();
  const stores = { items: "memory:", objects: "memory:", background: false } as const;
  for (const quarantineDays of [0, 1.5, 3_651])
    await expect(open({ ...stores, quarantineDays })).rejects.toThrow(
      /quarantineDays: must be a whole number from 1 to 3650/,
    );
  await using _ = await open({ ...stores, quarantineDays: 3_650 });
});

it("lists are paged, and admins of another workspace have their own quarantine", async () => {
  await using world = await World.open();
  const process = await world.process();
  const { incarnation } = await repaired(world, process, "one");
  await repaired(world, process, "two");
  const { quarantine } = process.knowledge;
  const seen: string[] = [];
  for await (const page of pagesOf((cursor) => quarantine.list(world.admin, { limit: 2, cursor }))) {
    expect(page.items.length).toBeLessThanOrEqual(2);
    seen.push(...page.items.map(({ entry_id }) => entry_id));
  }
  expect(new Set(seen).size).toBe(6);
  expect(seen).toHaveLength(6);
  const one = await quarantine.list(world.admin, { repository: "kb", collection: "one" });
  expect(one.items.map((entry) => entry.incarnation)).toEqual(Array.from({ length: 3 }, () => incarnation));
  const other = makeCaller({ tenant: "globex", userId: "root", role: "admin" });
  expect(await quarantine.list(other)).toEqual({ items: [], next_cursor: null });
  await expect(quarantine.list(other, { repository: "kb", collection: "one" })).rejects.toMatchObject({
    code: "NOT_FOUND",
  });
  for (const wrong of [0, 101, 1.5])
    await expect(quarantine.list(world.admin, { limit: wrong })).rejects.toMatchObject({ code: "INVALID" });
  await expect(quarantine.list(world.admin, { cursor: "knowledge/x" })).rejects.toMatchObject({ code: "INVALID" });
  await expect(quarantine.list(world.admin, { repository: "kb" })).rejects.toMatchObject({ code: "INVALID" });
  for (const id of ["", "x", "../a.b", `${incarnation}.objects`, "a/b.objects"])
    await expect(quarantine.get(world.admin, id)).rejects.toMatchObject({ code: "NOT_FOUND" });
  await process.close();
});
