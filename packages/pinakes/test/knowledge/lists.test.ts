/** Lists: every entry once, in order, filtered, with exact counts, and cursors valid only for their own list. */
import { describe, expect, it } from "vitest";
import type { CollectionQuery } from "../../src/knowledge/index.ts";
import { knowledgeEngines } from "./support/knowledge-engines.ts";
import { newPlace, upload, walk } from "./support/test-pinakes.ts";
import { forAllTests } from "../support/for-tests.ts";

describe.each(knowledgeEngines())("lists on %s", (_name, openOn) => {
  let now = Date.UTC(2030, 0, 1);
  const test = forAllTests(() => openOn({ background: false, clock: { now: () => now } }));

  /** A repository with its default collection and a number of others, a second apart. */
  async function filled(
    count: number,
    input: (i: number) => object = (i) => ({ name: `C ${String(i).padStart(3, "0")}` }),
  ): Promise<string> {
    const repository_id = `r-${Math.random().toString(36).slice(2, 10)}`;
    await test.knowledge.repositories.create(test.admin, { repository_id });
    for (let i = 0; i < count; i += 1) {
      now += 1_000;
      await test.knowledge.collections.create(test.admin, repository_id, input(i));
    }
    return repository_id;
  }
  const list = (query: CollectionQuery) => test.knowledge.collections.list(test.admin, query);
  const names = async (query: CollectionQuery) =>
    (await walk((cursor) => list({ ...query, cursor }))).map(({ name }) => name);

  it("R-LISA-04 R-LISA-05 exactly a repository's collections, newest or oldest first, as complete records", async () => {
    const repositoryId = await filled(7);
    await filled(3);
    const newest = await walk((cursor) => list({ repositoryId, cursor, limit: 3 }));
    expect(newest.map(({ name }) => name)).toEqual([
      "C 006",
      "C 005",
      "C 004",
      "C 003",
      "C 002",
      "C 001",
      "C 000",
      "Default Collection",
    ]);
    expect((await names({ repositoryId, order: "asc", limit: 3 })).toReversed()).toEqual(
      newest.map(({ name }) => name),
    );
    for (const one of newest)
      expect(one).toEqual(await test.knowledge.collections.get(test.admin, repositoryId, one.collection_id));
  });

  it("R-LISA-04 collections of the same millisecond have a stable order, the same in both directions and at every read", async () => {
    const repositoryId = await filled(0);
    await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        test.knowledge.collections.create(test.admin, repositoryId, { name: `Tie ${i}` }),
      ),
    );
    const once = await names({ repositoryId, limit: 7 });
    expect(once).toHaveLength(31);
    expect(await names({ repositoryId, limit: 4 })).toEqual(once);
    expect(await names({ repositoryId, limit: 9, order: "asc" })).toEqual(once.toReversed());
  });

  it("R-LISA-06 pages have 20 entries by default; a walk meets every stable entry once, also with inserts and deletes between pages", async () => {
    const repositoryId = await filled(60);
    expect((await list({ repositoryId })).items).toHaveLength(20);
    const stay = new Set((await names({ repositoryId, limit: 100 })).filter((name) => !/[05]$/.test(name)));
    const met: string[] = [];
    let cursor: string | undefined;
    for (let page = 0; ; page += 1) {
      const { items, next_cursor } = await list({ repositoryId, cursor, limit: 7 });
      met.push(...items.map(({ name }) => name));
      if (next_cursor === null) break;
      cursor = next_cursor;
      now += 1_000;
      await test.knowledge.collections.create(test.admin, repositoryId, { name: `New ${page}` });
      const gone = (await list({ repositoryId, limit: 100 })).items.find(({ name }) => /^C \d+[05]$/.test(name));
      if (gone !== undefined) await test.knowledge.collections.delete(test.admin, repositoryId, gone.collection_id);
    }
    expect(new Set(met).size).toBe(met.length);
    expect(met.filter((name) => stay.has(name)).sort()).toEqual([...stay].sort());
  });

  it("R-LISA-06 R-LISA-74 a cursor that was tampered with, or belongs to another workspace, filter, order or list, is refused", async () => {
    const repositoryId = await filled(5);
    const cursor = (await list({ repositoryId, limit: 2 })).next_cursor as string;
    const other = test.as("root", { tenant: "other", role: "admin" });
    await test.knowledge.repositories.create(other, { repository_id: repositoryId });
    const flipped = cursor.slice(0, 10) + (cursor[10] === "A" ? "B" : "A") + cursor.slice(11);
    const refused = { code: "INVALID" };
    for (const bad of [flipped, `${cursor}x`, cursor.slice(1), "x", "", "0", "..", '{"a":1}'])
      await expect(list({ repositoryId, limit: 2, cursor: bad })).rejects.toMatchObject(refused);
    await expect(test.knowledge.collections.list(other, { repositoryId, limit: 2, cursor })).rejects.toMatchObject(
      refused,
    );
    const others: CollectionQuery[] = [
      { repositoryId, q: "c" },
      { repositoryId, tag: "t" },
      { repositoryId, status: "ARCHIVED" },
      { repositoryId, sort: "name" },
      { repositoryId, order: "asc" },
      { repositoryId: await filled(0) },
      {},
    ];
    for (const query of others) await expect(list({ ...query, limit: 2, cursor })).rejects.toMatchObject(refused);
    await expect(test.knowledge.repositories.list(test.admin, { cursor })).rejects.toMatchObject(refused);
    // Another page size is the same list.
    expect((await list({ repositoryId, limit: 3, cursor })).items).toHaveLength(3);
  });

  it("R-LISA-07 R-LISA-09 a list by status is exact, newest first, and a change shows at the very next read in every order", async () => {
    const repositoryId = await filled(6);
    const { items } = await list({ repositoryId });
    const id = (name: string) => items.find((one) => one.name === name)?.collection_id as string;
    for (const name of ["C 001", "C 004"]) {
      await test.knowledge.collections.archive(test.admin, repositoryId, id(name));
      for (const sort of ["created_at", "updated_at", "name"] as const) {
        expect(await names({ repositoryId, sort })).not.toContain(name);
        expect(await names({ repositoryId, sort, status: "ARCHIVED" })).toContain(name);
        expect(await names({ sort, status: "ARCHIVED" })).toContain(name);
      }
    }
    expect(await names({ repositoryId, status: "ARCHIVED" })).toEqual(["C 004", "C 001"]);
    await test.knowledge.collections.delete(test.admin, repositoryId, id("C 002"));
    expect(await names({ repositoryId, status: "DELETED" })).toEqual(["C 002"]);
    expect(await names({ repositoryId })).toEqual(["C 005", "C 003", "C 000", "Default Collection"]);
    expect(await test.knowledge.collections.count(test.admin, { repositoryId, status: "all" })).toBe(7);
    now += 1_000;
    await test.knowledge.collections.update(test.admin, repositoryId, id("C 000"), { name: "Z renamed" });
    expect((await names({ repositoryId, sort: "name" })).at(-1)).toBe("Z renamed");
    expect((await names({ sort: "updated_at" }))[0]).toBe("Z renamed");
    expect(await names({ repositoryId, q: "z REN" })).toEqual(["Z renamed"]);
    expect(await names({ repositoryId, q: "C 000" })).toEqual([]);
  });

  it("R-LISA-73 filters, status, sort and order combined, with exact pages and counts", async () => {
    const repositoryId = await filled(40, (i) => ({
      name: `${i % 2 === 0 ? "Even" : "Odd"} ${String(39 - i).padStart(2, "0")}`,
      description: i % 4 === 0 ? "About ZEBRAS" : "",
      metadata: { tags: i % 3 === 0 ? ["third", "x"] : ["x"] },
    }));
    const expected = Array.from({ length: 40 }, (_, i) => i).filter((i) => i % 12 === 0);
    const query: CollectionQuery = { repositoryId, q: "zebra", tag: "third", sort: "name" };
    const label = (i: number) => `Even ${String(39 - i).padStart(2, "0")}`;
    expect(await names({ ...query, limit: 1 })).toEqual(expected.map(label).sort());
    expect(await names({ ...query, limit: 3, order: "desc" })).toEqual(expected.map(label).toSorted().toReversed());
    expect(await test.knowledge.collections.count(test.admin, query)).toBe(expected.length);
    expect(await test.knowledge.collections.count(test.admin, { repositoryId, q: "EVEN" })).toBe(20);
    expect(await names({ repositoryId, q: "odd", limit: 6 })).toHaveLength(20);
    // Tags match as a whole.
    expect(await names({ repositoryId, tag: "thir" })).toEqual([]);
    for (const bad of [{ sort: "colour" }, { order: "up" }, { status: "x" }])
      await expect(list({ repositoryId, ...(bad as object) })).rejects.toMatchObject({ code: "INVALID" });
  });

  it("R-LISA-08 R-LISA-74 over all repositories in one order, by creator, with the repository's name, and only what the caller may see", async () => {
    const ann = test.as("ann-of-lists", { groups: ["readers"] });
    const open = await filled(0);
    await test.knowledge.repositories.update(test.admin, open, { name: "Open House" });
    const closed = `${open}-closed`;
    await test.knowledge.repositories.create(test.admin, { repository_id: closed, allowed_groups: ["readers"] });
    for (let i = 0; i < 6; i += 1) {
      now += 1_000;
      await test.knowledge.collections.create(ann, i % 2 === 0 ? open : closed, {
        name: `By Ann ${i}`,
        private: i === 5,
      });
    }
    const mine = { created_by: "ann-of-lists" };
    const seen = await walk((cursor) => test.knowledge.collections.list(ann, { ...mine, limit: 2, cursor }));
    expect(seen.map(({ name }) => name)).toEqual([5, 4, 3, 2, 1, 0].map((i) => `By Ann ${i}`));
    expect(seen.map(({ repository_name }) => repository_name)).toEqual([
      closed,
      "Open House",
      closed,
      "Open House",
      closed,
      "Open House",
    ]);
    const ben = test.as("ben-of-lists", { groups: ["readers"] });
    const outsider = test.as("outsider");
    const of = async (caller: typeof ann) =>
      (await walk((cursor) => test.knowledge.collections.list(caller, { ...mine, limit: 1, cursor }))).map(
        ({ name }) => name,
      );
    expect(await of(ben)).toEqual([4, 3, 2, 1, 0].map((i) => `By Ann ${i}`));
    expect(await of(outsider)).toEqual([4, 2, 0].map((i) => `By Ann ${i}`));
    expect(await test.knowledge.collections.count(outsider, mine)).toBe(3);
    // Having lost the group, the creator sees none of it any more.
    expect(await of(test.as("ann-of-lists"))).toEqual([4, 2, 0].map((i) => `By Ann ${i}`));
  });

  it("R-LISA-30 documents newest or oldest first, by status, by name, in pages", async () => {
    const place = await newPlace(test);
    const { knowledge, caller, repository, collection } = place;
    for (let i = 0; i < 45; i += 1) {
      now += 1_000;
      await upload(place, `file ${String(i).padStart(2, "0")}.txt`, `text ${i}`);
    }
    const documents = async (query: object) =>
      (
        await walk((cursor) => knowledge.documents.list(caller, repository, collection, { limit: 7, cursor, ...query }))
      ).map(({ name }) => name);
    const expected = Array.from({ length: 45 }, (_, i) => `file ${String(i).padStart(2, "0")}.txt`);
    expect(await documents({ order: "asc" })).toEqual(expected);
    expect(await documents({})).toEqual(expected.toReversed());
    expect((await knowledge.documents.list(caller, repository, collection)).items).toHaveLength(20);
    expect((await knowledge.collections.get(caller, repository, collection)).document_count).toBe(45);
    expect(await documents({ status: "pending" })).toHaveLength(45);
    expect(await documents({ status: "failed" })).toEqual([]);
    expect(await documents({ q: "file 1" })).toHaveLength(10);
    await expect(documents({ status: "done" })).rejects.toMatchObject({ code: "INVALID" });
    await expect(documents({ order: "up" })).rejects.toMatchObject({ code: "INVALID" });
    const { next_cursor } = await knowledge.documents.list(caller, repository, collection, { limit: 2 });
    const elsewhere = await newPlace(test);
    const foreign = knowledge.documents.list(caller, elsewhere.repository, elsewhere.collection, {
      limit: 2,
      cursor: next_cursor as string,
    });
    await expect(foreign).rejects.toMatchObject({ code: "INVALID" });
  });
});
