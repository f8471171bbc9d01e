/** What an access may be, who may set it, what uploads and metadata do to it, and that hidden documents leave no trace. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Caller } from "../../src/domain/caller.ts";
import { knowledgeEngines } from "../knowledge/support/knowledge-engines.ts";
import {
  openTestPinakes,
  settled,
  upload,
  uploaded,
  type Place,
  type TestPinakes,
} from "../knowledge/support/test-pinakes.ts";

async function newStaffPlace(test: TestPinakes, more: object = {}): Promise<Place> {
  const repository = `rules-${Math.random().toString(36).slice(2, 10)}`;
  await test.knowledge.repositories.create(test.admin, { repository_id: repository, allow_user_collections: true });
  const { collection_id } = await test.knowledge.collections.create(test.admin, repository, {
    name: "Papers",
    allowed_groups: ["staff", "hr"],
    ...more,
  });
  return { knowledge: test.knowledge, caller: test.admin, repository, collection: collection_id };
}
const at = ({ repository, collection }: Place) => [repository, collection] as const;
const sees = async (place: Place, caller: Caller, id: string): Promise<boolean> =>
  place.knowledge.documents.get(caller, ...at(place), id).then(
    () => true,
    (error: unknown) => {
      expect(error).toMatchObject({ code: "NOT_FOUND" });
      return false;
    },
  );

describe.each(knowledgeEngines())("rules of an access on %s", (_name, openOn) => {
  let test: TestPinakes;
  let place: Place;
  let ann: Caller;
  let bob: Caller;
  beforeAll(async () => {
    test = await openOn();
    place = await newStaffPlace(test);
    ann = test.as("ann", { groups: ["staff"] });
    bob = test.as("bob", { groups: ["staff"] });
  });
  afterAll(() => test[Symbol.asyncDispose]());

  it("an upload that replaces a document keeps its access; one that names another sets it, also with the same bytes", async () => {
    const mine = { ...place, caller: ann };
    const first = await uploaded(mine, "kept.txt", "First text.", { allowed_users: ["carl"] });
    expect(await sees(place, bob, first.document_id)).toBe(false);
    const second = await uploaded(mine, "kept.txt", "Second text.", { replace: true });
    expect(second).toMatchObject({ version: 2, allowed_users: ["carl"], allowed_groups: null, sensitivity: [] });
    expect(await sees(place, bob, first.document_id)).toBe(false);
    const same = await upload(mine, "kept.txt", "Second text.", { replace: true, allowed_users: null });
    expect(same).toMatchObject({ unchanged: true, allowed_users: null });
    expect(await sees(place, bob, first.document_id)).toBe(true);
  });

  it("rules on metadata narrow documents when they are uploaded, when their metadata changes, and what their uploader makes of it", async () => {
    const ruled = await newStaffPlace(test, {
      access_rules: [
        { metadata: { department: "hr" }, allowed_groups: ["hr"] },
        { metadata: { personal: true }, sensitivity: ["pii"] },
      ],
    });
    const mine = { ...ruled, caller: ann };
    const open = await uploaded(mine, "open.txt", "Open.", { metadata: { department: "it" } });
    const hr = await uploaded(mine, "hr.txt", "Hr.", {
      metadata: { department: "hr", personal: true },
      allowed_users: ["bob"],
      sensitivity: ["legal"],
    });
    expect(hr).toMatchObject({ allowed_groups: ["hr"], allowed_users: null, sensitivity: ["legal", "pii"] });
    expect([await sees(ruled, bob, open.document_id), await sees(ruled, bob, hr.document_id)]).toEqual([true, false]);
    const cleared = test.as("dora", { groups: ["staff", "hr", "sensitivity:pii", "sensitivity:legal"] });
    expect(await sees(ruled, cleared, hr.document_id)).toBe(true);

    await ruled.knowledge.documents.setMetadata(ann, ...at(ruled), open.document_id, { personal: true });
    expect(await sees(ruled, bob, open.document_id)).toBe(false);
    await settled(ruled, open.document_id);
    const opened = await ruled.knowledge.documents.setAccess(ann, ...at(ruled), hr.document_id, {
      allowed_groups: null,
      allowed_users: null,
      sensitivity: [],
    });
    expect(opened).toMatchObject({ allowed_groups: ["hr"], sensitivity: ["pii"] });
    const byAdmin = await ruled.knowledge.documents.setAccess(test.admin, ...at(ruled), hr.document_id, {
      allowed_groups: null,
      sensitivity: [],
    });
    expect(byAdmin).toMatchObject({ allowed_groups: null, sensitivity: [] });
    expect(await sees(ruled, bob, hr.document_id)).toBe(true);
  });

  it("a deleted document stays hidden while its leftovers are removed, and leaves nothing behind", async () => {
    const gone = await newStaffPlace(test, { graph: { extract: "structured", key: "name" } });
    const { document_id } = await uploaded(gone, "a.csv", "name,kind\nthe vault,secret\n", { allowed_groups: ["hr"] });
    await uploaded(gone, "b.csv", "name,kind\nthe door,open\n");
    const triples = async (caller: Caller) =>
      JSON.stringify((await gone.knowledge.graph.matchTriples(caller, ...at(gone), {})).items);
    expect(await triples(ann)).not.toContain("vault");
    expect(await triples(gone.caller)).toContain("vault");
    await gone.knowledge.documents.delete(gone.caller, ...at(gone), document_id);
    expect(await triples(ann)).not.toContain("vault");
    expect(await triples(gone.caller)).not.toContain("vault");
    expect((await gone.knowledge.collections.get(ann, ...at(gone))).document_count).toBe(1);
  });

  it("what only hidden documents state is not there for a writer either: not removed, and new when inserted", async () => {
    const graph = await newStaffPlace(test, { graph: { extract: "structured", key: "name" } });
    await uploaded(graph, "a.csv", "name,kind\nthe vault,secret\n", { allowed_groups: ["hr"] });
    const { items } = await graph.knowledge.graph.matchTriples(graph.caller, ...at(graph), {});
    expect(items.length).toBeGreaterThan(0);
    const removed = await graph.knowledge.graph.removeTriples(ann, ...at(graph), { triples: items });
    expect(removed).toEqual({ removed: 0 });
    const all = await graph.knowledge.graph.sparql(ann, ...at(graph), { update: "CLEAR ALL" });
    expect(all).toMatchObject({ removed: 0 });
    expect((await graph.knowledge.graph.matchTriples(graph.caller, ...at(graph), {})).items).toEqual(items);
    const some = items.slice(0, 1);
    expect(await graph.knowledge.graph.addTriples(ann, ...at(graph), some)).toEqual({ inserted: 1 });
    expect((await graph.knowledge.graph.matchTriples(ann, ...at(graph), {})).items).toEqual(some);
    expect(await graph.knowledge.graph.addTriples(ann, ...at(graph), some)).toEqual({ inserted: 0 });
  });
});

describe("an access", () => {
  let test: TestPinakes;
  let place: Place;
  let ann: Caller;
  beforeAll(async () => {
    test = await openTestPinakes("sqlite");
    place = await newStaffPlace(test);
    ann = test.as("ann", { groups: ["staff"] });
  });
  afterAll(() => test[Symbol.asyncDispose]());
  const set = (caller: Caller, id: string, access: object) =>
    place.knowledge.documents.setAccess(caller, ...at(place), id, access);

  it("with a group outside the collection's is refused with the reason, at upload, by a change and in a rule; nothing is stored", async () => {
    const reason = { code: "INVALID", detail: expect.stringMatching(/"strangers" may not use collection/) };
    const refused = upload(place, "out.txt", "Out.", { allowed_groups: ["staff", "strangers"] });
    await expect(refused).rejects.toMatchObject(reason);
    expect((await place.knowledge.documents.list(place.caller, ...at(place), { q: "out.txt" })).items).toEqual([]);
    const { document_id } = await uploaded(place, "in.txt", "In.", { allowed_groups: ["staff"] });
    await expect(set(place.caller, document_id, { allowed_groups: ["strangers"] })).rejects.toMatchObject(reason);
    const rule = { metadata: { a: 1 }, allowed_groups: ["strangers"] };
    const ruled = place.knowledge.collections.update(place.caller, ...at(place), { access_rules: [rule] });
    await expect(ruled).rejects.toMatchObject(reason);
    expect((await place.knowledge.collections.get(place.caller, ...at(place))).access_rules).toBeUndefined();
  });

  it("has at most 100 groups, 100 users, 20 labels, a collection at most 20 rules; an empty change is refused", async () => {
    const open = await newStaffPlace(test, { allowed_groups: null });
    const { document_id } = await uploaded(open, "limits.txt", "Limits.");
    const change = (access: object) =>
      open.knowledge.documents.setAccess(open.caller, ...at(open), document_id, access);
    const many = (count: number) => Array.from({ length: count }, (_, i) => `n${i}`);
    const invalid = { code: "INVALID" };
    for (const [field, max] of [
      ["allowed_groups", 100],
      ["allowed_users", 100],
      ["sensitivity", 20],
    ] as const) {
      expect((await change({ [field]: many(max) }))[field]).toHaveLength(max);
      await expect(change({ [field]: many(max + 1) })).rejects.toMatchObject(invalid);
    }
    for (const wrong of [{}, { allowed_groups: "staff" }, { allowed_users: [""] }, { sensitivity: ["a:b"] }])
      await expect(change(wrong)).rejects.toMatchObject(invalid);
    const rules = (count: number) => many(count).map((name) => ({ metadata: { name }, sensitivity: ["x"] }));
    const update = (access_rules: unknown) =>
      open.knowledge.collections.update(open.caller, ...at(open), { access_rules });
    expect((await update(rules(20))).access_rules).toHaveLength(20);
    const wrong = [
      rules(21),
      [{ metadata: {}, sensitivity: ["x"] }],
      [{ metadata: { a: 1 } }],
      [{ metadata: { a: {} }, sensitivity: ["x"] }],
      [{ metadata: { a: 1 }, groups: ["x"] }],
    ];
    for (const one of wrong) await expect(update(one)).rejects.toMatchObject(invalid);
    expect((await update(null)).access_rules).toBeUndefined();
  });

  it("is changed by the uploader and those with ADMIN access only, and only as it was read", async () => {
    const { document_id, etag } = await uploaded({ ...place, caller: ann }, "mine.txt", "Mine.");
    const bob = test.as("bob", { groups: ["staff"] });
    await expect(set(bob, document_id, { allowed_users: ["bob"] })).rejects.toMatchObject({ code: "FORBIDDEN" });
    const first = await place.knowledge.documents.setAccess(
      ann,
      ...at(place),
      document_id,
      { allowed_users: ["carl"] },
      etag,
    );
    expect(first.allowed_users).toEqual(["carl"]);
    const stale = place.knowledge.documents.setAccess(ann, ...at(place), document_id, { allowed_users: null }, etag);
    await expect(stale).rejects.toMatchObject({ code: "PRECONDITION_FAILED" });
    await expect(set(bob, document_id, { allowed_users: ["bob"] })).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await sees(place, ann, document_id)).toBe(true);
  });

  it("never opens a document to somebody without the collection, and gives way to what the collection withdraws", async () => {
    const { document_id } = await uploaded(place, "never.txt", "Never.", {
      allowed_groups: ["hr"],
      allowed_users: ["eve"],
    });
    const eve = test.as("eve");
    await expect(place.knowledge.documents.get(eve, ...at(place), document_id)).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    const hugo = test.as("hugo", { groups: ["hr"] });
    expect(await sees(place, hugo, document_id)).toBe(true);
    await place.knowledge.collections.update(place.caller, ...at(place), { allowed_groups: ["staff"] });
    expect(await sees(place, hugo, document_id)).toBe(false);
    await place.knowledge.collections.update(place.caller, ...at(place), { allowed_groups: ["staff", "hr"] });
    expect(await sees(place, hugo, document_id)).toBe(true);
  });

  it("keeps the name of a hidden document taken, and says nothing of it", async () => {
    await uploaded(place, "Board.txt", "The board meets.", { allowed_groups: ["hr"] });
    for (const replace of [false, true]) {
      const refused = upload({ ...place, caller: ann }, "board.txt", "Mine.", { replace });
      await expect(refused).rejects.toMatchObject({
        code: "CONFLICT",
        detail: 'A document cannot be named "board.txt" in this collection; choose another name.',
      });
    }
    const twin = await upload({ ...place, caller: ann }, "other.txt", "The board meets.");
    expect(twin.duplicate_of).toBeUndefined();
  });

  it("hidden documents change no score, order or word weight: hits are those of a collection without them", async () => {
    const [whole, twin] = [await newStaffPlace(test), await newStaffPlace(test)];
    const open = ["Herons fish in the reeds.", "The otter swims past the heron.", "Reeds grow by the lake."];
    for (const [i, text] of open.entries())
      for (const one of [whole, twin]) await uploaded(one, `open-${i}.txt`, text, { metadata: { level: i } });
    for (let i = 0; i < 12; i += 1)
      await uploaded(whole, `secret-${i}.txt`, `Heron heron heron reeds ${i}.`, {
        allowed_groups: ["hr"],
        metadata: { vault: i },
      });
    for (const mode of ["vector", "keyword", "hybrid"] as const) {
      const hits = async ({ knowledge, repository, collection }: Place) => {
        const found = await knowledge.search.run(ann, {
          query: "heron reeds",
          mode,
          limit: 3,
          collections: [{ repository, collection }],
        });
        return found.hits.map(({ citation: { filename }, score, scores, text }) => ({ filename, score, scores, text }));
      };
      expect(await hits(whole)).toEqual(await hits(twin));
    }
    const unknown = async ({ knowledge, repository, collection }: Place) =>
      knowledge.search
        .run(ann, { query: "heron", filter: { vault: 1 }, collections: [{ repository, collection }] })
        .then(
          ({ hits, unknown_fields }) => ({ hits, unknown_fields }),
          (error: unknown) => ({ detail: (error as { detail: string }).detail }),
        );
    expect(await unknown(whole)).toEqual(await unknown(twin));
  });
});
