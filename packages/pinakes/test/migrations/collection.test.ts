/** `migrate-collection`: a collection moves to another id or another repository, with all its contents, and back. */
import { buffer } from "node:stream/consumers";
import { beforeAll, describe, expect, it } from "vitest";
import { systemScope } from "../../src/domain/scope.ts";
import { CollectionPartition } from "../../src/knowledge/records/collection-partition.ts";
import { beginPreparation } from "../../src/knowledge/ingest/preparations.ts";
import { collectionDocument, CatalogRecords } from "../../src/knowledge/records/catalog-records.ts";
import {
  documentsContainer,
  type CollectionRecord,
  type PipelineSettings,
} from "../../src/knowledge/records/records.ts";
import { PipelineRegistry } from "../../src/pipelines/pipeline-registry.ts";
import { contentsOf, entity, plant, settings } from "./support/planted-collection.ts";
import { World } from "./support/world.ts";
import { forAllTests } from "../support/for-tests.ts";

const world = forAllTests(() => World.open());
const process = forAllTests(() => world.process());
beforeAll(async () => {
  await process.knowledge.repositories.create(world.admin, { repository_id: "attic", name: "Attic" });
});

const source = (collection: string, to: object, more: object = {}) => ({
  kind: "collection",
  repository: "kb",
  collection,
  to,
  ...more,
});
const code = (wanted: string) => expect.objectContaining({ code: wanted }) as Error;

/** Rows without location-dependent names. */
async function withoutPlace(repository: string, collection: string): Promise<string> {
  return JSON.stringify(await contentsOf(world, repository, collection))
    .replaceAll(`:${repository}:${collection}:`, ":R:C:")
    .replaceAll(`"${collection}"`, '"C"');
}

