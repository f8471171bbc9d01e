/** The default collection of every repository, and archived collections. */
import { describe, expect, it } from "vitest";
import { engines, newPlace, openTestPinakes, settled, texts, upload, uploaded } from "./support/test-pinakes.ts";
import { forAllTests } from "../support/for-tests.ts";

describe.each(engines)("default and archived collections on %s", (engine) => {
  const test = forAllTests(() => openTestPinakes(engine));

  it("R-LISA-68 a repository has a default collection from the start: its id is the model's, its name fixed; it can be neither renamed nor deleted", async () => {
    const { knowledge, admin } = test;
    await knowledge.repositories.create(admin, { repository_id: "with-default", allowed_groups: ["g"] });
    const id = "all-MiniLM-L6-v2";
    const found = await knowledge.collections.get(admin, "with-default", id);
    expect(found).toMatchObject({
      name: "Default Collection",
      is_default: true,
      status: "ACTIVE",
      private: false,
      effective_groups: ["g"],
      allowed_groups: null,
    });
    expect(found.own_chunking_strategy).toBeNull();
    // The same at every read.
    expect((await knowledge.collections.get(admin, "with-default", id)).incarnation).toBe(found.incarnation);
    const refused = [
      () => knowledge.collections.update(admin, "with-default", id, { name: "Other" }),
      () => knowledge.collections.update(admin, "with-default", id, { private: true }),
      () => knowledge.collections.archive(admin, "with-default", id),
      () => knowledge.collections.delete(admin, "with-default", id),
      () => knowledge.collections.delete(admin, "with-default", id, { purge: true, confirm: id }),
    ];
    for (const one of refused) await expect(one()).rejects.toMatchObject({ code: "INVALID" });
    const place = { knowledge, caller: admin, repository: "with-default", collection: id };
    const { document_id } = await uploaded(place, "a.txt", "the default collection takes documents");
    expect(await texts(place, "default collection")).toHaveLength(1);
    await knowledge.documents.delete(admin, "with-default", id, document_id);
    expect(await knowledge.collections.get(admin, "with-default", id)).toMatchObject({
      document_count: 0,
      status: "ACTIVE",
    });
  });

  it("R-LISA-23 archived: readable, searched only on request, no uploads or edits; and back", async () => {
    const place = await newPlace(test);
    const { knowledge, caller, repository, collection } = place;
    const { document_id } = await uploaded(place, "a.txt", "zebras are striped");
    expect((await knowledge.collections.archive(caller, repository, collection)).status).toBe("ARCHIVED");
    const conflict = { code: "CONFLICT", detail: expect.stringContaining("archived") };
    await expect(texts(place, "zebras")).rejects.toMatchObject(conflict);
    await expect(upload(place, "b.txt", "more")).rejects.toMatchObject(conflict);
    await expect(
      knowledge.collections.update(caller, repository, collection, { description: "x" }),
    ).rejects.toMatchObject(conflict);
    await expect(knowledge.documents.delete(caller, repository, collection, document_id)).rejects.toMatchObject(
      conflict,
    );
    await expect(knowledge.documents.reindex(caller, repository, collection, document_id)).rejects.toMatchObject(
      conflict,
    );
    expect((await knowledge.collections.get(caller, repository, collection)).document_count).toBe(1);
    expect((await knowledge.documents.get(caller, repository, collection, document_id)).status).toBe("indexed");
    expect(await texts(place, "zebras", { archived: true })).toEqual(["zebras are striped"]);
    // Without names: only active ones, by default.
    const everywhere = async (archived: boolean) =>
      (await knowledge.search.run(caller, { query: "zebras striped", archived })).hits.map(
        ({ collection_id }) => collection_id,
      );
    expect(await everywhere(false)).not.toContain(collection);
    expect(await everywhere(true)).toContain(collection);
    expect(
      (await knowledge.collections.list(caller, { repositoryId: repository })).items.map((one) => one.collection_id),
    ).not.toContain(collection);
    expect(
      (await knowledge.collections.list(caller, { repositoryId: repository, status: "ARCHIVED" })).items.map(
        (one) => one.collection_id,
      ),
    ).toEqual([collection]);
    expect((await knowledge.collections.unarchive(caller, repository, collection)).status).toBe("ACTIVE");
    expect(await texts(place, "zebras")).toEqual(["zebras are striped"]);
    await settled(place, (await upload(place, "b.txt", "more")).document_id);
  });

  it("R-LISA-69 another chunking with existing documents is accepted with a warning; chunks stay until a re-index", async () => {
    const place = await newPlace(test);
    const { knowledge, caller, repository, collection } = place;
    const text = Array.from({ length: 40 }, (_, i) => `Sentence number ${i} is about nothing in particular.`).join(" ");
    const before = await uploaded(place, "a.txt", text);
    const strategy = { type: "FIXED", chunk_size: 200, chunk_overlap: 0, unit: "char" };
    const { warnings } = await knowledge.collections.update(caller, repository, collection, {
      chunking_strategy: strategy,
    });
    expect(warnings).toEqual([expect.stringContaining("Re-index")]);
    const after = await knowledge.documents.get(caller, repository, collection, before.document_id);
    expect(after.chunking_strategy).toEqual(before.chunking_strategy);
    expect(after.chunk_count).toBe(before.chunk_count);
    await knowledge.documents.reindex(caller, repository, collection, before.document_id);
    const anew = await settled(place, before.document_id);
    expect(anew.chunking_strategy).toMatchObject(strategy);
    expect(anew.chunk_count).toBeGreaterThan(before.chunk_count);
    expect((await knowledge.collections.get(caller, repository, collection)).chunk_count).toBe(anew.chunk_count);
  });

  it("R-LISA-14 another chunking for one document is used and recorded if allowed, and refused otherwise", async () => {
    const place = await newPlace(test);
    const { knowledge, caller, repository, collection } = place;
    const strategy = { type: "FIXED", chunk_size: 100, chunk_overlap: 10, unit: "char" };
    const text = "word ".repeat(100);
    const document = await uploaded(place, "a.txt", text, { chunking_strategy: strategy });
    expect(document.chunking_strategy).toMatchObject(strategy);
    expect(document.chunk_count).toBeGreaterThanOrEqual(5);
    await knowledge.collections.update(caller, repository, collection, { allow_chunking_override: false });
    await expect(upload(place, "b.txt", text, { chunking_strategy: strategy })).rejects.toMatchObject({
      code: "INVALID",
    });
    expect((await uploaded(place, "c.txt", text)).chunk_count).toBe(1);
    expect((await knowledge.collections.get(caller, repository, collection)).document_count).toBe(2);
  });
});
