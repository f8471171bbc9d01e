/** Lists of ten thousand collections: complete, without duplicates, per caller, and each page reads about as much as it shows. */
import { beforeAll, describe, expect, it } from "vitest";
import { makeCaller } from "../../src/domain/caller.ts";
import type { CollectionQuery, Knowledge } from "../../src/knowledge/index.ts";
import type { ItemStore, Page, Query } from "../../src/ports/item-store.ts";
import { World } from "../lifecycle/support/world.ts";
import { forAllTests } from "../support/for-tests.ts";

const collectionsCount = 10_000;
/** Of those: */
const rareCount = 5;
const limit = 100;
let knowledge: Knowledge;

/** As stored by a create, but written directly, so that ten thousand take seconds. */
async function makeAll(): Promise<void> {
  const record = await world.items.read(world.admin.scope, "collections", { partition: ["kb"], id: "collection:none" });
  const document = record?.document as Record<string, never>;
  for (let at = 0; at < collectionsCount; at += 100) {
    const operations = Array.from({ length: 100 }, (_, i) => {
      const n = at + i;
      const id = `c${String((n * 7919) % collectionsCount).padStart(5, "0")}`;
      // Several have the same time.
      const time = new Date(Date.UTC(2029, 0, 1) + Math.floor(n / 7) * 1_000).toISOString();
      const rare = n % (collectionsCount / rareCount) === 0;
      const made = {
        id: `collection:${id}`,
        collection_id: id,
        incarnation: id,
        name: id,
        sort_name: id,
        name_key: id,
        search_text: id,
        created_at: time,
        updated_at: time,
        is_default: false,
      };
      const own = rare
        ? { created_by: "rare", metadata: { ...(document["metadata"] as unknown as object), tags: ["rare"] } }
        : {};
      const archived = n % (collectionsCount / rareCount) === 1 ? { status: "ARCHIVED" } : {};
      return { op: "create", document: { ...document, ...made, ...own, ...archived } } as const;
    });
    await world.items.batch(world.admin.scope, "collections", ["kb"], operations);
  }
}

const world = forAllTests(() => World.open());
const process = forAllTests(() => world.process());
beforeAll(async () => {
  ({ knowledge } = process);
  await knowledge.repositories.create(makeCaller({ tenant: "globex", userId: "root", role: "admin" }), {
    repository_id: "kb",
  });
  await makeAll();
});

describe("pages", () => {
  const questions: readonly [string, CollectionQuery][] = [
    ["by creation", { status: "live" }],
    ["by creation, the oldest first", { status: "live", order: "asc" }],
    ["by name", { status: "live", sort: "name" }],
    ["of one repository by change", { status: "live", sort: "updated_at", repositoryId: "kb" }],
  ];

  it.each(questions)(
    "R-TG-104 ten thousand %s: no gaps or duplicates during inserts, and the cursor is bound to this caller",
    async (name, query) => {
      const others = [
        makeCaller({ tenant: "acme", userId: "stranger", role: "admin" }),
        makeCaller({ tenant: "globex", userId: "root", role: "admin" }),
      ];
      const seen: string[] = [];
      let inserted = 0;
      let cursor: string | undefined;
      do {
        const page = await knowledge.collections.list(world.admin, { ...query, limit, cursor });
        seen.push(...page.items.map(({ incarnation }) => incarnation));
        cursor = page.next_cursor ?? undefined;
        if (cursor === undefined || (seen.length / limit) % 10 !== 0) continue;
        // In the middle of the names, and the newest of all.
        await knowledge.collections.create(world.admin, "kb", {
          collection_id: `c0${(seen.length * 7) % 9}000-${name.replaceAll(/\W/g, "-")}-${inserted}`,
        });
        inserted += 1;
        world.now += 1;
        for (const other of others)
          await expect(knowledge.collections.list(other, { ...query, limit, cursor })).rejects.toMatchObject({
            code: "INVALID",
          });
        await expect(
          knowledge.collections.list(world.admin, { ...query, limit, cursor, q: "c" }),
        ).rejects.toMatchObject({ code: "INVALID" });
      } while (cursor !== undefined);
      expect(inserted).toBeGreaterThan(5);
      const once = new Set(seen);
      expect(once.size).toBe(seen.length);
      const missing = Array.from({ length: collectionsCount }, (_, i) => `c${String(i).padStart(5, "0")}`).filter(
        (id) => !once.has(id),
      );
      expect(missing).toEqual([]);
    },
  );
});

describe("the reads of a list", () => {
  /** Rows examined by queries, and records read by key. */
  async function examined(run: () => Promise<unknown>): Promise<number> {
    let count = 0;
    const items = world.items as { query: ItemStore["query"]; readMany: ItemStore["readMany"] };
    const { query, readMany } = items;
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

  /** Per collection shown: a tag row, its record, one of a former incarnation, its counters, three of its own rows' vector store. */
  const readsPerShown = 7;
  const readsBeside = 10;

  const filters: readonly [string, CollectionQuery, number][] = [
    ["a tag", { tag: "rare" }, rareCount],
    ["a tag in a repository", { tag: "rare", repositoryId: "kb" }, rareCount],
    ["any of several tags", { tags: ["rare", "none"], tag_match: "any" }, rareCount],
    ["who made it", { created_by: "rare" }, rareCount],
    ["a status", { status: "ARCHIVED" }, rareCount],
    ["a status in a repository", { status: "ARCHIVED", repositoryId: "kb" }, rareCount],
    ["a repository", { repositoryId: "other", limit: 3 }, 3],
    ["nothing, the newest", { limit: 7 }, 7],
    ["nothing, by name", { sort: "name", limit: 7 }, 7],
    ["nothing, by change", { sort: "updated_at", limit: 7 }, 7],
  ];

  it.each(filters)(
    "R-TG-105 a list by %s examines about as much as it shows, of ten thousand",
    async (_, query, shown) => {
      await knowledge.repositories.create(world.admin, { repository_id: "other" }).catch(() => {});
      for (const id of ["x", "y", "z"])
        await knowledge.collections.create(world.admin, "other", { collection_id: id }).catch(() => {});
      // The first query by tag backfills the tag rows.
      await knowledge.collections.list(world.admin, query);
      let found = 0;
      const reads = await examined(async () => {
        found = (await knowledge.collections.list(world.admin, query)).items.length;
      });
      expect(found).toBe(shown);
      expect(reads).toBeGreaterThanOrEqual(shown);
      expect(reads).toBeLessThanOrEqual(readsPerShown * shown + readsBeside);
    },
  );
});
