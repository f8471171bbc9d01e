/** Deleting all documents of a collection, totals of lists, and collections created with their pipelines. */
import { tmpdir } from "node:os";
import { describe, expect, it } from "vitest";
import { open } from "../../src/open.ts";
import { failure } from "../../src/testing/item-store/fixture.ts";
import { knowledgeEngines } from "./support/knowledge-engines.ts";
import { newPlace, openTestPinakes, settled, upload } from "./support/test-pinakes.ts";
import { until } from "../support/until.ts";
import { forAllTests } from "../support/for-tests.ts";

describe("all documents of a collection", () => {
  const test = forAllTests(() => openTestPinakes("sqlite", { pipelineFolders: [tmpdir()] }));

  it("R-LISA-44 are deleted by a job that must be confirmed, with chunks and bytes; repeating it does nothing; rows and the collection stay", async () => {
    const place = await newPlace(test);
    const { knowledge, caller, repository, collection } = place;
    for (const name of ["a.txt", "b.txt", "c.md"])
      await settled(place, (await upload(place, name, `Words about ${name}.`)).document_id);
    await knowledge.rows.upsert(caller, repository, collection, { items: [{ id: "r", vector: [1, 0], text: "row" }] });
    expect(
      await knowledge.documents.list(caller, repository, collection, { limit: 1, include_total: true }),
    ).toMatchObject({ total: 3 });
    expect(
      await knowledge.documents.list(caller, repository, collection, { q: ".txt", limit: 1, include_total: true }),
    ).toMatchObject({ total: 2 });
    expect(
      await knowledge.collections.list(caller, { repositoryId: repository, limit: 1, include_total: true }),
    ).toMatchObject({ total: 2 });
    expect(await knowledge.collections.list(caller, { repositoryId: repository })).not.toHaveProperty("total");
    await failure(knowledge.documents.deleteAll(caller, repository, collection, undefined), "INVALID");
    await failure(
      knowledge.documents.deleteAll(test.as("eve", { tenant: "evil" }), repository, collection, collection),
      "NOT_FOUND",
    );
    for (const deleted of [3, 0]) {
      const { job_id } = await knowledge.documents.deleteAll(caller, repository, collection, collection);
      const job = await until(async () => {
        const now = await knowledge.jobs.get(caller, job_id);
        return now.status === "succeeded" || now.status === "failed" ? now : undefined;
      });
      expect(job).toMatchObject({ kind: "delete-documents", status: "succeeded", result: { deleted, remaining: 0 } });
    }
    expect(await knowledge.collections.get(caller, repository, collection)).toMatchObject({
      document_count: 0,
      chunk_count: 0,
      total_size_bytes: 0,
      row_count: 1,
    });
    expect((await knowledge.search.run(caller, { query: "Words about", mode: "keyword" })).hits).toEqual([]);
    expect((await knowledge.rows.manifest(caller, repository, collection)).passages?.count ?? 0).toBe(0);
  });

  it("pipelines given at creation are created with the collection, all or none", async () => {
    const { repository } = await newPlace(test);
    const pipeline = { trigger: "schedule", source: `file:${test.dir}`, schedule: "daily" } as const;
    const refused = { ...pipeline, source: "file:/etc" };
    await expect(
      test.knowledge.collections.create(test.admin, repository, {
        collection_id: "fed",
        pipelines: [pipeline, refused],
      }),
    ).rejects.toThrow("/etc");
    await failure(test.knowledge.collections.get(test.admin, repository, "fed"), "NOT_FOUND");
    const made = await test.knowledge.collections.create(test.admin, repository, {
      collection_id: "fed",
      pipelines: [pipeline],
    });
    expect(made.pipelines).toMatchObject([{ source: pipeline.source, trigger: "schedule" }]);
    expect((await test.knowledge.pipelines.list(test.admin, repository, "fed")).items).toHaveLength(1);
  });
});

// Concurrent, since each waits for a watchdog with a ten-second interval.
describe.concurrent.each(knowledgeEngines())("all documents of a collection on %s", (_, openOn) => {
  it("R-LISA-44 another process completes the job of one that stops, and no store keeps anything", async () => {
    const first = await openOn();
    try {
      const place = await newPlace(first);
      const { caller, repository, collection } = place;
      const names = Array.from({ length: 6 }, (_unused, i) => `d${i}.txt`);
      const sent = await Promise.all(names.map((name) => upload(place, name, `Words about ${name}.`)));
      for (const { document_id } of sent) await settled(place, document_id);
      expect(
        Object.values((await first.knowledge.collections.usage(caller, repository, collection)).stores).some(
          (held) => held > 0,
        ),
      ).toBe(true);
      const { job_id } = await first.knowledge.documents.deleteAll(caller, repository, collection, collection);
      await until(async () => {
        const { document_count } = await first.knowledge.collections.get(caller, repository, collection);
        return document_count < names.length ? true : undefined;
      });
      await first.pinakes.close();
      // The stopped process keeps its lease for a minute.
      await using second = await open({ ...first.stores, clock: { now: () => Date.now() + 120_000 } });
      const again = second.as({ tenant: "acme", userId: "root", role: "admin" });
      const job = await until(async () => {
        const now = await second.knowledge.jobs.get(again, job_id);
        return now.status === "succeeded" || now.status === "failed" ? now : undefined;
      });
      expect(job).toMatchObject({ status: "succeeded", result: { deleted: names.length, remaining: 0 } });
      const usage = await second.knowledge.collections.usage(again, repository, collection);
      expect(usage).toMatchObject({ document_count: 0, triples: 0, consistent: true });
      expect(Object.entries(usage.stores).filter(([, held]) => held > 0)).toEqual([]);
      expect(
        (await second.knowledge.documents.list(again, repository, collection, { include_total: true })).total,
      ).toBe(0);
      expect(await second.knowledge.repositories.list(again, { limit: 1, include_total: true })).toMatchObject({
        total: 1,
      });
    } finally {
      await first[Symbol.asyncDispose]();
    }
  });
});
