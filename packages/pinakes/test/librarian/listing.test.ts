/** Lists by tag, by use and by size: their results, and how much they read. */
import { beforeEach, describe, expect, it } from "vitest";
import { makeCaller } from "../../src/domain/caller.ts";
import { useEveryMs } from "../../src/knowledge/collections/uses.ts";
import { knowledgeLimits, type CollectionQuery, type Knowledge } from "../../src/knowledge/index.ts";
import { gatheredCollectionsMax } from "../../src/knowledge/collections/gather-collections.ts";
import { removedRowsMax } from "../../src/knowledge/records/tag-rows.ts";
import type { ItemStore, Page, Query } from "../../src/ports/item-store.ts";
import { body } from "../knowledge/support/test-pinakes.ts";
import { World } from "../lifecycle/support/world.ts";
import { forEachTest } from "../support/for-tests.ts";

let knowledge: Knowledge;
const world = forEachTest(() => World.open());
const process = forEachTest(() => world.process());
beforeEach(async () => {
  ({ knowledge } = process);
});

const make = (collection_id: string, tags: readonly string[] = [], repository = "kb") =>
  knowledge.collections.create(world.admin, repository, { collection_id, metadata: { tags } });
const ids = async (query: CollectionQuery): Promise<string[]> =>
  (await knowledge.collections.list(world.admin, { limit: 100, ...query })).items
    .filter(({ is_default }) => !is_default)
    .map((one) => one.collection_id);

/** Items that queries and reads return meanwhile. */
async function examined(run: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const { query, readMany } = world.items as { query: ItemStore["query"]; readMany: ItemStore["readMany"] };
  const items = world.items as { query: ItemStore["query"]; readMany: ItemStore["readMany"] };
  items.query = async (scope, container, asked: Query): Promise<Page> => {
    const page = await query.call(world.items, scope, container, { ...asked, resumable: true });
    count += page.examined ?? 0;
    return page;
  };
  items.readMany = async (scope, container, keys) => {
    count += keys.length;
    return readMany.call(world.items, scope, container, keys);
  };
  await run().finally(() => Object.assign(items, { query, readMany }));
  return count;
}

