/** Repositories and collections as records: defaults, changeable and fixed fields, etags, the default collection, archiving. */
import { describe, expect, it } from "vitest";
import type { Caller } from "../../src/domain/caller.ts";
import { catalogChunking, systemChunking } from "../../src/knowledge/chunking/index.ts";
import { engines, newPlace, openTestPinakes, upload } from "./support/test-pinakes.ts";
import { forAllTests } from "../support/for-tests.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const model = "all-MiniLM-L6-v2";

describe.each(engines)("records on %s", (engine) => {
  let now = Date.UTC(2030, 0, 1);
  const test = forAllTests(() => openTestPinakes(engine, { background: false, clock: { now: () => now } }));
  const place = forAllTests(() => newPlace(test));

  const create = (input: object) => test.knowledge.collections.create(test.admin, place.repository, input);
  const read = (id: string) => test.knowledge.collections.get(test.admin, place.repository, id);
  const update = (id: string, patch: object, ifMatch?: string) =>
    test.knowledge.collections.update(test.admin, place.repository, id, patch, ifMatch);

  it("R-LISA-01 a collection without an id gets a UUID, and is found by its ids", async () => {
    const { collection_id } = await create({ name: "Made" });
    expect(collection_id).toMatch(uuid);
    expect(await read(collection_id)).toMatchObject({ collection_id, repository_id: place.repository, name: "Made" });
  });

  it("R-LISA-02 the right collection in another repository is not found", async () => {
    const other = await newPlace(test);
    const wrong = test.knowledge.collections.get(test.admin, other.repository, place.collection);
    await expect(wrong).rejects.toMatchObject({ code: "NOT_FOUND" });
    const missing = test.knowledge.collections.get(test.admin, "no-such-repository", place.collection);
    await expect(missing).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("R-LISA-10 R-LISA-17 every attribute is stored, with the defaults", async () => {
    const { collection_id } = await create({ name: "Defaults" });
    const item = await test.pinakes.items.read(test.admin.scope, "collections", {
      partition: [place.repository],
      id: `collection:${collection_id}`,
    });
    expect(item?.document).toMatchObject({
      collection_id,
      repository_id: place.repository,
      allow_chunking_override: true,
      embedding_model: model,
      created_by: "root",
      created_at: new Date(now).toISOString(),
      updated_at: new Date(now).toISOString(),
      status: "ACTIVE",
      private: false,
    });
  });

  it("R-KB-06 the creator is the caller, whatever the request says", async () => {
    const made = await test.knowledge.collections.create(test.as("ann"), "me", {
      name: "Mine",
      created_by: "ben",
      user_id: "ben",
    } as object);
    expect(made.created_by).toBe("ann");
  });

  it("R-LISA-13 a chunking strategy round-trips, with the order of its separators", async () => {
    const strategy = {
      type: "RECURSIVE",
      chunk_size: 500,
      chunk_overlap: 50,
      unit: "char",
      separators: ["\n\n", "z", "a", " "],
    };
    const { collection_id } = await create({ name: "Cut", chunking_strategy: strategy });
    expect((await read(collection_id)).own_chunking_strategy).toMatchObject(strategy);
    await expect(update(collection_id, { chunking_strategy: { type: "MAGIC" } })).rejects.toMatchObject({
      code: "INVALID",
    });
    expect((await update(collection_id, { chunking_strategy: null })).own_chunking_strategy).toBeNull();
  });

  it("R-LISA-13 a repository shows what its collections inherit, its own strategy or the system's", async () => {
    const inherited = async (caller: Caller, repository: string) => {
      const { effective_chunking_strategy, chunking_strategy } = await test.knowledge.repositories.get(
        caller,
        repository,
      );
      const { collection_id } = await test.knowledge.collections.create(caller, repository, {
        name: `Inherits ${chunking_strategy?.type ?? "all"}`,
      });
      const made = await test.knowledge.collections.get(caller, repository, collection_id);
      expect([made.own_chunking_strategy, made.chunking_strategy]).toEqual([null, effective_chunking_strategy]);
      return { chunking_strategy, effective_chunking_strategy };
    };
    await test.knowledge.repositories.create(test.admin, { repository_id: "inherits" });
    expect(await inherited(test.admin, "inherits")).toEqual({
      chunking_strategy: null,
      effective_chunking_strategy: systemChunking,
    });
    expect(await inherited(test.as("cora"), "me")).toEqual({
      chunking_strategy: null,
      effective_chunking_strategy: catalogChunking,
    });
    await test.knowledge.repositories.update(test.admin, "inherits", { chunking_strategy: { type: "NONE" } });
    expect((await inherited(test.admin, "inherits")).effective_chunking_strategy).toMatchObject({ type: "NONE" });
  });

  it("R-LISA-15 R-LISA-37 metadata round-trips; a repository without any has none", async () => {
    const metadata = { tags: ["b", "a"], custom_fields: { owner: { team: "x", ids: [1, null] }, ключ: "世界" } };
    expect((await read((await create({ name: "Meta", metadata })).collection_id)).metadata).toEqual(metadata);
    expect((await test.knowledge.repositories.get(test.admin, place.repository)).metadata).toEqual({
      tags: [],
      custom_fields: {},
    });
    await test.knowledge.repositories.create(test.admin, { repository_id: "with-metadata", metadata });
    expect((await test.knowledge.repositories.get(test.admin, "with-metadata")).metadata).toEqual(metadata);
    await expect(create({ name: "Bad", metadata: { labels: [] } })).rejects.toMatchObject({ code: "INVALID" });
  });

  it("R-LISA-18 times are ISO 8601 in UTC with milliseconds; created_at is fixed, updated_at increases with every change, also within a millisecond", async () => {
    const made = await create({ name: "Times" });
    expect(made.created_at).toMatch(iso);
    let before = made.updated_at;
    for (let i = 0; i < 5; i += 1) {
      const changed = await update(made.collection_id, { description: `change ${i}` });
      expect(changed.created_at).toBe(made.created_at);
      expect(changed.updated_at > before).toBe(true);
      expect(changed.updated_at).toMatch(iso);
      before = changed.updated_at;
    }
    now += 60_000;
    expect((await update(made.collection_id, { description: "later" })).updated_at).toBe(new Date(now).toISOString());
  });

  it("R-LISA-39 an existing id is a conflict and the first record is unchanged; of concurrent creates one succeeds", async () => {
    const first = await create({ collection_id: "fixed-id", name: "First" });
    await expect(create({ collection_id: "fixed-id", name: "Second" })).rejects.toMatchObject({
      code: "CONFLICT",
      detail: expect.stringContaining("fixed-id"),
    });
    expect(await read("fixed-id")).toMatchObject({ name: "First", etag: expect.stringContaining(first.etag) });
    const race = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => create({ collection_id: "raced-id", name: `Raced ${i}` })),
    );
    expect(race.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    await expect(
      test.knowledge.repositories.create(test.admin, { repository_id: place.repository }),
    ).rejects.toMatchObject({ code: "CONFLICT" });
  });

  it("R-LISA-40 a collection is readable as soon as it is created", async () => {
    for (let i = 0; i < 20; i += 1) {
      const { collection_id } = await create({ name: `Soon ${i}` });
      expect((await read(collection_id)).name).toBe(`Soon ${i}`);
    }
  });

  it("R-LISA-41 R-LISA-70 an update changes only the named fields and updated_at; an empty one is refused; an unknown id is not found and nothing is created", async () => {
    const {
      etag: _,
      updated_at: __,
      ...before
    } = await create({ name: "Partial", description: "old", metadata: { tags: ["t"] }, private: true });
    const {
      etag: ___,
      updated_at: ____,
      warnings,
      ...after
    } = await update(before.collection_id, { description: "new" });
    expect(after).toEqual({ ...before, description: "new" });
    expect(warnings).toEqual([]);
    for (const empty of [{}, { description: undefined }])
      await expect(update(before.collection_id, empty)).rejects.toMatchObject({ code: "INVALID" });
    await expect(update(before.collection_id, { colour: "red" })).rejects.toMatchObject({
      code: "INVALID",
      detail: expect.stringContaining("colour"),
    });
    await expect(update("no-such-id", { description: "x" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(read("no-such-id")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("R-LISA-60 R-LISA-64 fixed fields are refused if they differ, and ignored if they are equal", async () => {
    const made = await create({ name: "Fixed", embedding_model: model });
    const fixed = {
      collection_id: "x",
      repository_id: "x",
      embedding_model: "x",
      created_by: "x",
      created_at: "2020-01-01T00:00:00.000Z",
    };
    for (const [field, value] of Object.entries(fixed))
      await expect(update(made.collection_id, { [field]: value, description: "d" })).rejects.toMatchObject({
        code: "INVALID",
        detail: expect.stringContaining(field),
      });
    const { collection_id, repository_id, embedding_model, created_by, created_at } = made;
    const same = await update(collection_id, {
      collection_id,
      repository_id,
      embedding_model,
      created_by,
      created_at,
      description: "d",
    });
    expect(same).toMatchObject({
      collection_id,
      repository_id,
      embedding_model,
      created_by,
      created_at,
      description: "d",
    });
    await expect(create({ name: "Unknown model", embedding_model: "no-such" })).rejects.toMatchObject({
      code: "INVALID",
      detail: expect.stringContaining(model),
    });
  });

  it("R-LISA-19 only known statuses are accepted", async () => {
    for (const status of ["ACTIVE", "ARCHIVED", "DELETED", "DELETE_IN_PROGRESS", "DELETE_FAILED"] as const)
      expect(
        (await test.knowledge.collections.list(test.admin, { status })).items.every((one) => one.status === status),
      ).toBe(true);
    for (const status of ["GONE", "active", "pending", "ready", "", 7])
      await expect(test.knowledge.collections.list(test.admin, { status: status as "ACTIVE" })).rejects.toMatchObject({
        code: "INVALID",
      });
    await expect(update(place.collection, { status: "DELETED" })).rejects.toMatchObject({ code: "INVALID" });
  });

  it("a stale etag is refused, the current one is accepted, and uploads do not make it stale", async () => {
    const { collection_id, etag } = await create({ name: "Etags" });
    const changed = await update(collection_id, { description: "1" }, etag);
    await expect(update(collection_id, { description: "2" }, etag)).rejects.toMatchObject({
      code: "PRECONDITION_FAILED",
    });
    await upload({ ...place, collection: collection_id }, "a.txt", "some text");
    const { etag: withStats } = await read(collection_id);
    expect(withStats).not.toBe(changed.etag);
    expect((await update(collection_id, { description: "3" }, withStats)).description).toBe("3");
    const repository = await test.knowledge.repositories.get(test.admin, place.repository);
    await test.knowledge.repositories.update(test.admin, place.repository, { description: "1" }, repository.etag);
    const stale = test.knowledge.repositories.update(
      test.admin,
      place.repository,
      { description: "2" },
      repository.etag,
    );
    await expect(stale).rejects.toMatchObject({ code: "PRECONDITION_FAILED" });
  });

  it("R-LISA-41 of many concurrent updates none is lost", async () => {
    const { collection_id } = await create({ name: "Busy" });
    const fields = { description: "d", private: true, allow_chunking_override: false, metadata: { tags: ["t"] } };
    await Promise.all(Object.entries(fields).map(([field, value]) => update(collection_id, { [field]: value })));
    expect(await read(collection_id)).toMatchObject({ ...fields, metadata: { tags: ["t"], custom_fields: {} } });
  });
});
