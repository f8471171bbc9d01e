/** Uploads: names, types, sizes, states and their reasons, and failed uploads that leave nothing. */
import { describe, expect, it } from "vitest";
import { quotaDefaults } from "../../src/knowledge/index.ts";
import { makePdf } from "../../src/drivers/parsers/test-files.ts";
import {
  body,
  engines,
  newPlace,
  openTestPinakes,
  recount,
  settled,
  texts,
  upload,
  uploaded,
  type Place,
  type TestPinakes,
} from "./support/test-pinakes.ts";
import { forAllTests } from "../support/for-tests.ts";

const fileBytesMax = 52_428_800;

async function objectsOf(
  { pinakes }: TestPinakes,
  { knowledge, caller, repository, collection }: Place,
): Promise<string[]> {
  const { incarnation } = await knowledge.collections.get(caller, repository, collection);
  return (await pinakes.objects.list(caller.scope, `knowledge/${incarnation}/`)).keys.map(({ key }) => key);
}

describe.each(engines)("uploads on %s", (engine) => {
  const test = forAllTests(() => openTestPinakes(engine));
  const place = forAllTests(() => newPlace(test));

  it("R-KB-19 file names have 1 to 255 characters, without / \\ NUL and control characters, and are not . or ..", async () => {
    const names = [
      "",
      "../a.txt",
      "a/b.txt",
      "a\\b.txt",
      "..\\..\\a.txt",
      "a\u0000.txt",
      "a\n.txt",
      "a\u0007.txt",
      "a\u0085.txt",
      ".",
      "..",
      " ",
      "\ud800.txt",
    ];
    for (const name of [...names, `${"n".repeat(252)}.txt`, 7, null])
      await expect(upload(place, name as string, "x")).rejects.toMatchObject({ code: "INVALID" });
    const longest = `${"ü".repeat(251)}.txt`;
    expect((await upload(place, longest, "longest name")).name).toBe(longest);
    expect((await upload(place, "...txt", "odd but fine")).name).toBe("...txt");
    // Names are equal in every Unicode form.
    const { name } = await upload(place, "re\u0301sume\u0301.txt", "composed");
    expect(name).toBe("résumé.txt".normalize("NFC"));
    await expect(upload(place, "résumé.txt".normalize("NFC"), "x")).rejects.toMatchObject({ code: "CONFLICT" });
  });

  it("R-KB-20 the type is the extension's, ignoring case; a catalog accepts five, and others are refused with the list", async () => {
    const user = test.as("cataloguer");
    const { collection_id } = await test.knowledge.collections.create(user, "me", { name: `Types` });
    const catalog = { knowledge: test.knowledge, caller: user, repository: "me", collection: collection_id };
    for (const name of ["a.exe", "a", "a.txt.zip", ".txt", "a.json", "a.html", "a.log", "pdf"])
      await expect(upload(catalog, name, "x")).rejects.toMatchObject({
        code: "INVALID",
        detail: expect.stringContaining("pdf, docx, txt, md, csv"),
      });
    for (const [name, type] of [
      ["A.TXT", "txt"],
      ["b.Md", "md"],
      ["c.CSV", "csv"],
      ["d.Pdf", "pdf"],
      ["e.DOCX", "docx"],
    ] as const)
      expect((await upload(catalog, name, "a,b\n1,2")).file_type).toBe(type);
    expect((await upload(place, "a.json", "{}")).file_type).toBe("json");
    expect((await test.knowledge.collections.get(user, "me", collection_id)).document_count).toBe(5);
    // Contents that do not match the extension fail, with the reason.
    for (const [name, content, reason] of [
      ["words.pdf", "plain words", "PDF"],
      ["words.docx", "plain words", "docx"],
      ["picture.txt", Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"), "text"],
      ["letter.md", await makePdf([(doc) => void doc.text("Dear reader")]), "PDF"],
    ] as const)
      expect(await uploaded(catalog, name, content), name).toMatchObject({
        status: "failed",
        error: expect.stringMatching(new RegExp(reason, "i")) as string,
      });
  });

  it("R-KB-17 R-KB-18 one id everywhere: in the record, the object's key, the chunk and the answer; a chunk belongs to its catalog's owner", async () => {
    const user = test.as("owner-of-ids");
    const { collection_id, repository_id, incarnation } = await test.knowledge.collections.create(user, "me", {
      name: "Ids",
    });
    const theirs = {
      knowledge: test.knowledge,
      caller: test.admin,
      repository: repository_id,
      collection: collection_id,
    };
    const { document_id } = await uploaded(theirs, "a.txt", "put there by an admin");
    expect(document_id).toMatch(/^[0-9a-f-]{36}$/);
    expect((await test.knowledge.documents.get(user, "me", collection_id, document_id)).document_id).toBe(document_id);
    for (const key of await objectsOf(test, theirs)) expect(key).toContain(document_id);
    const { hits } = await test.knowledge.search.run(user, {
      query: "admin",
      collections: [{ repository: "me", collection: collection_id }],
    });
    expect(hits[0]).toMatchObject({ document_id, citation: { document_id, filename: "a.txt" } });
    const [row] = await test.pinakes.vectors.get(user.scope, `${incarnation}.1`, [`${document_id}.1.0`]);
    expect(row?.metadata).toMatchObject({
      document_id,
      catalog_id: collection_id,
      user_id: "owner-of-ids",
      filename: "a.txt",
    });
  });

  it("R-KB-23 indexed_at is set only after success, an error only after failure", async () => {
    const begun = await upload(place, "states.txt", "uploaded, pending, indexing, indexed");
    expect(begun).toMatchObject({ status: "pending", error: null, indexed_at: null });
    const done = await settled(place, begun.document_id);
    expect(done).toMatchObject({ status: "indexed", error: null });
    expect(Date.parse(done.indexed_at as string)).toBeGreaterThanOrEqual(Date.parse(done.uploaded_at));
    const failed = await uploaded(place, "broken.pdf", "%PDF-1.7 but no more than that");
    expect(failed).toMatchObject({ status: "failed", indexed_at: null, error: expect.any(String) });
  });

  it.each([
    ["corrupt.pdf", () => Promise.resolve(Buffer.from("%PDF-1.7\n1 0 obj <<garbage")), /damaged/],
    [
      "locked.pdf",
      () => makePdf([(doc) => void doc.text("secret")], { userPassword: "x", pdfVersion: "1.7" }),
      /password/,
    ],
    ["really-text.pdf", () => Promise.resolve(Buffer.from("just some words")), /looks like/],
    ["really-pdf.txt", () => makePdf([(doc) => void doc.text("words")]), /looks like/],
    ["blank.txt", () => Promise.resolve(Buffer.from("  \n\t\n ")), /no text/],
    ["drawing.pdf", () => makePdf([(doc) => void doc.rect(0, 0, 10, 10).fill()]), /no text/],
  ])(
    "R-KB-20 R-KB-25 %s fails with its reason, the collection has status error, and the others stay indexed",
    async (name, bytes, reason) => {
      const own = await newPlace(test);
      await uploaded(own, "good.txt", "a good document about lighthouses");
      const failed = await uploaded(own, name, await bytes());
      expect(failed).toMatchObject({ status: "failed", error: expect.stringMatching(reason) });
      expect(await own.knowledge.collections.get(own.caller, own.repository, own.collection)).toMatchObject({
        indexing_status: "error",
        document_count: 2,
      });
      expect(await texts(own, "lighthouses")).toHaveLength(1);
      await own.knowledge.documents.delete(own.caller, own.repository, own.collection, failed.document_id);
      expect((await own.knowledge.collections.get(own.caller, own.repository, own.collection)).indexing_status).toBe(
        "ready",
      );
      const { told, counted } = await recount(own);
      expect(told).toEqual(counted);
    },
  );

  it("an empty file is refused at once and leaves nothing behind", async () => {
    const own = await newPlace(test);
    await expect(upload(own, "empty.txt", "")).rejects.toMatchObject({
      code: "INVALID",
      detail: expect.stringContaining("empty"),
    });
    expect(await own.knowledge.collections.get(own.caller, own.repository, own.collection)).toMatchObject({
      document_count: 0,
      indexing_status: "pending",
    });
    expect(await objectsOf(test, own)).toEqual([]);
    expect((await uploaded(own, "empty.txt", "now it has words")).status).toBe("indexed");
  });

  it("R-KB-21 a file of 52,428,800 bytes is accepted, one more byte is refused and nothing of it is stored", async () => {
    await using quiet = await openTestPinakes(engine, { background: false });
    const own = await newPlace(quiet);
    async function* zeros(bytes: number): AsyncGenerator<Uint8Array> {
      for (let left = bytes; left > 0; left -= 1_048_576) yield new Uint8Array(Math.min(left, 1_048_576)).fill(97);
    }
    await expect(upload(own, "large.txt", "", { body: zeros(fileBytesMax + 1) })).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
    });
    expect((await own.knowledge.documents.list(own.caller, own.repository, own.collection)).items).toEqual([]);
    expect(await own.knowledge.collections.get(own.caller, own.repository, own.collection)).toMatchObject({
      document_count: 0,
      total_size_bytes: 0,
    });
    expect(await objectsOf(quiet, own)).toEqual([]);
    const accepted = await upload(own, "large.txt", "", { body: zeros(fileBytesMax) });
    expect(accepted).toMatchObject({ size_bytes: fileBytesMax, status: "pending" });
    expect(await own.knowledge.collections.get(own.caller, own.repository, own.collection)).toMatchObject({
      document_count: 1,
      total_size_bytes: fileBytesMax,
    });
    // A replacement that is too large leaves the document unchanged.
    await expect(upload(own, "large.txt", "", { replace: true, body: zeros(fileBytesMax + 1) })).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
    });
    const { told, counted } = await recount(own);
    expect(told).toEqual(counted);
    expect(await objectsOf(quiet, own)).toHaveLength(1);
    expect(
      (await own.knowledge.documents.get(own.caller, own.repository, own.collection, accepted.document_id)).sha256,
    ).toBe(accepted.sha256);
  });

  it("R-KB-25 R-KB-13 an upload interrupted by the client has failed, with the reason, is counted as failed, and can be sent again", async () => {
    const own = await newPlace(test);
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("the first half");
      throw new Error("socket hang up");
    }
    await expect(upload(own, "half.txt", "", { body: broken() })).rejects.toThrow("socket hang up");
    const { items } = await own.knowledge.documents.list(own.caller, own.repository, own.collection);
    expect(items).toMatchObject([
      { name: "half.txt", status: "failed", error: expect.stringContaining("socket hang up"), size_bytes: 0 },
    ]);
    expect(await objectsOf(test, own)).toEqual([]);
    let { told, counted } = await recount(own);
    expect(told).toEqual(counted);
    const id = items[0]?.document_id as string;
    await expect(own.knowledge.documents.reindex(own.caller, own.repository, own.collection, id)).rejects.toMatchObject(
      {
        code: "CONFLICT",
      },
    );
    const again = await uploaded(own, "half.txt", "the whole of it", { replace: true });
    expect(again).toMatchObject({ document_id: id, status: "indexed" });
    ({ told, counted } = await recount(own));
    expect(told).toEqual(counted);
  });

  it("R-KB-13 a hundred concurrent uploads, some replaced, some deleted, some interrupted: the counters equal a recount", async () => {
    const own = await newPlace(test);
    const { knowledge, caller, repository, collection } = own;
    const outcomes = await Promise.allSettled(
      Array.from({ length: 100 }, async (_, i) => {
        const bytes = i % 10 === 3 ? "" : i % 10 === 4 ? "%PDF-broken" : `document ${i} `.repeat(i + 1);
        const { document_id } = await upload(own, `f${i}.${i % 10 === 4 ? "pdf" : "txt"}`, bytes);
        if (i % 10 === 5) await upload(own, `f${i}.txt`, "a shorter one", { replace: true });
        if (i % 10 === 6) await knowledge.documents.delete(caller, repository, collection, document_id);
        return document_id;
      }),
    );
    const ids = outcomes.flatMap((outcome, i) =>
      outcome.status === "fulfilled" && i % 10 !== 6 ? [outcome.value] : [],
    );
    expect(ids).toHaveLength(80);
    for (const id of ids) await settled(own, id);
    const { told, counted } = await recount(own);
    expect(told).toEqual(counted);
    expect(told).toMatchObject({
      document_count: 80,
      documents_by_status: { indexed: 70, failed: 10, pending: 0, indexing: 0, uploading: 0 },
    });
  });

  it("R-KB-40 a document beyond a catalog's limit is refused, also among several concurrent ones; deleting one makes room", async () => {
    await using small = await openTestPinakes(engine, { background: false, quotas: { documentsPerCatalogMax: 5 } });
    expect(quotaDefaults.documentsPerCatalogMax).toBe(500);
    const user = small.as("full");
    const { collection_id } = await small.knowledge.collections.create(user, "me", { name: "Full" });
    const catalog = { knowledge: small.knowledge, caller: user, repository: "me", collection: collection_id };
    const first = await upload(catalog, "first.txt", "1");
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, (_, i) => upload(catalog, `f${i}.txt`, `text ${i}`)),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(4);
    for (const outcome of outcomes)
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "LIMIT_EXCEEDED" });
    expect((await upload(catalog, "first.txt", "another one", { replace: true })).document_id).toBe(first.document_id);
    await small.knowledge.documents.delete(user, "me", collection_id, first.document_id);
    await upload(catalog, "again.txt", "x");
    await expect(upload(catalog, "more.txt", "x")).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
    expect(await objectsOf(small, catalog)).toHaveLength(5);
  });

  it("a document's metadata is bounded, and cannot use the field names of chunks", async () => {
    const metadata = (bytes: number) => ({ f: "x".repeat(bytes - 8) });
    expect((await upload(place, "m1.txt", "x", { metadata: metadata(10_240) })).metadata).toEqual(metadata(10_240));
    await expect(upload(place, "m2.txt", "x", { metadata: metadata(10_241) })).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
    });
    for (const bad of [{ user_id: "ben" }, { document_id: "x" }, { run: 1 }, [], "text", 7])
      await expect(upload(place, "m3.txt", "x", { metadata: bad })).rejects.toMatchObject({ code: "INVALID" });
    expect(
      await test.knowledge.documents.list(test.admin, place.repository, place.collection, { q: "m3" }),
    ).toMatchObject({ items: [] });
    await expect(upload(place, "m4.txt", "", { body: body("") })).rejects.toMatchObject({ code: "INVALID" });
  });
});