describe("by tag", () => {
  it("R-TG-06 R-TG-25 finds any or all of them, in one repository or in all, in every order", async () => {
    await knowledge.repositories.create(world.admin, { repository_id: "other" });
    await make("b", ["x", "y"]);
    world.now += 1_000;
    await make("a", ["x"]);
    world.now += 1_000;
    await make("c", ["y"], "other");
    expect(await ids({ tag: "x" })).toEqual(["a", "b"]);
    expect(await ids({ tags: ["x", "y"] })).toEqual(["b"]);
    expect(await ids({ tags: ["x", "y"], tag_match: "any" })).toEqual(["c", "a", "b"]);
    expect(await ids({ tags: ["x", "y"], tag_match: "any", sort: "name" })).toEqual(["a", "b", "c"]);
    expect(await ids({ tags: ["y"], repositoryId: "kb" })).toEqual(["b"]);
    expect(await ids({ tags: ["y"], order: "asc" })).toEqual(["b", "c"]);
    expect(await ids({ tag: "x", q: "A" })).toEqual(["a"]);
    for (const tag of ["z", "X", "x:", "no/tag", "x".repeat(60)]) expect(await ids({ tag })).toEqual([]);
    expect(await knowledge.collections.count(world.admin, { tags: ["x", "y"], tag_match: "any" })).toBe(3);
    const many = Array.from({ length: knowledgeLimits.tagsMax + 1 }, (_, i) => `t${i}`);
    await expect(ids({ tags: many })).rejects.toMatchObject({ code: "INVALID" });
    expect(await ids({ tags: many.slice(1) })).toEqual([]);
    await expect(ids({ tags: ["x"], tag_match: "most" as "any" })).rejects.toMatchObject({ code: "INVALID" });
  });

  it("R-TG-04 R-TG-21 follows every change: added, removed, all replaced, deleted, restored, purged", async () => {
    await make("p", ["one"]);
    const tags = (list: readonly string[]) =>
      knowledge.collections.update(world.admin, "kb", "p", { metadata: { tags: list } });
    await tags(["one", "two"]);
    expect([await ids({ tag: "one" }), await ids({ tag: "two" })]).toEqual([["p"], ["p"]]);
    await tags(["two"]);
    expect([await ids({ tag: "one" }), await ids({ tag: "two" })]).toEqual([[], ["p"]]);
    const many = Array.from({ length: knowledgeLimits.tagsMax }, (_, i) => `t${i}`);
    expect(many.length).toBeGreaterThan(2 * removedRowsMax);
    await tags(many);
    expect(await ids({ tags: ["t0", "t49"] })).toEqual(["p"]);
    const { etag } = await tags(["last"]);
    // The returned version is the record's, however many steps the change took.
    expect((await knowledge.collections.get(world.admin, "kb", "p")).etag).toBe(etag);
    for (const tag of many) expect(await ids({ tag })).toEqual([]);
    await knowledge.collections.delete(world.admin, "kb", "p");
    expect([await ids({ tag: "last" }), await ids({ tag: "last", status: "DELETED" })]).toEqual([[], ["p"]]);
    await make("p", ["last"]);
    expect(await ids({ tag: "last", status: "all" })).toHaveLength(2);
    await knowledge.collections.delete(world.admin, "kb", "p", { purge: true, confirm: "p" });
    await process.lifecycle.idle();
    expect(await ids({ tag: "last", status: "all" })).toHaveLength(1);
    const rows = await world.items.query(world.admin.scope, "collections", {
      equals: { repository_id: "kb" },
      range: { prefix: "tag:" },
    });
    expect(rows.items).toHaveLength(1);
  });

  it("stays correct when many change the tags of one collection concurrently", async () => {
    await make("p", ["a"]);
    const sets = [["a"], ["b"], ["a", "b"], [], ["c"]];
    const change = (list: readonly string[]) =>
      knowledge.collections.update(world.admin, "kb", "p", { metadata: { tags: list } });
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(sets.map(change));
      const { metadata } = await knowledge.collections.get(world.admin, "kb", "p");
      for (const tag of ["a", "b", "c"])
        expect(await ids({ tag }), `${tag} of ${metadata.tags.join()}`).toEqual(
          metadata.tags.includes(tag) ? ["p"] : [],
        );
    }
  });

  it("R-TG-15 R-TG-105 reads only its matches: hundreds of others, here and of other tenants, cost nothing", async () => {
    for (let i = 0; i < 5; i += 1) await make(`mine-${i}`, ["rare"]);
    expect(await ids({ tag: "rare" })).toHaveLength(5);
    const few = await examined(() => ids({ tag: "rare" }));
    const own = await examined(() => knowledge.collections.list(world.admin, { repositoryId: "kb", tag: "rare" }));
    const neighbour = makeCaller({ tenant: "globex", userId: "g", role: "admin" });
    await knowledge.repositories.create(neighbour, { repository_id: "kb" });
    for (let i = 0; i < 150; i += 1) {
      await make(`other-${i}`, ["common"]);
      await knowledge.collections.create(neighbour, "kb", {
        collection_id: `theirs-${i}`,
        metadata: { tags: ["rare"] },
      });
    }
    expect(await examined(() => ids({ tag: "rare" }))).toBe(few);
    expect(await examined(() => knowledge.collections.list(world.admin, { repositoryId: "kb", tag: "rare" }))).toBe(
      own,
    );
    // For each: its tag row, its record (or that of a former incarnation of its id) and the head of its own rows' vectors, which has their
    // count; and the repository once.
    expect(few).toBeGreaterThanOrEqual(5);
    expect(few).toBeLessThanOrEqual(5 * 6 + 1);
  });

  it("finds what was tagged before there were tag rows, from the first query by tag", async () => {
    await make("old", ["ancient"]);
    const { items } = await world.items.query(world.admin.scope, "collections", {
      equals: { repository_id: "kb" },
      range: { prefix: "tag:" },
    });
    for (const { id } of items) await world.items.write(world.admin.scope, "collections", ["kb"], { op: "delete", id });
    expect(await ids({ tag: "ancient" })).toEqual(["old"]);
    expect(await ids({ tag: "ancient", repositoryId: "kb" })).toEqual(["old"]);
  });
});

