/** The essentials on the engines of servers: PostgreSQL and DynamoDB, each with a folder of objects. */
import { describe, expect, it } from "vitest";
import { newPlace, openTestPinakes, recount, settled, texts, upload, uploaded, walk } from "./support/test-pinakes.ts";
import { useServers } from "../support/servers.ts";
import { forAllTests } from "../support/for-tests.ts";

const { postgres, dynamo } = useServers();

describe.each([
  ["PostgreSQL", postgres],
  ["DynamoDB", () => dynamo("knowledge")],
])("knowledge on %s", (_, address) => {
  const test = forAllTests(() =>
    openTestPinakes("elsewhere", {
      items: address(),
      quotas: { catalogsPerUserMax: 10, documentsPerCatalogMax: 5 },
    }),
  );

  it("R-LISA-04 R-LISA-06 R-LISA-73 lists are complete and sorted, in pages, filtered, with exact counts", async () => {
    const { knowledge, admin } = test;
    await knowledge.repositories.create(admin, { repository_id: "lists" });
    for (let i = 0; i < 25; i += 1)
      await knowledge.collections.create(admin, "lists", {
        name: `C ${String(i).padStart(2, "0")}`,
        description: i % 5 === 0 ? "Zebra" : "",
      });
    const names = async (query: object) =>
      (
        await walk((cursor) => knowledge.collections.list(admin, { repositoryId: "lists", limit: 4, cursor, ...query }))
      ).map(({ name }) => name);
    const all = Array.from({ length: 25 }, (_unused, i) => `C ${String(i).padStart(2, "0")}`);
    await expect.poll(() => names({ sort: "name" })).toEqual([...all, "Default Collection"]);
    await expect
      .poll(() => names({ q: "zebra", sort: "name", order: "desc" }))
      .toEqual(["C 20", "C 15", "C 10", "C 05", "C 00"]);
    const newest = await knowledge.collections.list(admin, { repositoryId: "lists", limit: 100 });
    const times = newest.items.map(({ created_at }) => created_at);
    expect(times).toEqual(times.toSorted().toReversed());
    expect(await knowledge.collections.count(admin, { repositoryId: "lists" })).toBe(26);
    const { next_cursor } = await knowledge.collections.list(admin, { repositoryId: "lists", limit: 2 });
    await expect(
      knowledge.collections.list(admin, { repositoryId: "lists", limit: 2, q: "c", cursor: next_cursor as string }),
    ).rejects.toMatchObject({
      code: "INVALID",
    });
  });

  it("R-LISA-65 R-KB-08 of 50 concurrent creates of one name, one succeeds", async () => {
    const { knowledge, admin } = test;
    await knowledge.repositories.create(admin, { repository_id: "race" });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, (_unused, i) =>
        knowledge.collections.create(admin, "race", { name: i % 2 === 0 ? "Same Name" : "sAME nAME" }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "CONFLICT" });
  });

  it("R-KB-13 a hundred concurrent uploads: the counters equal a recount, and the searched document is found", async () => {
    const place = await newPlace(test);
    const uploads = await Promise.all(
      Array.from({ length: 100 }, (_unused, i) =>
        upload(
          place,
          `f${i}.${i % 10 === 4 ? "pdf" : "txt"}`,
          i % 10 === 4 ? "%PDF-broken" : `Document ${i} of many. `.repeat((i % 7) + 1),
        ),
      ),
    );
    for (const { document_id } of uploads) await settled(place, document_id);
    const { told } = await recount(place);
    expect(told).toMatchObject({
      document_count: 100,
      documents_by_status: { indexed: 90, failed: 10, pending: 0, indexing: 0, uploading: 0 },
    });
    await expect.poll(async () => (await recount(place)).counted).toEqual(told);
    const usage = await place.knowledge.collections.usage(place.caller, place.repository, place.collection);
    expect(usage).toMatchObject({ consistent: true });
    expect(await texts(place, "Document 57 of many", { mode: "keyword", limit: 3 })).toContain(
      "Document 57 of many. Document 57 of many.",
    );
  });

  it("R-KB-39 R-KB-40 limits hold in races: catalogs of a user, documents of a catalog", async () => {
    const user = test.as("limited");
    const make = (i: number) => test.knowledge.collections.create(user, "me", { name: `c ${i}` });
    const made = await Promise.allSettled(Array.from({ length: 20 }, (_unused, i) => make(i)));
    expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
    for (const outcome of made)
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "LIMIT_EXCEEDED" });
    const first = made.find((outcome) => outcome.status === "fulfilled")?.value.collection_id as string;
    const catalog = { knowledge: test.knowledge, caller: user, repository: "me", collection: first };
    const sent = await Promise.allSettled(
      Array.from({ length: 12 }, (_unused, i) => upload(catalog, `f${i}.txt`, `text ${i}`)),
    );
    expect(sent.filter(({ status }) => status === "fulfilled")).toHaveLength(5);
    for (const outcome of sent)
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "LIMIT_EXCEEDED" });
    await test.knowledge.collections.delete(user, "me", first);
    expect((await make(100)).name).toBe("c 100");
    await expect(make(101)).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
  });

  it("R-LISA-42 R-LISA-52 a deleted one is gone, a restored one is back, with the same hits", async () => {
    const place = await newPlace(test);
    const { knowledge, caller, repository, collection } = place;
    await uploaded(place, "a.txt", "words about otters");
    await uploaded(place, "a.txt", "better words about otters", { replace: true });
    await knowledge.collections.delete(caller, repository, collection);
    await expect(texts(place, "otters")).rejects.toMatchObject({ code: "NOT_FOUND" });
    await knowledge.collections.restore(caller, repository, collection);
    expect(await texts(place, "otters")).toEqual(["better words about otters"]);
  });
});
