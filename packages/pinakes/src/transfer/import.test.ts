/** What imports refuse, report and keep separate. */
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { openTestPinakes, recount, type TestPinakes } from "../../test/knowledge/support/test-pinakes.ts";
import type { JsonObject } from "../domain/json.ts";
import { knowledgeLimits } from "../knowledge/limits.ts";
import { personalRepositoryId } from "../knowledge/records/ids.ts";
import { transferLimits } from "./limits.ts";
import { filesReader, fixture, golden, itemsOf, lines, tables, type Files } from "./test-transfer.ts";

const titan = "amazon.titan-embed-text-v1";
const now = Date.UTC(2026, 5, 1);
const models = [{ id: titan, provider: "local" }];
const store = golden("lisa-vector-store.json");
const collection = golden("lisa-collection.json");
const [catalog, catalogDocument] = itemsOf(fixture("kb-catalog.jsonl")) as [JsonObject, JsonObject];
const report61 = `# Report\n\n${"x".repeat(50)}\n`;

describe("imports", () => {
  let test: TestPinakes;
  let opened: TestPinakes[] = [];
  beforeEach(async () => {
    test = await openTestPinakes("memory", { background: false, models, clock: { now: () => now } });
    opened.push(test);
  });
  afterAll(async () => {
    for (const one of opened) await one[Symbol.asyncDispose]();
    opened = [];
  });

  const run = (files: Files, options: object = {}) =>
    test.knowledge.transfer.import(test.admin, filesReader(files), options);
  const items = (...all: JsonObject[]) => run({ "items.jsonl": lines(...all) });

  it("R-LISA-22 the examples create matching records, and are exported deep-equal", async () => {
    const report = await items(collection, store);
    expect(report.problems).toEqual([]);
    expect(report.warnings.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/legal-team, compliance/),
      expect.stringMatching(/pipelines.*not started/),
    ]);
    const view = await test.knowledge.collections.get(test.admin, "repo-123", "550e8400-e29b-41d4-a716-446655440000");
    expect(view).toMatchObject({
      name: "Legal Documents",
      created_by: "user-456",
      created_at: "2025-10-13T10:30:00.000Z",
      updated_at: "2025-10-13T10:30:00.000Z",
    });
    const files = await tables(test.knowledge, test.admin);
    expect(itemsOf(files["LisaRagCollectionsTable.jsonl"] as string)).toEqual([collection]);
    expect(itemsOf(files["LisaRagVectorStoreTable.jsonl"] as string)).toEqual([store]);
    const deep = await items({ ...collection, collectionId: "other", name: "legal documents" });
    expect(deep.problems).toMatchObject([{ reason: expect.stringContaining("named") }]);
  });

  it("a bad line is reported by file and line, and the others are imported", async () => {
    const files = {
      "tables/a.jsonl": `${JSON.stringify(store)}\nnot json\n{"some":"thing"}\n`,
      "tables/b.jsonl": lines(
        { ...collection, status: "GONE" },
        { ...collection, collectionId: "a#b" },
        { ...collection, repositoryId: "nowhere" },
        collection,
      ),
      "tables/c.jsonl": lines(
        { pk: "repo-123#none", document_id: "d" },
        { pk: "repo-123", document_id: "ok", document_name: "ok.md" },
      ),
    };
    const report = await run(files);
    expect(report.problems.map(({ file, line }) => `${file}:${line}`)).toEqual([
      "tables/a.jsonl:2",
      "tables/a.jsonl:3",
      "tables/b.jsonl:1",
      "tables/b.jsonl:2",
      "tables/b.jsonl:3",
      "tables/c.jsonl:1",
    ]);
    expect(report.problems.map(({ reason }) => reason)).toEqual([
      expect.stringContaining("not JSON"),
      expect.stringContaining("not of a known table"),
      expect.stringContaining("status"),
      expect.stringContaining('"#"'),
      expect.stringContaining('no repository "nowhere"'),
      expect.stringContaining('no collection "none"'),
    ]);
    expect(report).toMatchObject({
      problem_count: 6,
      counts: { store: { created: 1 }, collection: { created: 1, refused: 3 }, document: { created: 1, refused: 1 } },
    });
  });

  it("a report names problems up to its limit and counts the rest", async () => {
    const report = await run({
      "items.jsonl": `${JSON.stringify(store)}\n${"x\n".repeat(transferLimits.notesMax + 1)}`,
    });
    expect(report.problems).toHaveLength(transferLimits.notesMax);
    expect(report.problem_count).toBe(transferLimits.notesMax + 1);
  });

  it("existing records with other content are reported and stay", async () => {
    await items(store, collection);
    const report = await items({ ...store, status: "UPDATE_COMPLETE" }, { ...collection, description: "Other" });
    expect(report.problems.map(({ reason }) => reason)).toEqual([
      expect.stringContaining("other content"),
      expect.stringContaining("other content"),
    ]);
    const view = await test.knowledge.collections.get(test.admin, "repo-123", collection["collectionId"] as string);
    expect(view.description).toBe(collection["description"]);
  });

  it("an imported record that was changed here is skipped, not reset", async () => {
    await items(store, collection);
    const id = collection["collectionId"] as string;
    await test.knowledge.collections.update(test.admin, "repo-123", id, { description: "Changed here" });
    expect((await items(collection)).counts.collection).toEqual({ created: 0, skipped: 1, refused: 0 });
    const [row] = itemsOf((await tables(test.knowledge, test.admin))["LisaRagCollectionsTable.jsonl"] as string);
    expect(row).toEqual({ ...collection, description: "Changed here", updatedAt: expect.any(String) });
  });

  it("the default collection's item updates the default collection", async () => {
    const standard = {
      collectionId: titan,
      repositoryId: "repo-123",
      name: "Default Collection",
      description: "All else",
      embeddingModel: titan,
      status: "ACTIVE",
      private: false,
    };
    expect((await items(store, standard)).problems).toEqual([]);
    expect(await test.knowledge.collections.get(test.admin, "repo-123", titan)).toMatchObject({
      is_default: true,
      description: "All else",
    });
    expect((await items(standard)).counts.collection).toMatchObject({ skipped: 1 });
    expect(itemsOf((await tables(test.knowledge, test.admin))["LisaRagCollectionsTable.jsonl"] as string)).toEqual([
      standard,
    ]);
    expect((await items({ ...collection, repositoryId: "repo-123" })).problems).toEqual([]);
    expect(await test.knowledge.collections.count(test.admin, { repositoryId: "repo-123" })).toBe(2);
  });

  it("a model that is not configured here is named, or mapped to another", async () => {
    const foreign = { ...store, config: { ...(store["config"] as JsonObject), embeddingModelId: "vendor/model:2" } };
    const own = { ...collection, embeddingModel: "vendor/model:2" };
    const document = {
      pk: "repo-123#vendor/model:2",
      document_id: "d",
      collectionId: "vendor/model:2",
      document_name: "d.md",
    };
    expect((await items(foreign)).problems).toMatchObject([{ reason: expect.stringContaining(titan) }]);
    const report = await run({ "items.jsonl": lines(document, own, foreign) }, { models: { "vendor/model:2": titan } });
    expect(report.problems).toEqual([]);
    expect(await test.knowledge.repositories.get(test.admin, "repo-123")).toMatchObject({ embedding_model: titan });
    const files = await tables(test.knowledge, test.admin);
    expect(itemsOf(files["LisaRagVectorStoreTable.jsonl"] as string)).toEqual([foreign]);
    expect(itemsOf(files["LisaRagDocumentTable.jsonl"] as string)).toEqual([document]);
    const { items: all } = await test.knowledge.collections.list(test.admin, { repositoryId: "repo-123" });
    expect(all.find(({ is_default }) => is_default)).toMatchObject({ document_count: 1 });
  });

  it("deleted collections: an expired one is skipped, and documents of one are refused", async () => {
    const deleted = { ...collection, status: "DELETED", deletedAt: now / 1_000 + 60 };
    const over = { ...collection, collectionId: "over", name: "Over", status: "DELETED", deletedAt: now / 1_000 };
    const report = await items(store, deleted, over, {
      pk: `repo-123#${String(collection["collectionId"])}`,
      document_id: "d",
      document_name: "d.md",
    });
    expect(report.counts.collection).toEqual({ created: 1, skipped: 1, refused: 0 });
    expect(report.problems).toMatchObject([{ line: 4, reason: expect.stringContaining("deleted") }]);
    expect(itemsOf((await tables(test.knowledge, test.admin))["LisaRagCollectionsTable.jsonl"] as string)).toEqual([
      deleted,
    ]);
    const view = await test.knowledge.collections.get(test.admin, "repo-123", collection["collectionId"] as string, {
      deleted: true,
    });
    expect(view).toMatchObject({ status: "DELETED", purge_at: new Date(now + 60_000).toISOString() });
    expect(await test.knowledge.collections.count(test.admin, { repositoryId: "repo-123" })).toBe(1);
  });

  it("R-KB-02 a catalog and its documents become its owner's, with their ids", async () => {
    const path = `acme-kb-docs-1-eu/${String(catalogDocument["s3_key"])}`;
    const report = await run({ "tables/acme-kb-catalog.jsonl": lines(catalogDocument, catalog), [path]: report61 });
    expect(report).toMatchObject({ problems: [], warnings: [], documents_without_bytes: 0 });
    const owner = test.as("cognito-sub-xxx");
    expect(await test.knowledge.collections.get(owner, "me", "cat-abc123")).toMatchObject({
      name: "Research Papers",
      private: true,
      created_at: "2026-02-03T00:00:00.000Z",
      document_count: 1,
    });
    expect(await test.knowledge.documents.get(owner, "me", "cat-abc123", "doc-def456")).toMatchObject({
      status: "pending",
      size_bytes: 61,
      uploaded_at: "2026-02-04T00:00:00.000Z",
      uploaded_by: "cognito-sub-xxx",
    });
    const place = { knowledge: test.knowledge, caller: owner, repository: "me", collection: "cat-abc123" };
    const { told, counted } = await recount(place);
    expect(told).toEqual(counted);
    await expect(
      test.knowledge.collections.get(test.as("eve"), personalRepositoryId("cognito-sub-xxx"), "cat-abc123"),
    ).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("a sidecar that names another owner, and a wrong size, are reported", async () => {
    const path = `b/${String(catalogDocument["s3_key"])}`;
    const files = { "tables/t.jsonl": lines(catalog, catalogDocument), [path]: "short" };
    const stolen = { ...files, [`${path}.metadata.json`]: '{"metadataAttributes":{"user_id":"eve"}}' };
    expect((await run(stolen)).problems).toMatchObject([{ line: 2, reason: expect.stringContaining('user_id "eve"') }]);
    const report = await run(files);
    expect(report.problems).toEqual([]);
    expect(report.warnings).toMatchObject([{ reason: expect.stringContaining("61") }]);
  });

  it("two documents of one name are both imported; unreferenced objects are named", async () => {
    const twin = {
      ...catalogDocument,
      sk: "DOC#twin",
      document_id: "twin",
      s3_key: "cognito-sub-xxx/cat-abc123/twin-report.md",
    };
    const report = await run({
      "tables/t.jsonl": lines(catalog, catalogDocument, twin),
      [`b/${String(catalogDocument["s3_key"])}`]: report61,
      [`b/${twin.s3_key}`]: report61,
      "b/cognito-sub-xxx/cat-abc123/other-x.md": "who am I",
    });
    expect(report.problems).toEqual([]);
    expect(report.warnings).toMatchObject([{ file: "b/cognito-sub-xxx/cat-abc123/other-x.md", line: 0 }]);
    const { items: found } = await test.knowledge.documents.list(test.as("cognito-sub-xxx"), "me", "cat-abc123");
    expect(found.map(({ document_id, name }) => [document_id, name]).toSorted()).toEqual([
      ["doc-def456", "report.md"],
      ["twin", "report.md"],
    ]);
    const rows = itemsOf((await tables(test.knowledge, test.admin))["pinakes-kb-catalog.jsonl"] as string);
    expect(rows.at(-1)).toMatchObject({ sk: "DOC#twin", s3_key: twin.s3_key });
    expect(rows.at(-1)).not.toHaveProperty("pinakes");
  });

  it("a source at the maximum length is kept, a longer one is replaced by the document's id", async () => {
    const of = (chars: number) => `s3://b/${"x".repeat(chars - 7)}`;
    const documents = [knowledgeLimits.sourceCharsMax, knowledgeLimits.sourceCharsMax + 1].map((chars, i) => ({
      pk: "repo-123",
      document_id: `d${i}`,
      document_name: `d${i}.md`,
      source: of(chars),
    }));
    expect((await items(store, ...documents)).problems).toEqual([]);
    const views = await Promise.all(
      ["d0", "d1"].map((id) => test.knowledge.documents.get(test.admin, "repo-123", titan, id)),
    );
    expect(views.map(({ source }) => source.uri)).toEqual([of(knowledgeLimits.sourceCharsMax), "import:d1"]);
    expect(itemsOf((await tables(test.knowledge, test.admin))["LisaRagDocumentTable.jsonl"] as string)).toEqual(
      documents,
    );
  });

  it("refused bytes leave no document and no counters", async () => {
    const path = `b/${String(catalogDocument["s3_key"])}`;
    const report = await run({ "tables/t.jsonl": lines(catalog, catalogDocument), [path]: "" });
    expect(report.problems).toMatchObject([{ line: 2, reason: expect.stringContaining("empty") }]);
    expect(await test.knowledge.collections.get(test.as("cognito-sub-xxx"), "me", "cat-abc123")).toMatchObject({
      document_count: 0,
      total_size_bytes: 0,
    });
    expect(
      (await run({ "tables/t.jsonl": lines(catalogDocument), [path]: report61 })).counts.catalog_document,
    ).toMatchObject({ created: 1 });
  });

  it("a catalog without documents keeps the time of its last sync", async () => {
    await items(catalog);
    const [row] = itemsOf((await tables(test.knowledge, test.admin))["pinakes-kb-catalog.jsonl"] as string);
    expect(row).toEqual({ ...catalog, document_count: 0, total_size_bytes: 0 });
  });

  it("limits hold: collections of a repository, documents of a catalog", async () => {
    await using small = await openTestPinakes("memory", {
      background: false,
      models,
      quotas: { collectionsPerRepositoryMax: 2, documentsPerCatalogMax: 1 },
    });
    const second = { ...collection, collectionId: "second", name: "Second" };
    const more = {
      ...catalogDocument,
      sk: "DOC#more",
      document_id: "more",
      filename: "more.md",
      s3_key: "cognito-sub-xxx/cat-abc123/more-more.md",
    };
    const report = await small.knowledge.transfer.import(
      small.admin,
      filesReader({ "items.jsonl": lines(store, collection, second, catalog, catalogDocument, more) }),
    );
    expect(report.problems).toMatchObject([
      { line: 3, reason: expect.stringContaining("maximum number of collections") },
      { line: 6, reason: expect.stringContaining("holds 1 documents") },
    ]);
  });

  it("another workspace neither sees nor gets anything of it", async () => {
    await items(store, collection, catalog);
    const other = test.as("root", { tenant: "other", role: "admin" });
    for (const table of Object.values(await tables(test.knowledge, other))) expect(table).toBe("");
    const report = await test.knowledge.transfer.import(other, filesReader({ "items.jsonl": lines(collection) }));
    expect(report.problems).toMatchObject([{ reason: expect.stringContaining("no repository") }]);
    expect(
      (
        await test.knowledge.transfer.import(
          other,
          filesReader({ "items.jsonl": lines(store, { ...collection, description: "Theirs" }) }),
        )
      ).problems,
    ).toEqual([]);
    expect(itemsOf((await tables(test.knowledge, test.admin))["LisaRagCollectionsTable.jsonl"] as string)).toEqual([
      collection,
    ]);
  });

  it("is for admins only, and needs a table", async () => {
    for (const role of ["user", "repository_admin"] as const) {
      const who = test.as("ann", { role });
      await expect(
        test.knowledge.transfer.import(who, filesReader({ "items.jsonl": lines(store) })),
      ).rejects.toMatchObject({
        code: "FORBIDDEN",
      });
      await expect(tables(test.knowledge, who)).rejects.toMatchObject({ code: "FORBIDDEN" });
    }
    await expect(run({ "bucket/x/items.jsonl": lines(store) })).rejects.toMatchObject({ code: "INVALID" });
  });

  it("users' personal repositories cannot be made by items of shared ones", async () => {
    await items(catalog);
    const id = personalRepositoryId("cognito-sub-xxx");
    const report = await items(
      { ...store, repositoryId: id, config: {} },
      { ...collection, repositoryId: id },
      { pk: `${id}#cat-abc123`, document_id: "d", document_name: "d.md" },
    );
    expect(report.problem_count).toBe(3);
    expect(report.problems.every(({ reason }) => reason.includes("personal repositor"))).toBe(true);
  });
});
