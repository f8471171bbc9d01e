/** Personal catalogs: private collections in a user's personal repository. */
import { describe, expect, it } from "vitest";
import { knowledgeEngines } from "./support/knowledge-engines.ts";
import { body, walk } from "./support/test-pinakes.ts";
import { Machine } from "./support/machine.ts";
import { until } from "../support/until.ts";
import { forAllTests } from "../support/for-tests.ts";

describe.each(knowledgeEngines())("catalogs on %s", (_name, openOn) => {
  const test = forAllTests(() => openOn());

  it("R-KB-34 each access pattern is one call, pages, and is restricted to the owner", async () => {
    const { knowledge } = test;
    const ann = test.as("ann");
    const bob = test.as("bob");
    const { collection_id: cid, repository_id } = await knowledge.collections.create(ann, "me", { name: "Recipes" });
    for (let i = 0; i < 11; i += 1) await knowledge.collections.create(ann, "me", { name: `Catalog ${i}` });
    const count = 30;
    await Promise.all(
      Array.from({ length: count }, (_, i) =>
        knowledge.documents.upload(ann, "me", cid, { name: `note ${i}.txt`, body: body(`note ${i}`) }),
      ),
    );
    // Catalog metadata; documents of a catalog; catalogs of a user; a single document.
    expect(await knowledge.collections.get(ann, "me", cid)).toMatchObject({
      name: "Recipes",
      private: true,
      document_count: count,
      created_by: "ann",
    });
    const documents = await walk((cursor) => knowledge.documents.list(ann, "me", cid, { limit: 10, cursor }));
    expect(new Set(documents.map(({ name }) => name)).size).toBe(count);
    const catalogs = await walk((cursor) => knowledge.collections.list(ann, { repositoryId: "me", limit: 5, cursor }));
    expect(catalogs).toHaveLength(12);
    const did = documents[0]?.document_id as string;
    expect(await knowledge.documents.get(ann, "me", cid, did)).toMatchObject({ document_id: did, collection_id: cid });
    // Nobody else, in any way.
    expect((await knowledge.collections.list(bob, { repositoryId: "me" })).items).toEqual([]);
    const attempts = [
      () => knowledge.collections.get(bob, repository_id, cid),
      () => knowledge.documents.list(bob, repository_id, cid),
      () => knowledge.collections.list(bob, { repositoryId: repository_id }),
      () => knowledge.documents.get(bob, repository_id, cid, did),
      () => knowledge.collections.delete(bob, repository_id, cid, { purge: true, confirm: cid }),
    ];
    for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject({ code: "NOT_FOUND" });
    // Delete a catalog with any number of documents.
    await until(async () => (await knowledge.collections.get(ann, "me", cid)).indexing_status === "ready");
    const { job_id } = await knowledge.collections.delete(ann, "me", cid, { purge: true, confirm: cid });
    const job = await until(async () => {
      const found = await knowledge.jobs.get(ann, job_id);
      return found.status === "succeeded" || found.status === "failed" ? found : undefined;
    });
    expect(job).toMatchObject({ status: "succeeded", result: { mode: "purge" } });
    await expect(knowledge.collections.get(ann, "me", cid, { deleted: true })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    expect((await test.pinakes.objects.list(ann.scope, "knowledge/", { limit: 10 })).keys).toEqual([]);
    expect(await knowledge.collections.count(ann, { repositoryId: "me" })).toBe(11);
  });
});

describe("catalogs and their data sources", () => {
  it("R-KB-10 every catalog has its own data source, and two are ingested concurrently", async () => {
    await using machine = await Machine.open();
    const first = await machine.process();
    const second = await machine.process();
    const { admin } = machine;
    const { collection_id: a } = await first.knowledge.collections.create(admin, "me", { name: "A" });
    const { collection_id: b } = await first.knowledge.collections.create(admin, "me", { name: "B" });
    const held = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    first.calls.add({
      at: (call) => call === "vectors.append",
      kind: "hold",
      until: held.promise,
      reached: () => reached.resolve(),
    });
    const one = await first.knowledge.documents.upload(admin, "me", a, {
      name: "a.txt",
      body: body("words about otters"),
    });
    const working = first.work();
    await reached.promise;
    const other = await second.knowledge.documents.upload(admin, "me", b, {
      name: "b.txt",
      body: body("words about herons"),
    });
    await second.work();
    expect((await second.knowledge.documents.get(admin, "me", b, other.document_id)).status).toBe("indexed");
    expect((await second.knowledge.documents.get(admin, "me", a, one.document_id)).status).toBe("indexing");
    held.resolve();
    await working;
    expect((await second.knowledge.documents.get(admin, "me", a, one.document_id)).status).toBe("indexed");
    const rows: { sk: string; data_source_id?: string }[] = [];
    for await (const { path, body: content } of second.knowledge.transfer.export(admin, { objects: false })) {
      let text = "";
      for await (const piece of content) text += Buffer.from(piece).toString("utf8");
      if (path.includes("kb-catalog"))
        for (const line of text.trim().split("\n")) rows.push(JSON.parse(line) as (typeof rows)[number]);
    }
    const sources = rows.filter(({ sk }) => sk === "METADATA").map(({ data_source_id }) => data_source_id);
    expect(sources).toHaveLength(2);
    expect(new Set(sources).size).toBe(2);
    expect(sources.every((source) => typeof source === "string" && source !== "")).toBe(true);
    await first.close();
    await second.close();
  });
});
