/** Searches: only what the caller may read, filtered before ranking, with verifiable citations. */
import { describe, expect, it } from "vitest";
import type { Caller } from "../../src/domain/caller.ts";
import { makePdf } from "../../src/drivers/parsers/test-files.ts";
import { pagesOf } from "../../src/runtime/pages.ts";
import { knowledgeEngines } from "./support/knowledge-engines.ts";
import { newPlace, texts, uploaded, type Place } from "./support/test-pinakes.ts";
import { forAllTests } from "../support/for-tests.ts";

describe.each(knowledgeEngines())("searching on %s", (_name, openOn) => {
  const test = forAllTests(() => openOn());

  async function catalog(userId: string, name = "Catalog"): Promise<Place> {
    const caller = test.as(userId);
    const { collection_id } = await test.knowledge.collections.create(caller, "me", { name });
    return { knowledge: test.knowledge, caller, repository: "me", collection: collection_id };
  }

  it("R-KB-29 R-KB-28 among 99 % near-duplicates of others the caller gets the whole top K of the own catalog, and nothing else", async () => {
    const mine = await catalog("searcher");
    // The last one belongs to the same user: not foreign, but not the searched catalog.
    const decoys = [await catalog("decoy-1"), await catalog("decoy-2"), await catalog("searcher", "Second")];
    const own = [mine.collection, decoys[2]?.collection];
    const line = (who: string, i: number) =>
      `The quarterly revenue report number ${i} of ${who} shows growth in every region.`;
    const strategy = { type: "FIXED", chunk_size: 100, chunk_overlap: 0, unit: "char" };
    for (const [n, decoy] of decoys.entries()) {
      const text = Array.from({ length: 100 }, (_, i) => line(`foreigner ${n}`, i).padEnd(100)).join("");
      await uploaded(decoy, "decoy.txt", text, { chunking_strategy: strategy });
    }
    await uploaded(mine, "mine.txt", line("mine", 1));
    await uploaded(mine, "mine2.txt", line("mine", 2));
    await uploaded(mine, "other.txt", "Otters hold hands while they sleep.");
    for (const mode of ["vector", "keyword", "hybrid"] as const) {
      const { hits, mode_used } = await mine.knowledge.search.run(mine.caller, {
        query: line("mine", 2),
        mode,
        limit: 3,
        collections: [{ repository: "me", collection: mine.collection }],
      });
      expect(mode_used).toBe(mode);
      expect(hits[0]?.text).toBe(line("mine", 2));
      expect(hits.length).toBe(mode === "keyword" ? 2 : 3);
      for (const hit of hits) expect(hit.collection_id).toBe(mine.collection);
      if (mode === "vector") expect(hits[0]?.scores.vector).toBeCloseTo(1, 3);
      const everywhere = (await mine.knowledge.search.run(mine.caller, { query: line("mine", 2), mode, limit: 200 }))
        .hits;
      expect(new Set(everywhere.map((hit) => hit.collection_id))).toEqual(new Set(own));
    }
  });

  it("a filter on a field that one collection lacks is explained; one that none has finds nothing and is named, as in an empty collection", async () => {
    const [with_, without] = [await newPlace(test, "With colours"), await newPlace(test, "Without")];
    await uploaded(with_, "red.txt", "A red otter.", { metadata: { colour: "red" } });
    await uploaded(with_, "blue.txt", "A blue otter.", { metadata: { colour: "blue" } });
    await uploaded(without, "plain.txt", "An otter.");
    const collections = [with_, without].map(({ repository, collection }) => ({ repository, collection }));
    const ask = (field: string, explain: boolean) =>
      test.knowledge.search.run(test.admin, {
        query: "otter",
        mode: "keyword",
        collections,
        filter: { [field]: "red" },
        explain,
      });
    const { hits, explain } = await ask("colour", true);
    expect(hits.map(({ text }) => text)).toEqual(["A red otter."]);
    expect((await ask("colour", false)).hits.map(({ text }) => text)).toEqual(["A red otter."]);
    expect(explain?.["collections"]).toMatchObject([
      { passages: 2, removed_by_filter: 1 },
      { passages: 1, removed_by_filter: 1 },
    ]);
    for (const explained of [true, false])
      expect(await ask("nowhere", explained)).toMatchObject({
        hits: [],
        outcome: "no_match",
        unknown_fields: ["nowhere"],
      });
    const { repository, collection } = await newPlace(test, "Nothing in it");
    expect(
      await test.knowledge.search.run(test.admin, {
        query: "otter",
        mode: "keyword",
        collections: [{ repository, collection }],
        filter: { nowhere: "red" },
      }),
    ).toMatchObject({ hits: [], outcome: "empty" });
  });

  it("R-LISA-72 get, list, count, search, content, chunks, jobs and citations all follow the same decision, before and after a group is removed", async () => {
    const place = await newPlace(test, "Secrets");
    const { knowledge, repository, collection } = place;
    const { document_id } = await uploaded(place, "a.txt", "the launch code is tangerine");
    await knowledge.repositories.update(test.admin, repository, { allowed_groups: ["insiders"] });
    const { job_id } = await knowledge.collections.delete(
      test.admin,
      repository,
      (await knowledge.collections.create(test.admin, repository, { name: "x" })).collection_id,
    );
    const insider = test.as("ivy", { groups: ["insiders"] });
    const outsider = test.as("ivy", { groups: ["others"] });
    const reads: Record<string, (caller: Caller) => Promise<boolean>> = {
      repository: async (caller) => (await knowledge.repositories.get(caller, repository)) !== undefined,
      collection: async (caller) => (await knowledge.collections.get(caller, repository, collection)) !== undefined,
      document: async (caller) =>
        (await knowledge.documents.get(caller, repository, collection, document_id)) !== undefined,
      documents: async (caller) => (await knowledge.documents.list(caller, repository, collection)).items.length > 0,
      content: async (caller) =>
        (await knowledge.documents.content(caller, repository, collection, document_id)) !== undefined,
      versions: async (caller) =>
        (await knowledge.documents.versions(caller, repository, collection, document_id)).length > 0,
      passages: async (caller) =>
        (await knowledge.documents.passages(caller, repository, collection, document_id)).items.length > 0,
      search: async (caller) => (await texts({ ...place, caller }, "launch code")).length > 0,
      "search everywhere": async (caller) =>
        (await knowledge.search.run(caller, { query: "launch code tangerine" })).hits.some(
          (hit) => hit.document_id === document_id,
        ),
      repositories: async (caller) =>
        (await knowledge.repositories.list(caller, { limit: 100 })).items.some(
          (one) => one.repository_id === repository,
        ),
      collections: async (caller) =>
        (await knowledge.collections.list(caller, { limit: 100 })).items.some(
          (one) => one.collection_id === collection,
        ),
      count: async (caller) => (await knowledge.collections.count(caller, { q: "Secrets" })) > 0,
      job: async (caller) => (await knowledge.jobs.get(caller, job_id)) !== undefined,
      jobs: async (caller) =>
        (await knowledge.jobs.list(caller, { limit: 100 })).items.some((one) => one.job_id === job_id),
      access: async (caller) => (await knowledge.access.explain(caller, repository, collection)).level !== null,
      usage: async (caller) => (await knowledge.collections.usage(caller, repository, collection)) !== undefined,
      citation: async (caller) => {
        const citation = {
          repository_id: repository,
          collection_id: collection,
          document_id,
          version: 1,
          start: 0,
          end: 28,
          quote: "launch code",
        };
        const {
          checks: [check],
        } = await knowledge.search.verifyCitations(caller, [citation]);
        return check?.result === "exact";
      },
    };
    for (const [name, read] of Object.entries(reads)) {
      expect(await read(insider), name).toBe(true);
      const denied = await read(outsider).catch((error: { code: string }) => error.code);
      expect([false, "NOT_FOUND"], name).toContain(denied);
    }
    await knowledge.repositories.update(test.admin, repository, { allowed_groups: ["others"] });
    for (const [name, read] of Object.entries(reads)) {
      expect(await read(outsider), name).toBe(true);
      expect([false, "NOT_FOUND"], name).toContain(await read(insider).catch((error: { code: string }) => error.code));
    }
  });

  it("each hit names its document and has its scores; the answer names the mode; invalid queries are refused", async () => {
    const place = await newPlace(test);
    const { document_id } = await uploaded(place, "a.txt", "A write-ahead log makes commits durable.");
    const ask = (more: object) =>
      place.knowledge.search.run(place.caller, {
        query: "durable commits",
        collections: [{ repository: place.repository, collection: place.collection }],
        ...more,
      });
    for (const mode of ["vector", "keyword", "hybrid"] as const) {
      const { hits, mode_used } = await ask({ mode });
      expect(mode_used).toBe(mode);
      expect(hits).toMatchObject([
        {
          document_id,
          score: expect.any(Number),
          citation: { filename: "a.txt", version: 1, quote: expect.stringContaining("durable") },
        },
      ]);
    }
    expect((await ask({})).mode_used).toBe("hybrid");
    const bad = [
      { query: "" },
      { query: "  " },
      { query: "x".repeat(10_001) },
      { limit: 0 },
      { limit: -1 },
      { limit: 1_001 },
      { limit: 1.5 },
      { mode: "magic" },
      { collections: [] },
    ];
    for (const one of bad) await expect(ask(one)).rejects.toMatchObject({ code: "INVALID" });
    expect((await ask({ limit: 1_000, query: "x".repeat(10_000) })).mode_used).toBe("hybrid");
  });

  it("R-KB-41 a search of catalogs has 5 hits by default and at most 20; a higher limit is reduced with a warning, and an invalid one refused", async () => {
    const mine = await catalog("limited");
    const lines = Array.from({ length: 30 }, (_, i) => `The otter number ${i} sleeps in the river.`.padEnd(100));
    await uploaded(mine, "otters.txt", lines.join(""), {
      chunking_strategy: { type: "FIXED", chunk_size: 100, chunk_overlap: 0, unit: "char" },
    });
    const place = { repository: "me", collection: mine.collection };
    const ask = (limit?: number, collections: readonly object[] | undefined = [place]) =>
      mine.knowledge.search.run(mine.caller, { query: "otter", limit, collections: collections as [typeof place] });
    for (const [limit, count] of [
      [undefined, 5],
      [7, 7],
      [20, 20],
    ]) {
      const { hits, warnings } = await ask(limit);
      expect([hits.length, warnings]).toEqual([count, undefined]);
    }
    for (const limit of [21, 1_000])
      expect(await ask(limit)).toMatchObject({
        hits: { length: 20 },
        warnings: [expect.stringMatching(new RegExp(`at most 20 hits; ${limit} `))],
      });
    // Its repository as a whole, and by its own id, are catalogs, too; everything the caller may read is not.
    const { repository_id } = await mine.knowledge.repositories.get(mine.caller, "me");
    for (const repository of ["me", repository_id]) expect((await ask(25, [{ repository }])).hits).toHaveLength(20);
    const wide = await mine.knowledge.search.run(mine.caller, { query: "otter", limit: 25 });
    expect([wide.hits.length, wide.warnings]).toEqual([25, undefined]);
    for (const limit of [0, -1, 1.5, 1_001])
      await expect(ask(limit)).rejects.toMatchObject({ code: "INVALID", detail: expect.stringContaining("limit") });
  });

  it("R-KB-45 R-KB-46 the counts of documents by status; hits have citations with file, page, section and quote, which can be verified", async () => {
    const place = await newPlace(test);
    const { knowledge, caller, repository, collection } = place;
    const view = () => knowledge.collections.get(caller, repository, collection);
    expect(await texts(place, "anything")).toEqual([]);
    expect(await view()).toMatchObject({ document_count: 0, indexing_status: "pending" });
    const pdf = await makePdf([
      (doc) => void doc.text("The first page is about harbours."),
      (doc) => void doc.text("The second page is about tides."),
    ]);
    const { document_id } = await uploaded(place, "sea.pdf", pdf);
    await uploaded(place, "notes.md", "# Boats\n\n## Sails\n\nA spinnaker is a large sail.\n");
    await uploaded(place, "bad.pdf", "%PDF-1.4 nonsense");
    expect(await view()).toMatchObject({
      indexing_status: "error",
      documents_by_status: { indexed: 2, failed: 1, pending: 0, indexing: 0, uploading: 0 },
      last_sync_at: expect.any(String),
    });
    const ask = async (query: string) =>
      (await knowledge.search.run(caller, { query, mode: "keyword", collections: [{ repository, collection }] })).hits;
    expect((await ask("tides"))[0]?.citation).toMatchObject({
      document_id,
      filename: "sea.pdf",
      page: expect.any(Number),
      quote: expect.stringContaining("tides"),
    });
    expect((await ask("spinnaker"))[0]?.citation).toMatchObject({ filename: "notes.md", section: "Boats" });
    expect(await ask("xylophone")).toEqual([]);
    const citations = [...(await ask("tides")), ...(await ask("spinnaker"))].map(({ citation }) => citation);
    expect((await knowledge.search.verifyCitations(caller, citations)).checks).toMatchObject(
      citations.map(() => ({ valid: true, result: "exact", current: true })),
    );
  });

  it("a cursor of chunks that this list did not return is refused, and a walk meets each chunk once", async () => {
    const place = await newPlace(test);
    const strategy = { type: "FIXED", chunk_size: 100, chunk_overlap: 0, unit: "char" };
    const { document_id, chunk_count } = await uploaded(place, "long.txt", "word ".repeat(300), {
      chunking_strategy: strategy,
    });
    const list = (more: object) =>
      place.knowledge.documents.passages(place.caller, place.repository, place.collection, document_id, more);
    for (const cursor of ["", " ", "-1", "x", "1.5", "1e3", "NaN"])
      await expect(list({ cursor })).rejects.toMatchObject({ code: "INVALID" });
    const met: number[] = [];
    for await (const page of pagesOf((cursor) => list({ limit: 4, cursor }))) {
      expect(page.total).toBe(chunk_count);
      met.push(...page.items.map(({ index }) => index));
    }
    expect(met).toEqual(Array.from({ length: chunk_count }, (_, i) => i));
  });
});
