/** Features around collections: deleted repositories, collections created by their first document, own rows, activity. */
import { describe, expect, it } from "vitest";
import { documentsContainer, itemIds } from "../../src/knowledge/records/records.ts";
import { body, engines, newPlace, openTestPinakes, settled, texts, uploaded } from "./support/test-pinakes.ts";
import { until } from "../support/until.ts";
import { forAllTests } from "../support/for-tests.ts";

describe.each(engines)("around collections on %s", (engine) => {
  const test = forAllTests(() => openTestPinakes(engine));

  it("a repository is deleted with all its collections, including the default one, and its id is free again", async () => {
    const place = await newPlace(test);
    const { knowledge, repository } = place;
    await uploaded(place, "a.txt", "words about otters");
    await expect(knowledge.repositories.delete(test.admin, repository, "other")).rejects.toMatchObject({
      code: "INVALID",
    });
    const { job_id } = await knowledge.repositories.delete(test.admin, repository, repository);
    const job = await until(async () => {
      const found = await knowledge.jobs.get(test.admin, job_id);
      return found.status === "succeeded" || found.status === "failed" ? found : undefined;
    });
    expect(job).toMatchObject({ status: "succeeded", result: { mode: "purge", collections: 2 } });
    await expect(knowledge.repositories.get(test.admin, repository)).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(
      (await test.pinakes.objects.list(test.admin.scope, "knowledge/", { limit: 1_000 })).keys.some(({ key }) =>
        key.includes(place.collection),
      ),
    ).toBe(false);
    await knowledge.repositories.create(test.admin, { repository_id: repository });
    expect(await knowledge.collections.count(test.admin, { repositoryId: repository })).toBe(1);
  });

  it("the first document creates its collection if the repository allows it, named by its id; a search never does", async () => {
    const { knowledge, admin } = test;
    const repository_id = `auto-${engine}`;
    await knowledge.repositories.create(admin, { repository_id, auto_create: true });
    const place = { knowledge, caller: admin, repository: repository_id, collection: "made.by_use" };
    await expect(texts(place, "x")).rejects.toMatchObject({ code: "NOT_FOUND" });
    // Concurrently, and still one collection.
    const documents = await Promise.all(
      ["a.txt", "b.txt", "c.txt"].map((name) =>
        knowledge.documents.upload(admin, repository_id, "made.by_use", { name, body: body(`words of ${name}`) }),
      ),
    );
    for (const { document_id } of documents) await settled(place, document_id);
    expect(await knowledge.collections.get(admin, repository_id, "made.by_use")).toMatchObject({
      name: "made.by_use",
      document_count: 3,
      created_by: "root",
    });
    await knowledge.repositories.update(admin, repository_id, { auto_create: false });
    await expect(
      knowledge.documents.upload(admin, repository_id, "another", { name: "a.txt", body: body("x") }),
    ).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("own rows are found by their vectors, are separate from documents, and are deleted with the collection", async () => {
    const place = await newPlace(test);
    const { knowledge, caller, repository, collection } = place;
    expect(await knowledge.rows.query(caller, repository, collection, { vector: [1, 0] })).toMatchObject({ hits: [] });
    const first = {
      delta_id: "d1",
      items: [
        { id: "x", vector: [1, 0], metadata: { kind: "left" } },
        { id: "y", vector: [0, 1], metadata: { kind: "right" } },
      ],
    };
    await knowledge.rows.upsert(caller, repository, collection, first);
    expect(await knowledge.rows.upsert(caller, repository, collection, first)).toMatchObject({ repeated: true });
    const { hits } = await knowledge.rows.query(caller, repository, collection, {
      vector: [0.9, 0.1],
      filter: { kind: "left" },
    });
    expect(hits.map(({ id }) => id)).toEqual(["x"]);
    await expect(
      knowledge.rows.upsert(caller, repository, collection, { items: [{ id: "z", vector: [1, 2, 3] }] }),
    ).rejects.toMatchObject({ code: "INVALID" });
    await uploaded(place, "a.txt", "words about otters");
    expect(await texts(place, "otters")).toEqual(["words about otters"]);
    await knowledge.rows.delete(caller, repository, collection, { ids: ["x"] });
    expect(
      (await knowledge.rows.query(caller, repository, collection, { vector: [1, 0] })).hits.map(({ id }) => id),
    ).toEqual(["y"]);
    expect((await knowledge.rows.manifest(caller, repository, collection)).versions.length).toBeGreaterThan(0);
    await knowledge.collections.delete(caller, repository, collection);
    await expect(knowledge.rows.query(caller, repository, collection, { vector: [1, 0] })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    await knowledge.collections.restore(caller, repository, collection);
    expect(
      (await knowledge.rows.query(caller, repository, collection, { vector: [1, 0] })).hits.map(({ id }) => id),
    ).toEqual(["y"]);
  });

  it("R-LISA-49 a document without bytes has no checksum, and is not in the index of checksums", async () => {
    const place = await newPlace(test);
    const { caller, repository, collection } = place;
    await uploaded(place, "a.txt", "words about otters");
    const gate = Promise.withResolvers<void>();
    async function* slow(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("words ");
      await gate.promise;
      yield Buffer.from("about herons");
    }
    const slowly = place.knowledge.documents.upload(caller, repository, collection, { name: "b.txt", body: slow() });
    await until(
      async () =>
        (await place.knowledge.documents.list(caller, repository, collection, { status: "uploading" })).items.length ===
        1,
    );
    const { incarnation } = await place.knowledge.collections.get(caller, repository, collection);
    const indexed = async () => {
      const { items } = await test.pinakes.items.query(caller.scope, documentsContainer.name, {
        index: "byUploaded",
        equals: { incarnation, kind: "document" },
      });
      const keys = await Promise.all(
        items.map(async ({ document }) =>
          document["sha256"] === undefined
            ? 0
            : test.pinakes.items.count(caller.scope, documentsContainer.name, {
                index: "bySha256",
                equals: { incarnation, kind: "document", sha256: document["sha256"] as string },
              }),
        ),
      );
      return { documents: items.length, found: keys.reduce((a, b) => a + b, 0) };
    };
    expect(await indexed()).toEqual({ documents: 2, found: 1 });
    gate.resolve();
    await settled(place, (await slowly).document_id);
    expect(await indexed()).toEqual({ documents: 2, found: 2 });
  });

  it("wrong counters are found by a recount, and corrected on request", async () => {
    const place = await newPlace(test);
    const { knowledge, caller, repository, collection } = place;
    await uploaded(place, "a.txt", "words about otters");
    expect(await knowledge.collections.usage(caller, repository, collection)).toMatchObject({
      document_count: 1,
      consistent: true,
      repaired: false,
    });
    const { incarnation } = await knowledge.collections.get(caller, repository, collection);
    const drift = [{ op: "incr" as const, path: "/document_count", value: 4 }];
    await test.pinakes.items.write(caller.scope, documentsContainer.name, [repository, incarnation], {
      op: "patch",
      id: itemIds.stats,
      patch: drift,
    });
    expect(await knowledge.collections.usage(caller, repository, collection)).toMatchObject({
      document_count: 5,
      recounted: { document_count: 1 },
      consistent: false,
    });
    expect(await knowledge.collections.usage(caller, repository, collection, { repair: true })).toMatchObject({
      document_count: 1,
      consistent: true,
      repaired: true,
    });
    expect((await knowledge.collections.get(caller, repository, collection)).document_count).toBe(1);
  });

  it("a filter on a field of some collections finds their matches; one that none has finds nothing and is named", async () => {
    const one = await newPlace(test);
    const other = await newPlace(test);
    await uploaded(one, "a.txt", "words about otters", { metadata: { year: 2025 } });
    await uploaded(other, "b.txt", "words about otters too");
    const collections = [one, other].map(({ repository, collection }) => ({ repository, collection }));
    const { knowledge, admin } = test;
    const found = await knowledge.search.run(admin, { query: "otters", collections, filter: { year: { gte: 2024 } } });
    expect(found.hits.map(({ text }) => text)).toEqual(["words about otters"]);
    const misspelt = await knowledge.search.run(admin, { query: "otters", collections, filter: { yaer: 2025 } });
    expect([misspelt.hits, misspelt.unknown_fields]).toEqual([[], ["yaer"]]);
    // Every chunk may have a page, even if no document has any.
    expect((await knowledge.search.run(admin, { query: "otters", collections, filter: { page: 3 } })).hits).toEqual([]);
  });

  it("an interrupted upload can be repeated, as text or as bytes", async () => {
    const place = await newPlace(test);
    const { knowledge, caller, repository, collection } = place;
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("words");
      throw new Error("the line went dead");
    }
    await expect(
      knowledge.documents.upload(caller, repository, collection, { name: "a.txt", body: broken() }),
    ).rejects.toThrow("the line went dead");
    const { document_id } = await knowledge.documents.upload(caller, repository, collection, {
      name: "a.txt",
      body: "words about otters",
    });
    expect((await settled(place, document_id)).status).toBe("indexed");
    await expect(
      knowledge.documents.upload(caller, repository, collection, { name: "a.txt", body: Buffer.from("more") }),
    ).rejects.toMatchObject({ code: "CONFLICT" });
  });

  it("a hundred citations are verified at once, one more is refused", async () => {
    const gone = {
      repository_id: "none",
      collection_id: "none",
      document_id: "none",
      version: 1,
      start: 0,
      end: 1,
      quote: "x",
    };
    const many = Array.from({ length: 100 }, () => gone);
    expect(
      (await test.knowledge.search.verifyCitations(test.admin, many)).checks.every(
        ({ result }) => result === "document_gone",
      ),
    ).toBe(true);
    await expect(test.knowledge.search.verifyCitations(test.admin, [...many, gone])).rejects.toMatchObject({
      code: "INVALID",
    });
  });

  it("the activity of a workspace is shown per minute to its admins, and to nobody else", async () => {
    const other = test.as("boss", { tenant: "figures", role: "admin" });
    const { knowledge } = test;
    await knowledge.repositories.create(other, { repository_id: "kb" });
    const { collection_id } = await knowledge.collections.create(other, "kb", { name: "C" });
    const place = { knowledge, caller: other, repository: "kb", collection: collection_id };
    await uploaded(place, "a.txt", "words about otters");
    await uploaded(place, "bad.pdf", "%PDF-1.4 nonsense");
    await texts(place, "otters");
    await knowledge.activity.flush();
    const points = await knowledge.activity.read(other);
    const sum = (figure: "searches" | "uploads" | "upload_bytes" | "documents_indexed" | "documents_failed") =>
      points.reduce((total, point) => total + point[figure], 0);
    expect([
      sum("searches"),
      sum("uploads"),
      sum("upload_bytes"),
      sum("documents_indexed"),
      sum("documents_failed"),
    ]).toEqual([1, 2, 35, 1, 1]);
    const hourly = await knowledge.activity.read(other, {
      from: new Date(Date.now() - 7_200_000).toISOString(),
      step: 3_600,
    });
    expect(hourly.reduce((total, point) => total + point.uploads, 0)).toBe(2);
    await expect(knowledge.activity.read(test.as("ann", { tenant: "figures" }))).rejects.toMatchObject({
      code: "FORBIDDEN",
    });
    for (const query of [
      { step: 59 },
      { step: 61 },
      { from: "soon" },
      { from: "2030-01-02T00:00:00Z", to: "2030-01-01T00:00:00Z" },
      { from: "2020-01-01T00:00:00Z" },
    ])
      await expect(knowledge.activity.read(other, query)).rejects.toMatchObject({ code: "INVALID" });
  });
});
