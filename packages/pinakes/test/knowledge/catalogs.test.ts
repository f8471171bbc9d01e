/** A person's own catalogs: private collections in the repository that is only theirs. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { body, engines, openTestPinakes, walk, type TestPinakes } from "./support/test-pinakes.ts";
import { until } from "./support/until.ts";

describe.each(engines)("catalogs on %s", (engine) => {
  let test: TestPinakes;
  beforeAll(async () => {
    test = await openTestPinakes(engine);
  });
  afterAll(() => test[Symbol.asyncDispose]());

  it("R-KB-34 each access pattern is one call, goes beyond a page, and is only the owner's", async () => {
    const { knowledge } = test;
    const ann = test.as("ann");
    const bob = test.as("bob");
    const { collection_id: cid, repository_id } = await knowledge.createCollection(ann, "me", { name: "Recipes" });
    for (let i = 0; i < 25; i += 1) await knowledge.createCollection(ann, "me", { name: `Catalog ${i}` });
    const count = 105;
    await Promise.all(Array.from({ length: count }, (_, i) => knowledge.upload(ann, "me", cid, { name: `note ${i}.txt`, body: body(`note ${i}`) })));
    // Get catalog metadata; list documents of a catalog; list a user's catalogs; get a document.
    expect(await knowledge.collection(ann, "me", cid)).toMatchObject({ name: "Recipes", private: true, document_count: count, created_by: "ann" });
    const documents = await walk((cursor) => knowledge.listDocuments(ann, "me", cid, { limit: 50, cursor }));
    expect(new Set(documents.map(({ name }) => name)).size).toBe(count);
    const catalogs = await walk((cursor) => knowledge.listCollections(ann, { repositoryId: "me", limit: 20, cursor }));
    expect(catalogs).toHaveLength(26);
    const did = documents[0]?.document_id as string;
    expect(await knowledge.document(ann, "me", cid, did)).toMatchObject({ document_id: did, collection_id: cid });
    // Nobody else, by whichever way.
    expect((await knowledge.listCollections(bob, { repositoryId: "me" })).items).toEqual([]);
    const attempts = [
      () => knowledge.collection(bob, repository_id, cid),
      () => knowledge.listDocuments(bob, repository_id, cid),
      () => knowledge.listCollections(bob, { repositoryId: repository_id }),
      () => knowledge.document(bob, repository_id, cid, did),
      () => knowledge.deleteCollection(bob, repository_id, cid, { purge: true, confirm: cid }),
    ];
    for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject({ code: "NOT_FOUND" });
    // Delete a catalog with its documents, however many.
    await until(async () => (await knowledge.collection(ann, "me", cid)).indexing_status === "ready");
    const { job_id } = await knowledge.deleteCollection(ann, "me", cid, { purge: true, confirm: cid });
    const job = await until(async () => {
      const found = await knowledge.job(ann, job_id);
      return found.status === "succeeded" || found.status === "failed" ? found : undefined;
    });
    expect(job).toMatchObject({ status: "succeeded", result: { mode: "purge" } });
    await expect(knowledge.collection(ann, "me", cid, { deleted: true })).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect((await test.pinakes.objects.list(ann.scope, "knowledge/", { limit: 10 })).keys).toEqual([]);
    expect(await knowledge.countCollections(ann, { repositoryId: "me" })).toBe(25);
  });
});
