/** Documents of a catalog through the tools: what is taken, replaced, listed, downloaded and deleted. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/domain/json.ts";
import { knowledgeEngines } from "../knowledge/support/knowledge-engines.ts";
import type { TestPinakes } from "../knowledge/support/test-pinakes.ts";
import { base64, catalogWorld, type CatalogUser, type CatalogWorld } from "./support/catalog-world.ts";

const engines = knowledgeEngines().filter(([name]) => name !== "DynamoDB");
const cases = engines.flatMap(([name, openOn]) =>
  (["embedded", "http"] as const).map((via) => ({ name, openOn, via })),
);

async function documentsOf(user: CatalogUser, catalog_id: string): Promise<readonly JsonObject[]> {
  return (await user.ok("list_catalog_documents", { catalog_id }))["documents"] as readonly JsonObject[];
}

describe.each(cases)("documents of catalogs on $name, $via", ({ openOn, via }) => {
  let test: TestPinakes;
  let world: CatalogWorld;
  beforeAll(async () => {
    test = await openOn();
    world = await catalogWorld(test.pinakes, via);
  });
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
    await test?.[Symbol.asyncDispose]();
  });

  it("R-KB-17 K1 the id that an upload returns is that of the record, the list, the citation, the download and the delete", async () => {
    const ann = await world.user("ann-1");
    const id = await ann.catalog("Papers");
    const made = await ann.upload(id, "Trains.md", "# Travel\n\nAda prefers trains to planes.\n");
    const document_id = made["document_id"] as string;
    expect(made).toMatchObject({ filename: "Trains.md", file_type: "md", file_size_kb: 0.04 });
    expect(["pending", "indexing", "indexed"]).toContain(made["indexing_status"]);
    expect(made["uploaded_at"]).toBeTypeOf("number");
    expect(made["job_id"]).toBeTypeOf("string");
    await ann.settled(id);
    const [listed] = await documentsOf(ann, id);
    expect(listed).toMatchObject({ document_id, indexing_status: "indexed", indexed_at: expect.any(Number) });
    const { sources } = await ann.ok("query_catalog", { catalog_id: id, query: "how does Ada like to travel?" });
    expect(sources).toMatchObject([{ index: 1, document_id, filename: "Trains.md", section: expect.any(String) }]);
    const link = await ann.ok("download_from_catalog", { catalog_id: id, document_id });
    expect(link).toMatchObject({ expires_in_seconds: 900, filename: "Trains.md" });
    if (via === "http")
      expect(await (await fetch(link["download_url"] as string)).text()).toContain("Ada prefers trains");
    const gone = await ann.ok("delete_catalog_document", { catalog_id: id, document_id });
    expect(gone).toMatchObject({ filename: "Trains.md", vectors_removed: 1 });
    expect(await ann.refused("delete_catalog_document", { catalog_id: id, document_id })).toBe("DOCUMENT_NOT_FOUND");
    expect(await documentsOf(ann, id)).toEqual([]);
    if (via === "http") expect((await fetch(link["download_url"] as string)).status).toBe(404);
  });

  it("R-KB-19 R-KB-20 R-KB-21 file names, types and contents at and past their limits; nothing is stored of what is refused", async () => {
    const ann = await world.user("ann-2");
    const catalog_id = await ann.catalog("Limits");
    const tried = (filename: unknown, file_content: unknown = "eA==") =>
      ann.refused("upload_to_catalog", { catalog_id, filename, file_content });
    const names = [
      "a/b.txt",
      "..\\b.txt",
      "/etc/passwd.txt",
      "",
      " ",
      "a\0.txt",
      "a\nb.txt",
      `${"x".repeat(252)}.txt`,
      5,
    ];
    for (const filename of names) expect(await tried(filename), String(filename)).toBe("INVALID_FILENAME");
    for (const filename of ["a.exe", "a", "a.pdf.html", "txt", ".txt", "a.json"])
      expect(await tried(filename), filename).toBe("INVALID_FILE_TYPE");
    for (const content of ["", "eA", "eA=", "e A =", "$$$$", "eA==eA==", "data:text/plain;base64,eA==", "eA-_", 5])
      expect(await tried("a.txt", content), String(content)).toBe("INVALID_FILE_CONTENT");
    expect(await tried("a.txt", "A".repeat(69_905_072))).toBe("FILE_TOO_LARGE");
    expect(await documentsOf(ann, catalog_id)).toEqual([]);
    for (const filename of [`${"x".repeat(251)}.txt`, "b.TXT", "c.Md", "d.csv", "ünïcode.md"])
      await ann.upload(catalog_id, filename, "some text");
    await ann.ok("upload_to_catalog", { catalog_id, filename: "lines.txt", file_content: "c29t\r\nZSB0\nZXh0" });
    expect(await documentsOf(ann, catalog_id)).toHaveLength(6);
  });

  it("R-KB-44 K5 a file of the same name is refused, or replaced with the counts right; of parallel uploads one wins", async () => {
    const ann = await world.user("ann-3");
    const catalog_id = await ann.catalog("Replacing", { "notes.txt": "The old words are about apples." });
    const again = { catalog_id, filename: "NOTES.txt", file_content: base64("x") };
    expect(await ann.refused("upload_to_catalog", again)).toBe("DUPLICATE_FILE");
    const [before] = await documentsOf(ann, catalog_id);
    const text = "The new words are about pears.";
    const replaced = await ann.upload(catalog_id, "notes.txt", text, { replace: true });
    expect(replaced["document_id"]).toBe(before?.["document_id"]);
    const status = await ann.settled(catalog_id);
    expect(status).toMatchObject({ overall_status: "ready", document_count: 1, counts: { indexed: 1, failed: 0 } });
    const [catalog] = (await ann.ok("list_catalogs"))["catalogs"] as readonly JsonObject[];
    expect(catalog).toMatchObject({ document_count: 1, last_sync_at: expect.any(Number) });
    const { sources } = await ann.ok("query_catalog", { catalog_id, query: "apples or pears?" });
    expect((sources as readonly JsonObject[]).map((source) => source["text"])).toEqual([text]);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        ann.call("upload_to_catalog", {
          catalog_id,
          filename: i % 2 === 0 ? "race.txt" : "Race.TXT",
          file_content: base64(`words ${i}`),
        }),
      ),
    );
    expect(answers.filter((answer) => answer.status === "success")).toHaveLength(1);
    expect(new Set(answers.flatMap(({ metadata }) => metadata.error_code ?? []))).toEqual(new Set(["DUPLICATE_FILE"]));
  });

  it("R-KB-46 K4 a file that cannot be read fails with its reason, the others are indexed; K7 none waits for ever", async () => {
    const ann = await world.user("ann-4");
    const catalog_id = await ann.catalog("Mixed");
    await Promise.all([
      ann.upload(catalog_id, "good.txt", "A good text about harbours."),
      ann.upload(catalog_id, "bad.pdf", "This is no PDF."),
      ann.upload(catalog_id, "better.md", "A better text about lighthouses."),
    ]);
    const status = await ann.settled(catalog_id);
    expect(status).toMatchObject({
      overall_status: "error",
      counts: { uploading: 0, pending: 0, indexing: 0, indexed: 2, failed: 1 },
      job_id: expect.any(String),
      statistics: { documents_scanned: 3, documents_indexed: 2, documents_failed: 1, chunks_indexed: 2 },
      failures: [{ filename: "bad.pdf", error_message: expect.any(String) }],
    });
    const { sources } = await ann.ok("query_catalog", { catalog_id, query: "lighthouses" });
    expect((sources as readonly JsonObject[])[0]).toMatchObject({ filename: "better.md" });
    const bad = (await documentsOf(ann, catalog_id)).find((document) => document["indexing_status"] === "failed");
    expect(bad?.["error_message"]).toBeTypeOf("string");
    await ann.ok("delete_catalog_document", { catalog_id, document_id: bad?.["document_id"] });
    expect(await ann.ok("get_indexing_status", { catalog_id })).toMatchObject({ overall_status: "ready" });
  });

  it("without content the answer says where the bytes can be sent, once", async () => {
    const ann = await world.user("ann-5");
    const catalog_id = await ann.catalog("Links");
    const { status, metadata } = await ann.call("upload_to_catalog", { catalog_id, filename: "large.txt" });
    expect(status).toBe("error");
    expect(metadata).toMatchObject({ error_code: "NO_FILES_UPLOADED", expires_in_seconds: 900 });
    const { upload_url } = metadata;
    expect(upload_url).toContain("/v1/uploads/");
    if (via === "embedded") return;
    const init = { method: "PUT", body: "A large text.", headers: { "content-type": "text/plain" } };
    expect((await fetch(upload_url as string, init)).status).toBe(202);
    expect((await fetch(upload_url as string, init)).status).toBe(404);
    expect(await documentsOf(ann, catalog_id)).toMatchObject([{ filename: "large.txt" }]);
  });
});

describe("limits of a catalog, without workers", () => {
  it("R-KB-40 K3 500 documents are taken, also at once; the 501st is refused until one is deleted", async () => {
    const [, openOn] = engines[0] as (typeof engines)[number];
    await using test = await openOn({ background: false });
    await using world = await catalogWorld(test.pinakes, "embedded");
    const ann = await world.user("ann");
    const catalog_id = await ann.catalog("Many");
    const upload = (i: number) =>
      ann.call("upload_to_catalog", { catalog_id, filename: `note ${i}.txt`, file_content: base64(`note ${i}`) });
    const answers = await Promise.all(Array.from({ length: 503 }, (_, i) => upload(i)));
    expect(answers.filter(({ status }) => status === "success")).toHaveLength(500);
    expect(new Set(answers.flatMap(({ metadata }) => metadata.error_code ?? []))).toEqual(new Set(["LIMIT_EXCEEDED"]));
    const documents = await documentsOf(ann, catalog_id);
    expect(new Set(documents.map((document) => document["document_id"])).size).toBe(500);
    await ann.ok("delete_catalog_document", { catalog_id, document_id: documents[0]?.["document_id"] });
    await ann.upload(catalog_id, "once more.txt", "x");
    expect((await upload(1_000)).metadata.error_code).toBe("LIMIT_EXCEEDED");
  });

  it("R-KB-21 52,428,800 bytes are taken, one more is refused", async () => {
    const [, openOn] = engines[0] as (typeof engines)[number];
    await using test = await openOn({ background: false });
    await using world = await catalogWorld(test.pinakes, "embedded");
    const ann = await world.user("ann");
    const catalog_id = await ann.catalog("Large");
    const send = (filename: string, bytes: number) =>
      ann.call("upload_to_catalog", { catalog_id, filename, file_content: base64(Buffer.alloc(bytes, 97)) });
    expect((await send("over.txt", 52_428_801)).metadata.error_code).toBe("FILE_TOO_LARGE");
    expect(await documentsOf(ann, catalog_id)).toEqual([]);
    expect((await send("full.txt", 52_428_800)).metadata).toMatchObject({ file_size_kb: 51_200 });
  });
});
