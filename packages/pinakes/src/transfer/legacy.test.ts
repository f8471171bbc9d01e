/** Documents from before there were collections (R-LISA-33…35). */
import { beforeAll, describe, expect, it } from "vitest";
import { openTestPinakes, settled, texts, uploaded, walk } from "../../test/knowledge/support/test-pinakes.ts";
import { filesReader, golden, itemsOf, lines, tables } from "./test-transfer.ts";
import { forAllTests } from "../../test/support/for-tests.ts";

const titan = "amazon.titan-embed-text-v1";

describe("legacy documents", () => {
  const bare = golden("lisa-legacy-document.json");
  const legacy = {
    document_id: "doc-790",
    pk: "repo-123",
    repository_id: "repo-123",
    document_name: "penguin.md",
    source: "s3://old-bucket/in/penguin.md",
    username: "user-456",
    upload_date: 1_760_351_400,
    chunk_strategy: { type: "fixed", size: 1000, overlap: 200 },
    subdocs: ["a", "b"],
  };
  const current = {
    pk: `repo-123#${titan}`,
    document_id: "doc-791",
    repository_id: "repo-123",
    collection_id: titan,
    document_name: "parrot.md",
    source: "s3://old-bucket/in/parrot.md",
  };
  const files = {
    "tables/LisaRagDocumentTable.jsonl": lines(bare, legacy, current),
    "tables/LisaRagVectorStoreTable.jsonl": lines(golden("lisa-vector-store.json")),
    "old-bucket/in/penguin.md": "A penguin cannot fly.",
    "old-bucket/in/parrot.md": "A parrot repeats what you say.",
  };
  const test = forAllTests(() => openTestPinakes("sqlite", { models: [{ id: titan, provider: "local" }] }));
  const place = forAllTests(() => ({
    knowledge: test.knowledge,
    caller: test.admin,
    repository: "repo-123",
    collection: titan,
  }));
  beforeAll(async () => {
    const report = await test.knowledge.transfer.import(test.admin, filesReader(files));
    expect(report).toMatchObject({ problems: [], warnings: [], documents_without_bytes: 1 });
    await settled(place, "doc-790");
    await settled(place, "doc-791");
  });

  const list = () =>
    walk((cursor) => test.knowledge.documents.list(test.admin, "repo-123", titan, { limit: 1, cursor }));
  const exportedItems = async () =>
    itemsOf((await tables(test.knowledge, test.admin))["LisaRagDocumentTable.jsonl"] as string);

  it("R-LISA-33 R-LISA-35 are in the default collection, beside new ones, each listed and counted once", async () => {
    await uploaded(place, "owl.md", "An owl hunts at night.");
    expect((await list()).map(({ name }) => name).toSorted()).toEqual(["doc-789", "owl.md", "parrot.md", "penguin.md"]);
    expect(await test.knowledge.collections.get(test.admin, "repo-123", titan)).toMatchObject({
      is_default: true,
      document_count: 4,
      documents_by_status: { failed: 1, indexed: 3 },
    });
  });

  it("R-LISA-33 are found by searches", async () => {
    expect((await texts(place, "which bird cannot fly"))[0]).toBe("A penguin cannot fly.");
    expect((await texts(place, "which bird talks"))[0]).toBe("A parrot repeats what you say.");
  });

  it("R-LISA-34 are exported exactly as imported, whatever was done with them", async () => {
    await test.knowledge.documents.get(test.admin, "repo-123", titan, "doc-790");
    await test.knowledge.documents.reindex(test.admin, "repo-123", titan, "doc-790");
    await settled(place, "doc-790");
    const items = await exportedItems();
    for (const item of [bare, legacy, current])
      expect(items.map((found) => JSON.stringify(found))).toContain(JSON.stringify(item));
  });

  it("a document without bytes says so, and is completed by an import that has them", async () => {
    const before = await test.knowledge.documents.get(test.admin, "repo-123", titan, "doc-789");
    expect(before).toMatchObject({ status: "failed", error: expect.stringContaining("bytes"), size_bytes: 0 });
    const again = await test.knowledge.transfer.import(
      test.admin,
      filesReader({
        "items.jsonl": lines(bare),
        "any/repo-123/amazon.titan-embed-text-v1/doc-789-doc-789": "An ostrich runs fast.",
      }),
    );
    // Its name has no type, so its bytes are refused.
    expect(again.problems).toMatchObject([{ file: "items.jsonl", line: 1, reason: expect.stringContaining("type") }]);
    const late = { pk: "repo-123", document_id: "doc-792", repository_id: "repo-123", document_name: "emu.txt" };
    expect(await test.knowledge.transfer.import(test.admin, filesReader({ "items.jsonl": lines(late) }))).toMatchObject(
      {
        documents_without_bytes: 1,
        problems: [],
      },
    );
    const withBytes = filesReader({
      "items.jsonl": lines(late),
      [`b/repo-123/${titan}/doc-792-emu.txt`]: "An emu lives in Australia.",
    });
    expect((await test.knowledge.transfer.import(test.admin, withBytes)).counts.document).toEqual({
      created: 1,
      skipped: 0,
      refused: 0,
    });
    expect(await settled(place, "doc-792")).toMatchObject({ status: "indexed", size_bytes: 26 });
    expect((await test.knowledge.transfer.import(test.admin, withBytes)).counts.document).toEqual({
      created: 0,
      skipped: 1,
      refused: 0,
    });
    expect((await texts(place, "what lives in Australia"))[0]).toBe("An emu lives in Australia.");
  });

  it("R-LISA-35 the same document under its new key is reported, not duplicated", async () => {
    const count = (await list()).length;
    const migrated = { ...legacy, pk: `repo-123#${titan}`, collectionId: titan };
    const report = await test.knowledge.transfer.import(test.admin, filesReader({ "items.jsonl": lines(migrated) }));
    expect(report).toMatchObject({
      counts: { document: { created: 0, refused: 1 } },
      problems: [{ line: 1, reason: expect.stringContaining("doc-790") }],
    });
    expect(await list()).toHaveLength(count);
  });

  it("R-LISA-33 are deleted like any other: not listed, counted, found or exported", async () => {
    const { document_count } = await test.knowledge.collections.get(test.admin, "repo-123", titan);
    await test.knowledge.documents.delete(test.admin, "repo-123", titan, "doc-790");
    expect((await list()).map(({ document_id }) => document_id)).not.toContain("doc-790");
    expect(await test.knowledge.collections.get(test.admin, "repo-123", titan)).toMatchObject({
      document_count: document_count - 1,
    });
    expect(await texts(place, "which bird cannot fly")).not.toContain("A penguin cannot fly.");
    expect((await exportedItems()).map(({ document_id }) => document_id)).not.toContain("doc-790");
  });
});
