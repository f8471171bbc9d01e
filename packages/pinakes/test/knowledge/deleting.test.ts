/** Deleting and restoring a collection: unreadable at once, exactly as before afterwards, its name free meanwhile. */
import { describe, expect, it } from "vitest";
import { knowledgeEngines } from "./support/knowledge-engines.ts";
import { newPlace, texts, upload, uploaded, walk, type Place } from "./support/test-pinakes.ts";
import { until } from "../support/until.ts";
import { forAllTests } from "../support/for-tests.ts";

const notFound = { code: "NOT_FOUND" };

describe.each(knowledgeEngines())("deleting on %s", (_name, openOn) => {
  const test = forAllTests(() => openOn());

  const remove = ({ knowledge, caller, repository, collection }: Place) =>
    knowledge.collections.delete(caller, repository, collection);
  const restore = ({ knowledge, caller, repository, collection }: Place) =>
    knowledge.collections.restore(caller, repository, collection);

  async function picture(place: Place): Promise<object> {
    const { knowledge, caller, repository, collection } = place;
    const { etag: _, updated_at: __, ...view } = await knowledge.collections.get(caller, repository, collection);
    const documents = await walk((cursor) =>
      knowledge.documents.list(caller, repository, collection, { cursor, limit: 3 }),
    );
    const passages = await Promise.all(
      documents.map(({ document_id }) => knowledge.documents.passages(caller, repository, collection, document_id)),
    );
    const contents = await Promise.all(
      documents.map(async ({ document_id }) =>
        Buffer.concat(
          await Array.fromAsync((await knowledge.documents.content(caller, repository, collection, document_id)).body),
        ).toString("hex"),
      ),
    );
    const { hits } = await knowledge.search.run(caller, {
      query: "birds that swim",
      collections: [{ repository, collection }],
      limit: 20,
    });
    return { view, documents, passages, contents, hits };
  }

  it("R-LISA-42 R-LISA-52 deleted: unreadable in every way at once; restored: the same documents, chunks, bytes and hits", async () => {
    const place = await newPlace(test);
    const { knowledge, caller, repository, collection } = place;
    for (const [i, bird] of ["penguins swim", "ducks swim and fly", "eagles fly", "loons dive", "geese walk"].entries())
      await uploaded(place, `b${i}.txt`, bird);
    await uploaded(place, "b1.txt", "mallards swim and fly", { replace: true });
    await uploaded(place, "bad.pdf", "%PDF-1.4 nonsense");
    const before = await picture(place);
    const { document_id } = await uploaded(place, "last.txt", "and storks");
    await knowledge.documents.delete(caller, repository, collection, document_id);
    expect(await picture(place)).toEqual({
      ...before,
      view: { ...(before as { view: object }).view, last_sync_at: expect.any(String) },
    });
    const exact = await picture(place);
    const job = await remove(place);
    expect(job).toMatchObject({ kind: "delete", status: "succeeded" });
    const denied = [
      () => knowledge.collections.get(caller, repository, collection),
      () => knowledge.documents.list(caller, repository, collection),
      () => knowledge.search.run(caller, { query: "birds", collections: [{ repository, collection }] }),
      () => upload(place, "more.txt", "x"),
      () => knowledge.collections.update(caller, repository, collection, { description: "x" }),
      () => knowledge.collections.archive(caller, repository, collection),
      () => remove(place),
    ];
    for (const one of denied) await expect(one()).rejects.toMatchObject(notFound);
    expect(
      (await knowledge.search.run(caller, { query: "penguins swim" })).hits.filter(
        (hit) => hit.collection_id === collection,
      ),
    ).toEqual([]);
    expect(
      (await knowledge.collections.list(caller, { repositoryId: repository })).items.map(({ name }) => name),
    ).toEqual(["Default Collection"]);
    expect(
      (await knowledge.collections.list(caller, { repositoryId: repository, status: "DELETED" })).items.map(
        (one) => one.collection_id,
      ),
    ).toEqual([collection]);
    await restore(place);
    expect(await picture(place)).toEqual(exact);
    await expect(restore(place)).rejects.toMatchObject({ code: "CONFLICT" });
  });

  it("the name is free while a collection is deleted; if the name is taken it cannot be restored, and stays deleted", async () => {
    const place = await newPlace(test, "Wanted");
    const { knowledge, caller, repository } = place;
    await uploaded(place, "a.txt", "words about otters");
    await remove(place);
    const other = await knowledge.collections.create(caller, repository, { name: "WANTED" });
    await expect(restore(place)).rejects.toMatchObject({ code: "CONFLICT", detail: expect.stringContaining("Wanted") });
    await expect(texts(place, "otters")).rejects.toMatchObject(notFound);
    const trashed = await knowledge.collections.list(caller, { repositoryId: repository, status: "DELETED" });
    expect(trashed.items).toMatchObject([
      { collection_id: place.collection, status: "DELETED", purge_at: expect.any(String) },
    ]);
    await knowledge.collections.update(caller, repository, other.collection_id, { name: "Renamed" });
    await restore(place);
    expect(await texts(place, "otters")).toEqual(["words about otters"]);
    await expect(knowledge.collections.create(caller, repository, { name: "wanted" })).rejects.toMatchObject({
      code: "CONFLICT",
    });
  });

  it("R-TG-48 an archived collection is restored as archived; an id in the trash can be reused, and then conflicts", async () => {
    const place = await newPlace(test);
    const { knowledge, caller, repository, collection } = place;
    await knowledge.collections.archive(caller, repository, collection);
    await remove(place);
    await knowledge.collections.create(caller, repository, { collection_id: collection, name: "Again" });
    const { items } = await knowledge.collections.list(caller, { repositoryId: repository, status: "DELETED" });
    const incarnation = items[0]?.incarnation as string;
    await expect(knowledge.collections.restore(caller, repository, collection, { incarnation })).rejects.toMatchObject({
      code: "CONFLICT",
      detail: expect.stringContaining("has the id"),
    });
    const again = await knowledge.collections.delete(caller, repository, collection, {
      purge: true,
      confirm: collection,
    });
    await until(async () => (await knowledge.jobs.get(caller, again.job_id)).status === "succeeded");
    expect((await restore(place)).status).toBe("ARCHIVED");
    await expect(upload(place, "a.txt", "x")).rejects.toMatchObject({ code: "CONFLICT" });
  });

  it("R-LISA-32 R-LISA-43 R-KB-35 a purge needs the id as confirmation, removes records, objects and chunks, frees the id, and is idempotent", async () => {
    const place = await newPlace(test);
    const { knowledge, caller, repository, collection } = place;
    await uploaded(place, "a.txt", "words about otters");
    const { incarnation } = await knowledge.collections.get(caller, repository, collection);
    const purge = (confirm?: string) =>
      knowledge.collections.delete(caller, repository, collection, { purge: true, confirm });
    for (const confirm of [undefined, "", "yes", repository])
      await expect(purge(confirm)).rejects.toMatchObject({ code: "INVALID" });
    expect(await texts(place, "otters")).toHaveLength(1);
    const { job_id } = await purge(collection);
    await expect(knowledge.collections.get(caller, repository, collection)).rejects.toMatchObject(notFound);
    const job = await until(async () => {
      const found = await knowledge.jobs.get(caller, job_id);
      return found.status === "succeeded" ? found : undefined;
    });
    expect(job).toMatchObject({ result: { mode: "purge", stores: expect.any(Array) } });
    await expect(knowledge.collections.get(caller, repository, collection, { deleted: true })).rejects.toMatchObject(
      notFound,
    );
    expect((await test.pinakes.objects.list(caller.scope, `knowledge/${incarnation}/`)).keys).toEqual([]);
    // Only the fence stays, permanently: it refuses late writes.
    expect(
      (
        await test.pinakes.items.query(caller.scope, "documents", {
          equals: { repository_id: repository, incarnation },
        })
      ).items,
    ).toMatchObject([{ id: "fence", document: { status: "PURGED" } }]);
    await expect(test.pinakes.vectors.count(caller.scope, `${incarnation}.1`)).rejects.toMatchObject(notFound);
    await expect(purge(collection)).rejects.toMatchObject(notFound);
    // A new incarnation of the id has nothing of the old one.
    await knowledge.collections.create(caller, repository, { collection_id: collection, name: "Papers" });
    expect(await knowledge.collections.get(caller, repository, collection)).toMatchObject({ document_count: 0 });
    expect(await texts(place, "otters")).toEqual([]);
  });

  it("a job has its attempts, its error and its result; a finished one cannot be retried; its record stays", async () => {
    const place = await newPlace(test);
    const { job_id } = await remove(place);
    const job = await test.knowledge.jobs.get(test.admin, job_id);
    expect(job).toMatchObject({
      kind: "delete",
      status: "succeeded",
      attempts: 1,
      error: null,
      created_by: "root",
      repository_id: place.repository,
    });
    await expect(test.knowledge.jobs.retry(test.admin, job_id)).rejects.toMatchObject({ code: "CONFLICT" });
    await expect(test.knowledge.jobs.cancel(test.admin, job_id)).rejects.toMatchObject({ code: "CONFLICT" });
    expect((await test.knowledge.jobs.list(test.admin)).items.map((one) => one.job_id)).toContain(job_id);
    await expect(
      test.knowledge.jobs.get(test.as("stranger", { tenant: "other", role: "admin" }), job_id),
    ).rejects.toMatchObject(notFound);
  });

  it("an upload in progress when its collection is deleted fails: no bytes, and an answer that says so", async () => {
    const place = await newPlace(test);
    const { knowledge, caller, repository, collection } = place;
    const { incarnation } = await knowledge.collections.get(caller, repository, collection);
    const gate = Promise.withResolvers<void>();
    async function* slow(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("half");
      await gate.promise;
    }
    const uploading = upload(place, "slow.txt", "", { body: slow() });
    await until(async () => (await knowledge.collections.get(caller, repository, collection)).document_count === 1);
    await remove(place);
    gate.resolve();
    await expect(uploading).rejects.toMatchObject({ code: "CONFLICT" });
    expect((await test.pinakes.objects.list(caller.scope, `knowledge/${incarnation}/`)).keys).toEqual([]);
    await restore(place);
    expect((await knowledge.documents.list(caller, repository, collection)).items).toMatchObject([
      { name: "slow.txt", status: "failed" },
    ]);
  });
});
