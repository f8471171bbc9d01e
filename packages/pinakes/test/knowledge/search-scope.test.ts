/**
 * Searches over whole repositories and any number of collections: one ranking, collections that could not be searched are named, and so is
 * the reason for no hits.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { open } from "../../src/open.ts";
import { newPlace, openTestPinakes, upload, uploaded } from "./support/test-pinakes.ts";
import { forAllTests } from "../support/for-tests.ts";

const otters = "Otters hold hands while they sleep, so that they do not drift apart.";

describe("the scope of a search", () => {
  const test = forAllTests(() => openTestPinakes("memory"));

  it("a whole repository of 120 collections, and everything the caller may read, give one ranking; unreadable collections do not exist", async () => {
    const { knowledge, admin } = test;
    const repository = "many";
    await knowledge.repositories.create(admin, { repository_id: repository });
    const reader = test.as("reader");
    for (let i = 0; i < 120; i += 1) {
      const { collection_id } = await knowledge.collections.create(admin, repository, {
        name: `c${i}`,
        private: i === 7,
      });
      const text =
        i % 40 === 3 ? `Lighthouse ${i} was lit by a keeper.` : i === 7 ? "The secret lighthouse keeper." : undefined;
      if (text !== undefined)
        await uploaded({ knowledge, caller: admin, repository, collection: collection_id }, "a.txt", text);
    }
    const one = await newPlace(test, "All in one");
    for (const i of [3, 43, 83]) await uploaded(one, `${i}.txt`, `Lighthouse ${i} was lit by a keeper.`);
    const query = "Who lit lighthouse 43?";
    const whole = await knowledge.search.run(reader, {
      query,
      collections: [{ repository: one.repository, collection: one.collection }],
    });
    const spread = await knowledge.search.run(reader, { query, collections: [{ repository }] });
    expect(spread.outcome).toBe("ok");
    expect(spread.hits.map(({ text }) => text)).toEqual(whole.hits.map(({ text }) => text));
    for (const [i, { score }] of spread.hits.entries()) expect(score).toBeCloseTo(whole.hits[i]?.score as number, 6);
    expect((await knowledge.search.run(admin, { query, collections: [{ repository }] })).hits).toHaveLength(4);
    const everywhere = await knowledge.search.run(reader, { query });
    expect(everywhere.hits.map(({ text }) => text)).not.toContain("The secret lighthouse keeper.");
    expect(everywhere.hits.length).toBe(6);
    await expect(
      knowledge.search.run(reader, { query, collections: [{ repository: "nobody" }] }),
    ).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });

  it("R-KB-45 an empty collection and a query without matches have different outcomes, and neither is `ok`; min_score 0 shows the nearest", async () => {
    const place = await newPlace(test, "Outcomes");
    const ask = (query: string, more: object = {}) =>
      test.knowledge.search.run(test.admin, {
        query,
        collections: [{ repository: place.repository, collection: place.collection }],
        ...more,
      });
    expect(await ask("otters")).toMatchObject({ outcome: "empty", hits: [] });
    await uploaded(place, "otters.txt", otters);
    const found = await ask("Why do otters hold hands?");
    expect(found.outcome).toBe("ok");
    expect(found.hits[0]?.score).toBeGreaterThan(0.5);
    expect(found.hits[0]?.scores.fused).toBeGreaterThan(0);
    for (const mode of ["hybrid", "vector", "keyword"] as const)
      expect(await ask("zxqv blorp quetzal", { mode })).toMatchObject({ outcome: "no_match", hits: [] });
    expect((await ask("zxqv blorp quetzal", { min_score: 0 })).hits).toHaveLength(1);
    for (const wrong of [-0.01, 1.01, Number.NaN])
      await expect(ask("otters", { min_score: wrong })).rejects.toMatchObject({ code: "INVALID" });
    expect((await ask("otters", { min_score: 1 })).outcome).toBe("no_match");
  });

  it("R-KB-45 documents being ingested make an answer without hits `indexing`", async () => {
    await using idle = await openTestPinakes("memory", { background: false });
    const place = await newPlace(idle, "Waiting");
    await upload(place, "otters.txt", otters);
    const { repository, collection } = place;
    expect(
      await idle.knowledge.search.run(idle.admin, { query: "otters", collections: [{ repository, collection }] }),
    ).toMatchObject({
      outcome: "indexing",
      hits: [],
    });
  });

  it("a collection whose model is no longer configured is skipped and named; searched alone it is an error", async () => {
    const dir = await mkdtemp(join(tmpdir(), "pinakes-models-"));
    const local = { id: "all-MiniLM-L6-v2", provider: "local" } as const;
    const place = { repository: "kb", collection: "old" };
    try {
      {
        await using before = await open({ dir, models: [local, { id: "small", provider: "local" }] });
        const admin = before.as({ tenant: "acme", userId: "root", role: "admin" });
        await before.knowledge.repositories.create(admin, { repository_id: "kb" });
        for (const [collection_id, embedding_model] of [
          ["old", "small"],
          ["new", local.id],
        ] as const) {
          await before.knowledge.collections.create(admin, "kb", {
            collection_id,
            name: collection_id,
            embedding_model,
          });
          await uploaded(
            { knowledge: before.knowledge, caller: admin, repository: "kb", collection: collection_id },
            "a.txt",
            otters,
          );
        }
      }
      await using after = await open({ dir, models: [local] });
      const admin = after.as({ tenant: "acme", userId: "root", role: "admin" });
      const query = "Why do otters hold hands?";
      for (const collections of [undefined, [{ repository: "kb" }], [place, { repository: "kb", collection: "new" }]]) {
        const { hits, outcome, skipped } = await after.knowledge.search.run(admin, { query, collections });
        expect([outcome, hits.map(({ collection_id }) => collection_id)]).toEqual(["ok", ["new"]]);
        expect(skipped).toEqual([
          {
            repository_id: "kb",
            collection_id: "old",
            code: "NOT_FOUND",
            reason: expect.stringContaining('"small" is not configured') as string,
          },
        ]);
      }
      await expect(after.knowledge.search.run(admin, { query, collections: [place] })).rejects.toMatchObject({
        detail: expect.stringContaining("is not configured") as string,
      });
      // Words need no model.
      expect(
        (await after.knowledge.search.run(admin, { query, mode: "keyword", collections: [place] })).hits,
      ).toHaveLength(1);
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  });
});