describe("by use and size", () => {
  it("R-TG-07 sorts and filters by last use and by size; unused ones can be found", async () => {
    const sizes = { small: 3, large: 3_000, middle: 300 };
    for (const [id, bytes] of Object.entries(sizes)) {
      await make(id);
      await knowledge.documents.upload(world.admin, "kb", id, { name: "a.txt", body: body("x".repeat(bytes)) });
      world.now += useEveryMs;
    }
    await make("empty");
    world.now += useEveryMs;
    await knowledge.rows.query(world.admin, "kb", "small", { vector: [1, 2] });
    expect(await ids({ sort: "size" })).toEqual(["large", "middle", "small", "empty"]);
    expect(await ids({ sort: "size", order: "asc" })).toEqual(["empty", "small", "middle", "large"]);
    expect(await ids({ min_size_bytes: 300, sort: "size" })).toEqual(["large", "middle"]);
    expect(await ids({ max_size_bytes: 299, sort: "size" })).toEqual(["small", "empty"]);
    expect(await ids({ sort: "last_used_at" })).toEqual(["small", "empty", "middle", "large"]);
    const since = new Date(world.now - useEveryMs).toISOString();
    expect(await ids({ unused_since: since, sort: "last_used_at", order: "asc" })).toEqual(["large", "middle"]);
    await expect(ids({ unused_since: "lately" })).rejects.toMatchObject({ code: "INVALID" });
    await expect(ids({ min_size_bytes: -1 })).rejects.toMatchObject({ code: "INVALID" });
    await expect(ids({ sort: "colour" as "size" })).rejects.toMatchObject({ code: "INVALID" });
  });

  it("R-TG-104 pages have no gaps or duplicates during inserts, and a cursor is bound to one query of one caller", async () => {
    for (let i = 0; i < 25; i += 1) await make(`c${String(i).padStart(2, "0")}`, ["t"]);
    for (const query of [{ tag: "t" }, { tag: "t", sort: "name" }, { sort: "size", tag: "t" }] as const) {
      const seen: string[] = [];
      let cursor: string | undefined;
      for (;;) {
        const page = await knowledge.collections.list(world.admin, { ...query, limit: 4, cursor });
        seen.push(...page.items.map(({ collection_id }) => collection_id));
        cursor = page.next_cursor ?? undefined;
        if (cursor === undefined) break;
        world.now += 10;
        await make(`new-${"sort" in query ? query.sort : "made"}-${seen.length}`, ["t"]);
        const asked = { ...query, limit: 4, cursor };
        const stranger = makeCaller({ tenant: "acme", userId: "stranger", role: "admin" });
        await expect(knowledge.collections.list(stranger, asked)).rejects.toMatchObject({ code: "INVALID" });
        await expect(knowledge.collections.list(world.admin, { ...asked, q: "c" })).rejects.toMatchObject({
          code: "INVALID",
        });
      }
      expect(new Set(seen).size, JSON.stringify(query)).toBe(seen.length);
      for (let i = 0; i < 25; i += 1) expect(seen).toContain(`c${String(i).padStart(2, "0")}`);
    }
  });

  it("R-TG-104 is bounded: one more than can be sorted is an error with instructions", async () => {
    const record = await world.items.read(world.admin.scope, "collections", {
      partition: ["kb"],
      id: "collection:none",
    });
    const document = record?.document as Record<string, never>;
    const put = async (from: number, to: number) => {
      for (let at = from; at < to; at += 100) {
        const some = Array.from({ length: Math.min(100, to - at) }, (_, i) => `n${at + i}`);
        const operations = some.map((id) => {
          const named = {
            id: `collection:${id}`,
            collection_id: id,
            incarnation: id,
            name: id,
            sort_name: id,
            name_key: id,
            search_text: id,
          };
          return { op: "create", document: { ...document, ...named, is_default: false } } as const;
        });
        await world.items.batch(world.admin.scope, "collections", ["kb"], operations);
      }
    };
    await put(0, gatheredCollectionsMax - 1);
    expect((await knowledge.collections.list(world.admin, { sort: "size", limit: 5 })).items).toHaveLength(5);
    await put(gatheredCollectionsMax - 1, gatheredCollectionsMax);
    const refused = knowledge.collections.list(world.admin, { sort: "size", limit: 5 });
    await expect(refused).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
      detail: expect.stringContaining("Name a repository") as string,
    });
    expect((await knowledge.collections.list(world.admin, { limit: 5 })).next_cursor).not.toBeNull();
  });
});
