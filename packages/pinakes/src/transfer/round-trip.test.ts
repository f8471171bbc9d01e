/** From one Pinakes into another, with real ingestion: the tables are byte-identical, and the documents are found. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { body, openTestPinakes, type TestPinakes } from "../../test/knowledge/support/test-pinakes.ts";
import { until } from "../../test/support/until.ts";
import { folderReader, writeFolder } from "./folder.ts";
import { exported, filesReader, fixture, golden, itemsOf, lines, tables } from "./test-transfer.ts";

const titan = "amazon.titan-embed-text-v1";
/** A fixed time, so that times of ingestion are equal in both. */
const clock = { now: () => Date.UTC(2030, 0, 1) };
const options = { clock, models: [{ id: titan, provider: "local" }] };

async function fill({ knowledge, admin, as }: TestPinakes): Promise<void> {
  await knowledge.repositories.create(admin, {
    repository_id: "wiki",
    name: "The Wiki",
    allowed_groups: ["staff"],
    chunking_strategy: { type: "FIXED", chunk_size: 400 },
    graph: { extract: "cooccurrence" },
  });
  await knowledge.repositories.create(admin, { repository_id: "plain" });
  await knowledge.collections.update(admin, "plain", titan, { description: "What has no other place" });
  const staff = as("ann", { groups: ["staff"] });
  const { collection_id: shared } = await knowledge.collections.create(staff, "wiki", {
    name: "Guides",
    metadata: { tags: ["a b"], custom_fields: { n: 1 } },
    graph: { extract: "structured", key: "name" },
  });
  const { collection_id: old } = await knowledge.collections.create(staff, "wiki", {
    name: "Old guides",
    allowed_groups: ["staff"],
  });
  const { collection_id: gone } = await knowledge.collections.create(staff, "wiki", { name: "Gone" });
  const { collection_id: own } = await knowledge.collections.create(as("ann|1"), "me", {
    name: "My papers",
    graph: { extract: "off" },
  });
  const upload = (
    who: ReturnType<typeof as>,
    repository: string,
    collection: string,
    name: string,
    content: string,
    more: object = {},
  ) => knowledge.documents.upload(who, repository, collection, { name, body: body(content), ...more });
  await upload(staff, "wiki", shared, "zebra.md", "# Zebras\n\nA zebra has stripes.", {
    metadata: { topic: "animals" },
  });
  await upload(staff, "wiki", shared, "items.jsonl", '{"question":"what is a jsonl document"}\n', {
    chunking_strategy: { type: "NONE" },
  });
  await upload(staff, "wiki", old, "lion.txt", "A lion roars at night.");
  await upload(admin, "plain", titan, "whale.txt", "A whale sings under water.");
  await upload(as("ann|1"), "me", own, "secret.md", "The treasure lies below the oak.", { metadata: { level: 3 } });
  await settled({ knowledge, admin });
  await knowledge.collections.archive(staff, "wiki", old);
  await knowledge.collections.delete(staff, "wiki", gone);
}

async function settled({ knowledge, admin }: Pick<TestPinakes, "knowledge" | "admin">): Promise<void> {
  await until(async () => {
    const { items } = await knowledge.collections.list(admin, { status: "all", limit: 100 });
    return items.every(({ documents_by_status: by }) => by.uploading + by.pending + by.indexing === 0);
  });
}