describe("migrate-collection", () => {
  it("R-TG-63 copies all contents, proves them equal, switches, and keeps the old one in the trash", async () => {
    await plant(world, process, "papers");
    const before = await withoutPlace("kb", "papers");
    const plan = await process.plan(source("papers", { repository: "attic", collection: "articles" }));
    expect(plan).toMatchObject({ state: "planned", problem_count: 0, unit_count: 1, kind: "collection" });
    await expect(process.knowledge.collections.get(world.admin, "attic", "articles")).rejects.toThrow(
      code("NOT_FOUND"),
    );
    expect(await process.run(plan.migration_id, "copy", "validate")).toMatchObject({ state: "ready", error: null });
    const [unit] = await process.units(plan.migration_id);
    expect(unit).toMatchObject({
      status: "verified",
      made: true,
      held_hash: unit?.hash,
      held_count: unit?.count,
      target: { collection: "articles" },
    });
    expect(unit?.count).toBeGreaterThan(15);
    expect(unit).toMatchObject({ copied: unit?.count, trash_until: null });
    const switched = await process.run(plan.migration_id, "cutover");
    expect(switched).toMatchObject({
      state: "switched",
      retain_until: new Date(world.now + 90 * 86_400_000).toISOString(),
    });
    await expect(process.knowledge.collections.get(world.admin, "kb", "papers")).rejects.toThrow(code("NOT_FOUND"));
    expect(await process.knowledge.collections.get(world.admin, "kb", "papers", { deleted: true })).toMatchObject({
      status: "DELETED",
    });

    expect(await withoutPlace("attic", "articles")).toBe(before);
    expect(await process.knowledge.collections.get(world.admin, "attic", "articles")).toMatchObject({
      name: "The papers",
      status: "ACTIVE",
      created_by: "root",
      document_count: 2,
      ...settings,
      chunking_strategy: { type: "FIXED", chunk_size: 400 },
    });
    expect(
      (await process.knowledge.collections.list(world.admin, { tags: ["physics"], repositoryId: "attic" })).items,
    ).toHaveLength(1);
    const old = await process.knowledge.documents.content(world.admin, "attic", "articles", "papers-one", 1);
    expect(String(await buffer(old.body))).toBe("version 1 of papers-one");
    const { items: passages } = await process.knowledge.documents.passages(
      world.admin,
      "attic",
      "articles",
      "papers-two",
    );
    expect(passages.map(({ text }) => text)).toEqual(["passage 0 of papers-two", "passage 1 of papers-two"]);
    const { hits } = await process.knowledge.rows.query(world.admin, "attic", "articles", {
      vector: [1, 2, 3],
      limit: 1,
    });
    expect(hits[0]).toMatchObject({ id: "r1", metadata: { catalog_id: "mine" } });
  });

  it("R-TG-63 R-TG-97 after a rollback the old one has no retention, and the copy names its purge time while it is in the trash", async () => {
    await plant(world, process, "lent");
    const { migration_id } = await process.plan(source("lent", { repository: "attic", collection: "copy" }));
    await process.run(migration_id, "copy", "validate", "cutover");
    const { incarnation } = await process.knowledge.collections.get(world.admin, "attic", "copy");
    expect(await process.run(migration_id, "rollback")).toMatchObject({ state: "rolled_back", retain_until: null });
    const { purge_at } = await process.knowledge.collections.get(world.admin, "attic", "copy", { deleted: true });
    expect(purge_at).toBe(new Date(world.now + 90 * 86_400_000).toISOString());
    expect(await process.units(migration_id)).toMatchObject([
      { status: "rolled_back", incarnation, repository_id: "attic", trash_until: purge_at },
    ]);
    expect(await process.migrations.get(world.admin, migration_id)).toMatchObject({ trash_until: purge_at });
    await process.knowledge.collections.restore(world.admin, "attic", "copy");
    expect(await process.migrations.get(world.admin, migration_id)).toMatchObject({ trash_until: null });
    expect(await process.units(migration_id)).toMatchObject([{ trash_until: null }]);
  });

  it("R-TG-63 triples keep their graphs and their supports, and the collection's own names follow it", async () => {
    await plant(world, process, "facts");
    const { migration_id } = await process.plan(source("facts", { collection: "truths" }));
    await process.run(migration_id, "copy", "validate", "cutover");
    const { incarnation } = await process.knowledge.collections.get(world.admin, "kb", "truths");
    const { scope } = world.admin;
    const quad = { s: entity("truths", "newton"), p: "<http://x/p>", o: '"found"', g: "" };
    expect(await world.triples.supports(scope, incarnation, [quad])).toEqual([
      [
        { source: "facts-one.1.1", part: 0 },
        { source: "facts-two.1.1", part: 1 },
      ],
    ]);
    const inGraph = await world.triples.match(scope, incarnation, { g: "<http://x/g>" });
    expect(inGraph.quads).toEqual([
      { s: entity("truths", "newton"), p: "<http://x/p>", o: entity("truths", "apple"), g: "<http://x/g>" },
    ]);
    await world.triples.removeSource(scope, incarnation, "facts-one.1.1");
    expect(await world.triples.count(scope, incarnation, quad)).toBe(1);
    await world.triples.removeSource(scope, incarnation, "facts-two.1.1");
    expect(await world.triples.count(scope, incarnation, quad)).toBe(0);
    // In the same repository the old one keeps the name until it is hidden.
    expect(await process.knowledge.collections.get(world.admin, "kb", "truths")).toMatchObject({ name: "The facts" });
  });

  it("R-TG-63 R-TG-129 a triple that was asserted and is stated by a document stays when the document is deleted, and a copy that lost that is reported", async () => {
    const { scope } = world.admin;
    const { incarnation: from } = await plant(world, process, "both");
    const at = (collection: string) => ({ s: entity(collection, "newton"), p: "<http://x/p>", o: '"found"', g: "" });
    await world.triples.write(scope, from, { insert: [at("both")] });
    const { migration_id } = await process.plan(source("both", { collection: "kept" }));
    await process.run(migration_id, "copy");
    const { incarnation } = await process.knowledge.collections.get(world.admin, "kb", "kept");
    expect(await world.triples.asserted(scope, incarnation, [at("kept")])).toEqual([true]);
    const sources = [
      { source: "both-one.1.1", part: 0 },
      { source: "both-two.1.1", part: 1 },
    ];
    expect(await world.triples.supports(scope, incarnation, [at("kept")])).toEqual([sources]);
    // As a copy of supports alone would leave it.
    await world.triples.write(scope, incarnation, { remove: [at("kept")] });
    for (const one of sources) await world.triples.write(scope, incarnation, { insert: [at("kept")], source: one });
    expect(await process.run(migration_id, "validate")).toMatchObject({
      state: "copied",
      error: expect.stringContaining("newton") as string,
    });
    await world.triples.write(scope, incarnation, { insert: [at("kept")] });
    expect(await process.run(migration_id, "validate", "cutover")).toMatchObject({ state: "switched", error: null });
    for (const one of sources) await world.triples.removeSource(scope, incarnation, one.source);
    expect(await world.triples.count(scope, incarnation, at("kept"))).toBe(1);
  });

  it("R-TG-63 R-TG-129 preparation records of a re-index are not moved, and abandoned preparations are removed before the copy", async () => {
    const { scope } = world.admin;
    const { incarnation: from } = await plant(world, process, "anew");
    const partition = new CollectionPartition(world.items, scope, {
      repository_id: "kb",
      collection_id: "anew",
      incarnation: from,
    });
    // Of a live document, and of one deleted while its triples were written, by a process that died.
    for (const id of ["anew-one", "gone"])
      await partition.write([beginPreparation(partition, id, { run: 1, chunk_count: 1, generation: 2 }, world.now)]);
    const left = { s: entity("anew", "ghost"), p: "<http://x/p>", o: '"left"', g: "" };
    await world.triples.write(scope, from, { insert: [left], source: { source: "gone.1.2", part: 0 } });
    const { migration_id } = await process.plan(source("anew", { collection: "afresh" }));
    expect(await process.run(migration_id, "copy", "validate", "cutover")).toMatchObject({
      state: "switched",
      error: null,
    });
    const { incarnation } = await process.knowledge.collections.get(world.admin, "kb", "afresh");
    const preparing = async (of: string) =>
      (
        await world.items.query(scope, documentsContainer.name, {
          equals: { repository_id: "kb", incarnation: of },
          range: { prefix: "preparing:" },
        })
      ).items.map(({ id }) => id);
    expect(await preparing(from)).toEqual(["preparing:anew-one:1.2"]);
    expect(await preparing(incarnation)).toEqual([]);
    expect(await world.triples.count(scope, incarnation, {})).toBe(3);
    expect((await world.triples.ofSource(scope, incarnation, "gone.1.2")).quads).toEqual([]);
  });

  it("R-TG-63 its pipelines move with it, and run from the switch on", async () => {
    await plant(world, process, "fed");
    const catalog = new CatalogRecords(world.items);
    const found = await catalog.collection(world.admin.scope, "kb", "fed");
    const pipeline: PipelineSettings = {
      pipeline_id: "p-1",
      trigger: "schedule",
      source: "file:/in",
      schedule: "0 0 * * *",
      auto_remove: false,
      chunking_strategy: null,
      max_removal_share: 0.5,
      created_by: "root",
      created_at: new Date(world.now).toISOString(),
    };
    const record = { ...(found?.record as CollectionRecord), pipelines: [pipeline] };
    await catalog.batch(world.admin.scope, "kb", [
      { op: "replace", document: collectionDocument(record), ifMatch: found?.etag as string },
    ]);
    const { migration_id } = await process.plan(source("fed", { repository: "attic" }));
    await process.run(migration_id, "copy", "validate");
    const registry = new PipelineRegistry(
      world.items,
      systemScope("a look at the pipelines", () => {}),
      { now: () => world.now },
    );
    const known = async () => {
      const incarnations: string[] = [];
      for await (const { repository_id } of registry.withTrigger("schedule")) incarnations.push(repository_id);
      return incarnations;
    };
    expect(await known()).toEqual([]);
    await process.run(migration_id, "cutover");
    expect(await known()).toEqual(["attic"]);
    expect((await process.knowledge.pipelines.list(world.admin, "attic", "fed")).items[0]).toMatchObject(pipeline);
  });

  it("R-TG-63 R-TG-98 from the copy to the switch neither accepts writes, and both can be read", async () => {
    await plant(world, process, "window");
    const { migration_id } = await process.plan(source("window", { collection: "view" }));
    await process.run(migration_id, "copy");
    for (const id of ["window", "view"]) {
      const write = process.knowledge.collections.update(world.admin, "kb", id, { description: "other" });
      await expect(write).rejects.toMatchObject({ code: "UNAVAILABLE", retryAfterMs: 30_000 });
      expect((await process.knowledge.documents.passages(world.admin, "kb", id, "window-one")).total).toBe(2);
    }
    await process.run(migration_id, "validate", "cutover");
    await process.knowledge.collections.update(world.admin, "kb", "view", { description: "other" });
  });

  it("R-TG-63 a write that got past the hold makes the comparison differ: nothing is switched, and a rollback releases the old one", async () => {
    const made = await plant(world, process, "late");
    const { migration_id } = await process.plan(source("late", { collection: "later" }));
    await process.run(migration_id, "copy");
    await world.triples.write(world.admin.scope, made.incarnation, {
      insert: [{ s: "<http://x/s>", p: "<http://x/p>", o: '"late"', g: "" }],
    });
    const unequal = await process.run(migration_id, "validate");
    expect(unequal).toMatchObject({ state: "copied", error: expect.stringContaining("late") as string });
    await expect(process.migrations.cutover(world.admin, migration_id)).rejects.toThrow(code("INVALID"));
    expect(await process.run(migration_id, "rollback")).toMatchObject({ state: "rolled_back" });
    expect(await process.knowledge.collections.get(world.admin, "kb", "late")).toMatchObject({ status: "ACTIVE" });
    await process.knowledge.collections.update(world.admin, "kb", "late", { description: "free again" });
  });

  it("R-TG-63 R-TG-97 a rollback restores the old one unchanged and puts the new one into the trash", async () => {
    await plant(world, process, "there");
    const before = await contentsOf(world, "kb", "there");
    const { migration_id } = await process.plan(source("there", { repository: "attic" }));
    await process.run(migration_id, "copy", "validate", "cutover");
    expect(await process.run(migration_id, "rollback")).toMatchObject({ state: "rolled_back" });
    expect(await contentsOf(world, "kb", "there")).toEqual(before);
    expect(await process.knowledge.collections.get(world.admin, "kb", "there")).toMatchObject({
      status: "ACTIVE",
      name: "The there",
    });
    await process.knowledge.collections.update(world.admin, "kb", "there", { description: "open" });
    expect(await process.knowledge.collections.get(world.admin, "attic", "there", { deleted: true })).toMatchObject({
      status: "DELETED",
    });
    await process.knowledge.collections.restore(world.admin, "attic", "there");
  });

  it("R-TG-63 what was written to the new one since the switch goes to the trash only with force", async () => {
    await plant(world, process, "used");
    const { migration_id } = await process.plan(source("used", { collection: "reused" }));
    await process.run(migration_id, "copy", "validate", "cutover");
    await process.knowledge.collections.update(world.admin, "kb", "reused", { description: "since then" });
    await expect(process.run(migration_id, "rollback")).rejects.toMatchObject({
      code: "CONFLICT",
      detail: expect.stringContaining("force") as string,
    });
    await process.knowledge.collections.update(world.admin, "kb", "reused", { description: "still open" });
    await process.migrations.rollback(world.admin, migration_id, { force: true });
    expect(await process.drive(migration_id)).toMatchObject({ state: "rolled_back" });
    expect(await process.knowledge.collections.get(world.admin, "kb", "used")).toMatchObject({ status: "ACTIVE" });
    expect(await process.knowledge.collections.get(world.admin, "kb", "reused", { deleted: true })).toMatchObject({
      description: "still open",
    });
  });
});
