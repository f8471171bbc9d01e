/** Each kind of damage: planted, found, repaired, and then no longer found; intact data stays unchanged. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { settled } from "../knowledge/support/test-pinakes.ts";
import { Audited, dayMs, hourMs, type Filled } from "./support/audited.ts";
import { forAllTests } from "../support/for-tests.ts";

describe.each(["memory", "sqlite"] as const)("an audit on %s", (engine) => {
  let bystander: Filled;
  let untouched: unknown;
  const world = forAllTests(() => Audited.open(engine));
  beforeAll(async () => {
    bystander = await world.place("Bystander");
    untouched = await world.state(bystander);
  });
  afterAll(async () => {
    expect(await world.state(bystander)).toEqual(untouched);
  });

  const inside = (place: Filled) => ({ repository: place.repository });
  const contentOf = (place: Filled, document: string, part = "content") =>
    `knowledge/${place.incarnation}/${document}/1/${part}`;

  it("R-TG-54 finds nothing if nothing is wrong, checks everything, and repairs nothing", async () => {
    const place = await world.place();
    const before = await world.state(place);
    const report = await world.fsck({ ...inside(place), repair: true, deep: true });
    expect(report).toMatchObject({
      found: 0,
      left: 0,
      waiting: 0,
      summary: {},
      findings: [],
      truncated: false,
      repair: true,
      deep: true,
    });
    expect(report.checked).toMatchObject({ repositories: 1, collections: 2, documents: 2, objects: 4 });
    expect(report.checked.passages).toBeGreaterThanOrEqual(2);
    expect(report.checked.triples).toBeGreaterThan(1);
    expect(await world.state(place)).toEqual(before);
  });

  it("object_without_record: an old file that no record names is quarantined; a young one is left", async () => {
    const place = await world.place();
    const before = await world.state(place);
    const { objects } = world.test.pinakes;
    const stray = [
      `knowledge/${place.incarnation}/${randomUUID()}/1/content`,
      contentOf(place, place.first).replace("/1/", "/9/"),
      `knowledge/${place.incarnation}/odd`,
    ];
    for (const key of stray) await objects.put(world.scope, key, Buffer.from("stray"));
    expect(await world.fsck({ ...inside(place), repair: true })).toMatchObject({ found: 0, waiting: 3 });
    world.time.shift += hourMs;
    expect((await world.fsck(inside(place))).findings.map(({ kind, key, store }) => [kind, key, store])).toEqual(
      stray.toSorted().map((key) => ["object_without_record", key, "objects"]),
    );
    expect(await world.kinds({ ...inside(place), repair: true })).toEqual(
      Array.from({ length: 3 }, () => "object_without_record repaired"),
    );
    expect(await world.fsck(inside(place))).toMatchObject({ found: 0, waiting: 0 });
    expect(await world.state(place)).toEqual(before);
  });

  it("record_without_object: a text is restored exactly from its bytes; nothing else changes", async () => {
    const place = await world.place();
    const before = await world.state(place);
    const { objects } = world.test.pinakes;
    await objects.delete(world.scope, [contentOf(place, place.first, "text")]);
    expect((await world.fsck(inside(place))).findings).toMatchObject([
      { kind: "record_without_object", document_id: place.first, repaired: false },
    ]);
    expect(await world.kinds({ ...inside(place), repair: true })).toEqual(["record_without_object repaired"]);
    expect(await world.kinds(inside(place))).toEqual([]);
    expect(await world.state(place)).toEqual(before);
  });

  it("record_without_object: without its bytes the document is marked failed, and is still found", async () => {
    const place = await world.place();
    await world.test.pinakes.objects.delete(world.scope, [contentOf(place, place.first)]);
    expect(await world.kinds(inside(place))).toEqual(["record_without_object"]);
    expect(await world.kinds({ ...inside(place), repair: true })).toEqual(["record_without_object repaired"]);
    expect(await world.kinds({ ...inside(place), deep: true })).toEqual([]);
    const { knowledge, caller, repository, collection } = place;
    const document = await knowledge.documents.get(caller, repository, collection, place.first);
    const bytes = Buffer.byteLength("# Turing\n\nAlan Turing wrote On Computable Numbers in 1936.\n");
    expect(document).toMatchObject({
      status: "failed",
      error: expect.stringContaining("upload it again"),
      size_bytes: bytes,
    });
    const { hits } = await knowledge.search.run(caller, {
      query: "computable numbers",
      collections: [{ repository, collection }],
      mode: "keyword",
    });
    expect(hits.map((hit) => hit.document_id)).toContain(place.first);
    expect(await knowledge.collections.usage(caller, repository, collection)).toMatchObject({ consistent: true });
    // All of its files: nothing remains to be named.
    await world.test.pinakes.objects.delete(world.scope, [
      contentOf(place, place.second),
      contentOf(place, place.second, "text"),
    ]);
    await world.kinds({ ...inside(place), repair: true });
    expect(await world.kinds({ ...inside(place), deep: true })).toEqual([]);
  });

  it("vectors_without_document: chunks of a missing document, run or index are removed; the others stay", async () => {
    const place = await world.place();
    const before = await world.state(place);
    const { vectors } = world.test.pinakes;
    const [row] = await Array.fromAsync(vectors.rows(world.scope, `${place.incarnation}.1`));
    const vector = row?.vector as Float32Array;
    const ids = [`${randomUUID()}.1.0`, `${place.first}.9.0`, `${place.first}.1.7`, `${place.first}.1.8`];
    await vectors.append(world.scope, `${place.incarnation}.1`, { upsert: ids.map((id) => ({ id, vector })) });
    const found = (await world.fsck(inside(place))).findings;
    expect(found.map(({ kind, document_id }) => `${kind} ${document_id}`).toSorted()).toEqual(
      [
        `vectors_without_document ${place.first}`,
        `vectors_without_document ${place.first}`,
        `vectors_without_document ${ids[0]?.split(".")[0]}`,
      ].toSorted(),
    );
    expect(await world.kinds({ ...inside(place), repair: true })).toHaveLength(3);
    expect(await world.kinds({ ...inside(place), deep: true })).toEqual([]);
    expect(await world.state(place)).toEqual(before);
  });

  it("vectors_without_document: an earlier generation is removed once it has been observed for an hour", async () => {
    const place = await world.place();
    const { knowledge, caller, repository, collection } = place;
    const { job_id } = await knowledge.collections.reindex(caller, repository, collection);
    await expect.poll(async () => (await knowledge.jobs.get(caller, job_id)).status).toBe("succeeded");
    const { vectors, items } = world.test.pinakes;
    // A generation left by a crash: searches read the one above it.
    const fence = await items.read(world.scope, "documents", {
      partition: [repository, place.incarnation],
      id: "fence",
    });
    expect(fence?.document["generation"]).toBe(2);
    await items.write(world.scope, "documents", [repository, place.incarnation], {
      op: "patch",
      id: "fence",
      patch: [{ op: "set", path: "/generation", value: 4 }],
    });
    await vectors.create(world.scope, `${place.incarnation}.3`, { dims: 2 });
    expect(await world.fsck(inside(place))).toMatchObject({ waiting: 2 });
    world.time.shift += hourMs;
    const stray = (await world.fsck({ ...inside(place), repair: true })).findings.filter(
      ({ kind }) => kind === "vectors_without_document",
    );
    expect(stray.map(({ key }) => key)).toEqual([`${place.incarnation}.3`, `${place.incarnation}.2`]);
    expect((await vectors.remains(world.scope, `${place.incarnation}.3`)).status).toBe("trashed");
  });

  it("document_without_vectors: its chunks are rebuilt; if its bytes are missing too, it is marked", async () => {
    const place = await world.place();
    const { vectors, objects } = world.test.pinakes;
    const rows = (await Array.fromAsync(vectors.rows(world.scope, `${place.incarnation}.1`))).map(({ id }) => id);
    await vectors.append(world.scope, `${place.incarnation}.1`, {
      delete: rows.filter((id) => id.startsWith(place.first)),
    });
    expect((await world.fsck(inside(place))).findings).toMatchObject([
      { kind: "document_without_vectors", document_id: place.first },
    ]);
    expect(await world.kinds({ ...inside(place), repair: true })).toEqual(["document_without_vectors repaired"]);
    expect(await settled(place, place.first)).toMatchObject({ status: "indexed" });
    expect(await world.kinds({ ...inside(place), deep: true })).toEqual([]);
    const { knowledge, caller, repository, collection } = place;
    const { hits } = await knowledge.search.run(caller, {
      query: "computable numbers",
      collections: [{ repository, collection }],
      mode: "keyword",
    });
    expect(hits.map((hit) => hit.document_id)).toContain(place.first);
    await vectors.append(world.scope, `${place.incarnation}.1`, {
      delete: rows.filter((id) => id.startsWith(place.second)),
    });
    await objects.delete(world.scope, [contentOf(place, place.second), contentOf(place, place.second, "text")]);
    await world.kinds({ ...inside(place), repair: true });
    expect(await world.kinds({ ...inside(place), deep: true })).toEqual([]);
    expect(await knowledge.documents.get(caller, repository, collection, place.second)).toMatchObject({
      status: "failed",
      chunk_count: 1,
    });
    expect(await knowledge.collections.usage(caller, repository, collection)).toMatchObject({ consistent: true });
  });

  it("triples_without_support_source: a source that no record names is removed with what it alone supported", async () => {
    const place = await world.place();
    const before = await world.state(place);
    const { triples } = world.test.pinakes;
    const quad = (s: string) => ({ s: `<urn:${s}>`, p: "<urn:b>", o: "<urn:c>", g: "" });
    const sources = [`${randomUUID()}.1.1`, `${place.first}.9.1`];
    for (const source of sources)
      await triples.write(world.scope, place.incarnation, {
        insert: [quad("a"), quad(source)],
        source: { source, part: 0 },
      });
    expect((await world.fsck(inside(place))).findings.map(({ kind, key }) => `${kind} ${key}`).toSorted()).toEqual(
      sources.map((source) => `triples_without_support_source ${source}`).toSorted(),
    );
    expect(await world.kinds({ ...inside(place), repair: true })).toHaveLength(2);
    expect(await world.kinds(inside(place))).toEqual([]);
    expect(await world.state(place)).toEqual(before);
  });

  it("counter_off: counters of a collection and of a repository are corrected by counting", async () => {
    const place = await world.place();
    const before = await world.state(place);
    const { items } = world.test.pinakes;
    const incr = (path: string, value: number) => [{ op: "incr" as const, path, value }];
    const partition = [place.repository, place.incarnation];
    await items.write(world.scope, "documents", partition, {
      op: "patch",
      id: "stats",
      patch: incr("/by_status/failed", 3),
    });
    await items.write(world.scope, "collections", [place.repository], {
      op: "patch",
      id: "count",
      patch: incr("/collections", -1),
    });
    expect((await world.fsck(inside(place))).findings.map(({ kind, key }) => `${kind} ${key}`).toSorted()).toEqual([
      "counter_off count",
      "counter_off stats",
    ]);
    expect(await world.kinds({ ...inside(place), repair: true })).toEqual([
      "counter_off repaired",
      "counter_off repaired",
    ]);
    expect(await world.kinds(inside(place))).toEqual([]);
    expect(await world.state(place)).toEqual(before);
    await items.write(world.scope, "documents", partition, { op: "delete", id: "stats" });
    expect(await world.kinds({ ...inside(place), repair: true })).toEqual(["counter_off repaired"]);
    expect(await world.kinds(inside(place))).toEqual([]);
  });

  it("manifest_broken: chunks with missing files are rebuilt from the text; callers' rows are only reported", async () => {
    const place = await world.place();
    const { vectors, objects } = world.test.pinakes;
    const passages = `${place.incarnation}.1`;
    await vectors.compact(world.scope, passages, { all: true });
    const { keys } = await objects.list(world.scope, `vectors/${passages}/`, { limit: 1_000 });
    await objects.delete(
      world.scope,
      keys.filter(({ key }) => key.includes("/segments/")).map(({ key }) => key),
    );
    expect(keys.some(({ key }) => key.includes("/segments/"))).toBe(true);
    const found = await world.kinds({ ...inside(place), deep: true });
    expect(found).toContain("manifest_broken");
    expect(await world.kinds({ ...inside(place), repair: true, deep: true })).toContain("manifest_broken repaired");
    expect(await world.kinds({ ...inside(place), deep: true })).toEqual([]);
    const { knowledge, caller, repository, collection } = place;
    const { hits } = await knowledge.search.run(caller, {
      query: "computable numbers",
      collections: [{ repository, collection }],
      mode: "keyword",
    });
    expect(hits.map((hit) => hit.document_id)).toContain(place.first);
    const own = `${place.incarnation}.own`;
    await vectors.compact(world.scope, own, { all: true });
    const files = await objects.list(world.scope, `vectors/${own}/`, { limit: 1_000 });
    await objects.delete(
      world.scope,
      files.keys.filter(({ key }) => key.includes("/segments/")).map(({ key }) => key),
    );
    const report = await world.fsck({ ...inside(place), repair: true });
    expect(report.left).toBeGreaterThan(0);
    for (const { kind, repaired, detail } of report.findings)
      expect({ kind, repaired, detail }).toMatchObject({ kind: "manifest_broken", repaired: false });
    expect(report.findings[0]?.detail).toContain("nowhere else");
    await vectors.purge(world.scope, own);
  });

  it("R-TG-54 R-TG-70 W13 unknown_incarnation: data in any store that no record names is found, quarantined after its grace period, and removed when dropped", async () => {
    const { objects, vectors, triples, items } = world.test.pinakes;
    const incarnation = randomUUID();
    await objects.put(world.scope, `knowledge/${incarnation}/d/1/content`, Buffer.from("stray"));
    await vectors.create(world.scope, `${incarnation}.1`, { dims: 2 });
    await triples.open(world.scope, incarnation);
    await triples.write(world.scope, incarnation, { insert: [{ s: "<urn:a>", p: "<urn:b>", o: "<urn:c>", g: "" }] });
    const document = { repository_id: "gone", incarnation, kind: "document" };
    await items.batch(
      world.scope,
      "documents",
      ["gone", incarnation],
      [
        {
          op: "create",
          document: {
            ...document,
            id: "fence",
            kind: "fence",
            status: "ACTIVE",
            held: true,
            generation: 1,
            collection_id: "x",
          },
        },
        { op: "create", document: { ...document, id: "document:x" } },
      ],
    );
    const strays = async (repair = false) => {
      const { findings } = await world.fsck({ repair });
      return findings
        .filter((one) => one.incarnation === incarnation)
        .map(({ kind, store, repaired }) => `${kind} ${store} ${repaired}`)
        .toSorted();
    };
    const all = (repaired: boolean) =>
      ["documents", "objects", "triples", "vectors"].map((store) => `unknown_incarnation ${store} ${repaired}`);
    // First seen now: its record may be too recent for an index.
    expect(await strays(true)).toEqual([]);
    world.time.shift += hourMs;
    expect(await strays(true)).toEqual(all(false));
    world.time.shift += dayMs;
    expect(await strays()).toEqual(all(false));
    expect(await strays(true)).toEqual(all(true));
    expect(await strays()).toEqual([]);
    expect((await objects.list(world.scope, `knowledge/${incarnation}/`)).keys).toHaveLength(1);
    const { quarantine } = world.test.knowledge;
    const { items: held } = await quarantine.list(world.test.admin);
    expect(
      held.filter((one) => one.incarnation === incarnation).map(({ store, kind }) => `${kind} ${store}`),
    ).toHaveLength(4);
    for (const { entry_id } of held) await quarantine.drop(world.test.admin, entry_id);
    expect((await objects.list(world.scope, `knowledge/${incarnation}/`)).keys).toEqual([]);
    expect((await triples.usage(world.scope, incarnation)).quads).toBe(0);
  });
});