describe("an export, imported elsewhere", () => {
  let from: TestPinakes;
  let to: TestPinakes;
  const dir = temporaryFolder("round-trip");
  beforeAll(async () => {
    from = await openTestPinakes("memory", options);
    to = await openTestPinakes("sqlite", options);
    await fill(from);
  });
  afterAll(async () => {
    await from[Symbol.asyncDispose]();
    await to[Symbol.asyncDispose]();
  });

  it("R-KB-02 one partition is a catalog and all its documents, by the keys of the reference layout", async () => {
    const files = await exported(from.knowledge, from.admin, {
      names: { project: "acme", account: "123456789012", region: "us-east-1" },
    });
    const owner = from.as("ann|1");
    const { items } = await from.knowledge.collections.list(owner, { repositoryId: "me" });
    expect(items).toHaveLength(1);
    const [{ collection_id, document_count }] = items as [(typeof items)[number]];
    const documents = (await from.knowledge.documents.list(owner, "me", collection_id)).items;
    const partition = itemsOf(String(files["tables/acme-kb-catalog.jsonl"])).filter(
      ({ catalog_id }) => catalog_id === collection_id,
    );
    expect(partition.map(({ sk }) => sk).toSorted()).toEqual([
      ...documents.map(({ document_id }) => `DOC#${document_id}`),
      "METADATA",
    ]);
    expect(partition.find(({ sk }) => sk === "METADATA")).toMatchObject({
      user_id: "ann|1",
      document_count,
      catalog_name: "My papers",
    });
    expect(partition.find(({ sk }) => sk !== "METADATA")).toMatchObject({
      user_id: "ann|1",
      document_id: documents[0]?.document_id,
      filename: "secret.md",
    });
  });

  it("R-KB-17 R-KB-22 R-KB-36 R-LISA-28 has tables, objects and sidecars where the reference documents have them", async () => {
    const files = await exported(from.knowledge, from.admin, {
      names: { project: "acme", account: "123456789012", region: "us-east-1" },
    });
    const [row] = itemsOf(String(files["tables/acme-kb-catalog.jsonl"])).filter(({ sk }) => sk !== "METADATA");
    const path = `acme-kb-docs-123456789012-us-east-1/${String(row?.["s3_key"])}`;
    expect(String(files[path])).toBe("The treasure lies below the oak.");
    expect(JSON.parse(String(files[`${path}.metadata.json`]))).toEqual({
      metadataAttributes: Object.fromEntries(
        (["user_id", "catalog_id", "document_id", "filename"] as const).map((name) => [
          name,
          { value: { type: "STRING", stringValue: row?.[name] } },
        ]),
      ),
    });
    const documents = itemsOf(String(files["tables/LisaRagDocumentTable.jsonl"]));
    expect(documents).toHaveLength(4);
    for (const { source, pk, repository_id, collectionId } of documents) {
      expect(pk).toBe(`${String(repository_id)}#${String(collectionId)}`);
      expect(files[String(source).replace("s3://", "")]?.length).toBeGreaterThan(10);
    }
    expect(Object.keys(files)).toHaveLength(4 + 2 + 4 + 2);
    expect(
      itemsOf(String(files["tables/LisaRagCollectionsTable.jsonl"])).map(({ name, status }) => [name, status]),
    ).toEqual(
      expect.arrayContaining([
        ["Guides", "ACTIVE"],
        ["Old guides", "ARCHIVED"],
        ["Gone", "DELETED"],
        ["Default Collection", "ACTIVE"],
      ]),
    );
  });

  it("R-LISA-22 gives byte-identical tables again, and documents that are found", async () => {
    await writeFolder(from.knowledge.transfer.export(from.admin, { gzip: true }), dir);
    const dry = await to.knowledge.transfer.import(to.admin, folderReader(dir), { dry_run: true });
    expect((await to.knowledge.repositories.list(to.admin)).items).toEqual([]);
    const report = await to.knowledge.transfer.import(to.admin, folderReader(dir));
    expect(report).toMatchObject({ problems: [], warnings: [], documents_without_bytes: 0 });
    expect(report.counts).toEqual({
      store: { created: 2, skipped: 0, refused: 0 },
      collection: { created: 4, skipped: 0, refused: 0 },
      catalog: { created: 1, skipped: 0, refused: 0 },
      document: { created: 4, skipped: 0, refused: 0 },
      catalog_document: { created: 1, skipped: 0, refused: 0 },
    });
    expect(dry).toEqual({ ...report, dry_run: true });
    await settled(to);
    const before = await tables(from.knowledge, from.admin);
    expect(await tables(to.knowledge, to.admin)).toEqual(before);
    expect(itemsOf(before["pinakes-kb-catalog.jsonl"] as string)).toHaveLength(2);
    expect(await exported(to.knowledge, to.admin)).toEqual(await exported(from.knowledge, from.admin));

    const { hits } = await to.knowledge.search.run(to.as("ann", { groups: ["staff"] }), {
      query: "which animal has stripes",
      limit: 1,
    });
    expect(hits[0]).toMatchObject({ text: expect.stringContaining("stripes") });
    const own = await to.knowledge.search.run(to.as("ann|1"), { query: "where is the treasure", limit: 1 });
    expect(own.hits[0]).toMatchObject({ text: "The treasure lies below the oak." });
    const eve = await to.knowledge.search.run(to.as("eve"), { query: "where is the treasure", limit: 50 });
    expect(eve.hits.map(({ text }) => text)).not.toContain("The treasure lies below the oak.");
  });

  it("R-LISA-22 repositories, collections and catalogs keep their graph settings", async () => {
    for (const { knowledge, admin, as } of [from, to]) {
      expect(await knowledge.repositories.get(admin, "wiki")).toMatchObject({ graph: { extract: "cooccurrence" } });
      const { items } = await knowledge.collections.list(admin, { repositoryId: "wiki" });
      expect(items.find(({ name }) => name === "Guides")).toMatchObject({
        graph: { extract: "structured", key: "name" },
      });
      expect((await knowledge.collections.list(as("ann|1"), { repositoryId: "me" })).items).toMatchObject([
        { graph: { extract: "off" } },
      ]);
    }
  });

  it("documents of an archived collection are indexed nevertheless, and it accepts no others", async () => {
    const { items } = await to.knowledge.collections.list(to.admin, { repositoryId: "wiki", status: "ARCHIVED" });
    const id = items[0]?.collection_id as string;
    expect((await to.knowledge.documents.list(to.admin, "wiki", id)).items).toMatchObject([
      { name: "lion.txt", status: "indexed", uploaded_by: "ann" },
    ]);
    await expect(
      to.knowledge.documents.upload(to.admin, "wiki", id, { name: "x.txt", body: body("x") }),
    ).rejects.toMatchObject({
      code: "CONFLICT",
    });
  });

  it("a second import changes nothing", async () => {
    const before = await tables(to.knowledge, to.admin);
    const again = await to.knowledge.transfer.import(to.admin, folderReader(dir));
    expect(again.problems).toEqual([]);
    for (const counts of Object.values(again.counts)) expect(counts).toMatchObject({ created: 0, refused: 0 });
    expect(again.counts.document.skipped).toBe(4);
    expect(await tables(to.knowledge, to.admin)).toEqual(before);
    const home = await from.knowledge.transfer.import(from.admin, folderReader(dir));
    expect(home.problems).toEqual([]);
    expect(home.counts.collection).toEqual({ created: 0, skipped: 4, refused: 0 });
  });

  it("R-LISA-51 a deleted collection stays deleted, keeps its purge time, and can be restored", async () => {
    const { items } = await to.knowledge.collections.list(to.admin, { repositoryId: "wiki", status: "DELETED" });
    const [origin] = (await from.knowledge.collections.list(from.admin, { repositoryId: "wiki", status: "DELETED" }))
      .items;
    expect(items).toMatchObject([{ name: "Gone", purge_at: origin?.purge_at, collection_id: origin?.collection_id }]);
    const id = items[0]?.collection_id as string;
    expect(await to.knowledge.collections.restore(to.admin, "wiki", id)).toMatchObject({
      status: "ACTIVE",
      purge_at: null,
    });
  });

  it("DynamoDB's own form of all examples is read, and written unchanged", async () => {
    await using fresh = await openTestPinakes("memory", { ...options, background: false });
    const path = "AWSDynamoDB/01693685827463-2d8752fd/data/asdl123dhasd.json";
    const report = await fresh.knowledge.transfer.import(
      fresh.admin,
      filesReader({ [path]: fixture("dynamodb-export.jsonl") }),
    );
    expect(report.problems).toEqual([]);
    const files = await tables(fresh.knowledge, fresh.admin, { format: "dynamodb" });
    const [store, collection, legacy, catalog] = fixture("dynamodb-export.jsonl").split("\n");
    expect(files["LisaRagVectorStoreTable.jsonl"]).toBe(`${store}\n`);
    expect(files["LisaRagCollectionsTable.jsonl"]).toBe(`${collection}\n`);
    expect(files["LisaRagDocumentTable.jsonl"]).toBe(`${legacy}\n`);
    const plain = await tables(fresh.knowledge, fresh.admin);
    expect(plain["LisaRagCollectionsTable.jsonl"]).toBe(lines(golden("lisa-collection.json")));
    expect(plain["LisaRagVectorStoreTable.jsonl"]).toBe(lines(golden("lisa-vector-store.json")));
    expect(catalog).toContain('"catalog_id":{"S":"cat-abc123"}');
    expect(itemsOf(files["pinakes-kb-catalog.jsonl"] as string)[0]?.["Item"]).toMatchObject({
      sk: { S: "METADATA" },
      indexing_status: { S: "error" },
    });
  });

  it("only selected repositories are exported, and a missing one is an error", async () => {
    const files = await tables(from.knowledge, from.admin, { repositories: ["plain"] });
    expect(itemsOf(files["LisaRagVectorStoreTable.jsonl"] as string).map(({ repositoryId }) => repositoryId)).toEqual([
      "plain",
    ]);
    expect(files["pinakes-kb-catalog.jsonl"]).toBe("");
    await expect(tables(from.knowledge, from.admin, { repositories: ["nowhere"] })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });
});
