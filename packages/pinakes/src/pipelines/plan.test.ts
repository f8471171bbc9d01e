import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { openMemoryItems } from "../drivers/memory/index.ts";
import { systemScope } from "../domain/scope.ts";
import { failure } from "../testing/object-store/fixture.ts";
import { CollectionPartition } from "../knowledge/records/collection-partition.ts";
import {
  documentsContainer,
  itemIds,
  type PipelineSettings,
  type RepositoryRecord,
} from "../knowledge/records/records.ts";
import { FolderReader } from "./folder-reader.ts";
import { pipelineLimits } from "./limits.ts";
import { leaseMs, PipelineRegistry, pipelinesContainer, type Lease } from "./pipeline-registry.ts";
import { planAll, removalGuard } from "./plan.ts";
import { admin, Bench, closeShared, TestClock } from "./test-pipelines.ts";

afterAll(closeShared);

const settings = (source: string): PipelineSettings => ({
  pipeline_id: "p",
  trigger: "schedule",
  source,
  schedule: "0 2 * * *",
  auto_remove: true,
  chunking_strategy: null,
  max_removal_share: 0.5,
  created_by: "ada",
  created_at: "2030-01-01T00:00:00.000Z",
});

describe("plans", () => {
  it("a source with as many files as the limit is planned, one more is refused as a whole", async () => {
    await using bench = await Bench.open();
    await bench.write({ "a.txt": "a", "b.txt": "b", "c.txt": "c" });
    await using items = await openMemoryItems({ clock: new TestClock() });
    await items.openContainer(documentsContainer);
    const partition = new CollectionPartition(items, admin.scope, {
      repository_id: "r",
      collection_id: "c",
      incarnation: "i",
    });
    const repository = { owner: null } as RepositoryRecord;
    const parts = {
      items,
      partition,
      repository,
      reader: new FolderReader(bench.folder, [bench.folder]),
      pipeline: settings(`file:${bench.folder}`),
      fileBytesMax: 10,
    };
    expect((await planAll({ ...parts, sourceFilesMax: 3 })).add).toHaveLength(3);
    expect((await failure(planAll({ ...parts, sourceFilesMax: 2 }), "LIMIT_EXCEEDED")).detail).toContain(
      "more than 2 files",
    );
  });

  it("what another job is fetching is left to it; what the same job left unfinished, and what was interrupted, is fetched again", async () => {
    await using bench = await Bench.open();
    await bench.write({ "a.txt": "a" });
    await using items = await openMemoryItems({ clock: new TestClock() });
    await items.openContainer(documentsContainer);
    const place = { repository_id: "r", collection_id: "c", incarnation: "i" };
    const partition = new CollectionPartition(items, admin.scope, place);
    await partition.ensure();
    const reader = new FolderReader(bench.folder, [bench.folder]);
    const pipeline = settings(`file:${bench.folder}`);
    const parts = {
      items,
      partition,
      repository: { owner: null } as RepositoryRecord,
      reader,
      pipeline,
      fileBytesMax: 10,
    };
    const { etag } = (await reader.stat(bench.uri("a.txt"))) as { etag: string };
    const source = { type: "auto", uri: bench.uri("a.txt"), pipeline_id: "p", etag };
    const put = (fields: object) =>
      partition.clean([
        {
          op: "upsert",
          document: partition.document(itemIds.document("d"), {
            kind: "document",
            document_id: "d",
            source,
            job_id: "j",
            version: 1,
            ...fields,
          }),
        },
      ]);
    const counts = async (jobId?: string) => {
      const { add, replace, unchanged } = await planAll({ ...parts, jobId });
      return [add.length, replace.length, unchanged];
    };
    await put({ status: "uploading", versions: [] });
    expect([await counts("j"), await counts("k"), await counts()]).toEqual([
      [0, 1, 0],
      [0, 0, 1],
      [0, 0, 1],
    ]);
    await put({ status: "failed", versions: [] });
    expect(await counts("k")).toEqual([0, 1, 0]);
    // Its bytes were stored but could not be parsed: they have not changed.
    await put({ status: "failed", versions: [{ version: 1 }] });
    expect(await counts("k")).toEqual([0, 0, 1]);
  });

  it("names the first thousand and counts all; a result names the first hundred", async () => {
    await using bench = await Bench.open();
    const count = pipelineLimits.planNamesMax + 1;
    await mkdir(join(bench.folder, "in"));
    await bench.write(Object.fromEntries(Array.from({ length: count }, (_, i) => [`in/f${i}.bin`, "x"])));
    const id = await bench.pipeline();
    const plan = await bench.knowledge.pipelines.plan(admin, "r", "c", id);
    expect([plan.counts.skipped, plan.skipped.length]).toEqual([count, pipelineLimits.planNamesMax]);
    const { result } = await bench.run(id);
    expect(result).toMatchObject({ skipped: count });
    expect(result?.["skips"]).toHaveLength(pipelineLimits.resultFilesMax);
  });

  it("the guard applies from ten documents, and only above the share", () => {
    const pipeline = settings("file:/x");
    expect(removalGuard(pipeline, 9, pipelineLimits.guardDocumentsMin - 1)).toBeUndefined();
    expect(removalGuard(pipeline, 5, pipelineLimits.guardDocumentsMin)).toBeUndefined();
    expect(removalGuard(pipeline, 6, pipelineLimits.guardDocumentsMin)).toContain("6 of the pipeline's 10");
    expect(removalGuard({ ...pipeline, auto_remove: false }, 10, 10)).toBeUndefined();
    expect(removalGuard({ ...pipeline, max_removal_share: 1 }, 10, 10)).toBeUndefined();
    expect(removalGuard({ ...pipeline, max_removal_share: 0 }, 1, 10)).toContain("1 of");
  });
});

describe("leases of pipelines", () => {
  it("are held by one owner, extended by it, and available after a release or their expiry", async () => {
    const clock = new TestClock();
    await using items = await openMemoryItems({ clock });
    await items.openContainer(pipelinesContainer);
    const registry = new PipelineRegistry(
      items,
      systemScope("test", () => {}),
      clock,
    );
    const lease = (owner: string): Lease => ({
      tenant: "acme",
      incarnation: "i",
      pipeline_id: "p",
      what: "run",
      owner,
    });
    const granted = await Promise.all(["a", "b", "c"].map((owner) => registry.hold(lease(owner))));
    expect(granted.filter(Boolean)).toHaveLength(1);
    const holder = ["a", "b", "c"][granted.indexOf(true)] as string;
    expect([await registry.hold(lease(holder)), await registry.hold(lease("d"))]).toEqual([true, false]);
    expect(await registry.hold({ ...lease("d"), what: "watch" })).toBe(true);
    await registry.release(lease("d"));
    expect(await registry.hold(lease("e"))).toBe(false);
    await registry.release(lease(holder));
    expect(await registry.hold(lease("e"))).toBe(true);
    clock.advance(leaseMs + 1);
    expect([await registry.hold(lease("f")), await registry.hold(lease("e"))]).toEqual([true, false]);
  });
});
