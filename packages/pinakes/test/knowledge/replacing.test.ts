/** The same document again: replaced atomically, recognised if unchanged, retried, re-indexed, deleted. */
import { describe, expect, it } from "vitest";
import {
  engines,
  newPlace,
  openTestPinakes,
  recount,
  settled,
  texts,
  upload,
  uploaded,
  type Place,
} from "./support/test-pinakes.ts";
import { until } from "../support/until.ts";
import { forAllTests } from "../support/for-tests.ts";

describe.each(engines)("replacing on %s", (engine) => {
  const test = forAllTests(() => openTestPinakes(engine));

  const incarnation = async ({ knowledge, caller, repository, collection }: Place) =>
    (await knowledge.collections.get(caller, repository, collection)).incarnation;
  const allObjects = async (place: Place) => {
    const { keys } = await test.pinakes.objects.list(place.caller.scope, `knowledge/${await incarnation(place)}/`);
    return keys.map(({ key }) => key.split("/").slice(2).join("/"));
  };
  const objects = async (place: Place) =>
    (await allObjects(place)).map((key) => key.slice(key.indexOf("/") + 1)).sort();
  const rows = async (place: Place) => test.pinakes.vectors.count(place.caller.scope, `${await incarnation(place)}.1`);

  it("R-KB-44 an existing name, ignoring case, is a conflict; with replace it is replaced, and count and size are correct", async () => {
    const place = await newPlace(test);
    const first = await uploaded(place, "Report.txt", "the old report about walruses");
    await expect(upload(place, "REPORT.TXT", "x")).rejects.toMatchObject({
      code: "CONFLICT",
      detail: expect.stringContaining(first.document_id),
    });
    const second = await uploaded(place, "REPORT.TXT", "the new one about narwhals", { replace: true });
    expect(second).toMatchObject({ document_id: first.document_id, version: 2, live_version: 2, name: "REPORT.TXT" });
    expect(await texts(place, "report walruses narwhals")).toEqual(["the new one about narwhals"]);
    const { told, counted } = await recount(place);
    expect(told).toEqual(counted);
    expect(told).toMatchObject({ document_count: 1, total_size_bytes: "the new one about narwhals".length });
    expect(await until(async () => (await rows(place)) === 1)).toBe(true);
    const versions = await place.knowledge.documents.versions(
      place.caller,
      place.repository,
      place.collection,
      first.document_id,
    );
    expect(versions).toMatchObject([
      { version: 2, live: true },
      { version: 1, live: false },
    ]);
    const old = await place.knowledge.documents.content(
      place.caller,
      place.repository,
      place.collection,
      first.document_id,
      1,
    );
    expect(Buffer.concat(await Array.fromAsync(old.body)).toString()).toBe("the old report about walruses");
  });

  it("R-LISA-77 searches while a document is replaced repeatedly see one version at a time, never none and never two", async () => {
    const place = await newPlace(test);
    const long = (i: number) =>
      Array.from({ length: 12 }, (_, n) => `Version ${i} of the manual, paragraph ${n}, speaks of gears.`).join("\n\n");
    const strategy = { type: "FIXED", chunk_size: 100, chunk_overlap: 0, unit: "char" };
    const { document_id } = await uploaded(place, "manual.txt", long(0), { chunking_strategy: strategy });
    let running = true;
    const seen: string[][] = [];
    const searcher = async (): Promise<void> => {
      while (running) {
        const found = await texts(place, "manual paragraph gears", { limit: 100 });
        seen.push([...new Set(found.flatMap((text) => text.match(/Version \d+/g) ?? []))]);
      }
    };
    const searchers = [searcher(), searcher(), searcher()];
    for (let i = 1; i <= 15; i += 1) {
      await upload(place, "manual.txt", long(i), { replace: true, chunking_strategy: strategy });
      await settled(place, document_id);
    }
    running = false;
    await Promise.all(searchers);
    expect(seen.length).toBeGreaterThan(15);
    for (const versions of seen) expect(versions).toHaveLength(1);
    expect(new Set(seen.flat()).size).toBeGreaterThan(3);
    expect(await objects(place)).toHaveLength(20); // bytes and text of ten versions
  });

  it("the same bytes again change nothing: neither the version nor the chunks, and it can still be re-indexed", async () => {
    const place = await newPlace(test);
    const { knowledge, caller, repository, collection } = place;
    const before = await uploaded(place, "same.txt", "the very same bytes");
    const again = await upload(place, "same.txt", "the very same bytes", { replace: true });
    expect(again).toMatchObject({
      unchanged: true,
      document_id: before.document_id,
      version: 1,
      live_version: 1,
      status: "indexed",
      indexed_at: before.indexed_at,
    });
    expect(await objects(place)).toEqual(["1/content", "1/text"]);
    await knowledge.documents.reindex(caller, repository, collection, before.document_id);
    expect(await settled(place, before.document_id)).toMatchObject({ status: "indexed", live_version: 1 });
    expect(await texts(place, "very same bytes")).toEqual(["the very same bytes"]);
    // Other metadata is a change.
    const changed = await upload(place, "same.txt", "the very same bytes", { replace: true, metadata: { year: 2030 } });
    expect(changed.unchanged).toBeUndefined();
    expect((await settled(place, before.document_id)).metadata).toEqual({ year: 2030 });
    const { told, counted } = await recount(place);
    expect(told).toEqual(counted);
  });

  it("the same bytes under another name are accepted, and the answer names the original", async () => {
    const place = await newPlace(test);
    const first = await uploaded(place, "one.txt", "copied words");
    const copy = await upload(place, "two.txt", "copied words");
    expect(copy.duplicate_of).toBe(first.document_id);
    expect((await upload(place, "three.txt", "other words")).duplicate_of).toBeUndefined();
  });

  it("R-KB-25 R-KB-16 a failed document is retried, fails again with the same reason, and is ready when its replacement is", async () => {
    const place = await newPlace(test);
    const { knowledge, caller, repository, collection } = place;
    const status = async () => (await knowledge.collections.get(caller, repository, collection)).indexing_status;
    expect(await status()).toBe("pending");
    const failed = await uploaded(place, "bad.pdf", "%PDF-1.4 nonsense");
    expect(await status()).toBe("error");
    const retried = await knowledge.documents.reindex(caller, repository, collection, failed.document_id);
    expect(retried).toMatchObject({ status: "pending", error: null });
    expect(await settled(place, failed.document_id)).toMatchObject({ status: "failed", error: failed.error });
    expect(await status()).toBe("error");
    await knowledge.documents.delete(caller, repository, collection, failed.document_id);
    expect(await status()).toBe("ready");
    await uploaded(place, "good.txt", "good words");
    expect(await status()).toBe("ready");
    const { told, counted } = await recount(place);
    expect(told).toEqual(counted);
  });

  it("an interrupted replacement leaves the old version searchable; a retry indexes it, as the newest stored version", async () => {
    const place = await newPlace(test);
    const { knowledge, caller, repository, collection } = place;
    const { document_id } = await uploaded(place, "a.txt", "the old words stay");
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("new");
      throw new Error("gone");
    }
    await expect(upload(place, "a.txt", "", { replace: true, body: broken() })).rejects.toThrow("gone");
    expect(await knowledge.documents.get(caller, repository, collection, document_id)).toMatchObject({
      status: "failed",
      live_version: 1,
    });
    expect(await texts(place, "old words")).toEqual(["the old words stay"]);
    await knowledge.documents.reindex(caller, repository, collection, document_id);
    expect(await settled(place, document_id)).toMatchObject({ status: "indexed", live_version: 1 });
    expect(await texts(place, "old words")).toEqual(["the old words stay"]);
    expect(await objects(place)).toEqual(["1/content", "1/text"]);
    const { told, counted } = await recount(place);
    expect(told).toEqual(counted);
  });

  it("R-KB-30 R-KB-04 a deleted document is cited by no search, and nothing of it remains: no record, no bytes, no chunks", async () => {
    const place = await newPlace(test);
    const { knowledge, caller, repository, collection } = place;
    await uploaded(place, "kept.txt", "herons stand still");
    const { document_id } = await uploaded(place, "gone.txt", "cormorants dive deep");
    await knowledge.documents.delete(caller, repository, collection, document_id);
    expect(await texts(place, "herons stand still and cormorants dive deep")).toEqual(["herons stand still"]);
    await expect(knowledge.documents.get(caller, repository, collection, document_id)).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    await expect(knowledge.documents.delete(caller, repository, collection, document_id)).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    expect(await rows(place)).toBe(1);
    expect(await objects(place)).toHaveLength(2);
    expect((await uploaded(place, "gone.txt", "new under the old name")).document_id).not.toBe(document_id);
  });

  it("R-KB-04 documents that are replaced and deleted during ingestion leave no chunk and no object behind", async () => {
    const place = await newPlace(test);
    const { knowledge, caller, repository, collection } = place;
    const long = (i: number) =>
      Array.from({ length: 120 }, (_, n) => `Part ${n} of edition ${i} tells of rivers and bridges.`).join("\n\n");
    const strategy = { type: "FIXED", chunk_size: 100, chunk_overlap: 0, unit: "char" };
    for (let i = 0; i < 8; i += 1) {
      const { document_id } = await upload(place, `f${i}.txt`, long(i), { chunking_strategy: strategy });
      await until(
        async () => (await knowledge.documents.get(caller, repository, collection, document_id)).status !== "pending",
        1,
      );
      if (i % 2 === 0) await upload(place, `f${i}.txt`, `edition two of ${i}`, { replace: true });
      if (i % 4 === 1) await knowledge.documents.reindex(caller, repository, collection, document_id);
      if (i % 4 === 3) await knowledge.documents.delete(caller, repository, collection, document_id);
      else await settled(place, document_id);
    }
    const { told, counted } = await recount(place);
    expect(told).toEqual(counted);
    const expected = (await knowledge.collections.get(caller, repository, collection)).chunk_count;
    expect(await until(async () => (await rows(place)) === expected)).toBe(true);
    const { items } = await knowledge.documents.list(caller, repository, collection);
    const kept = new Set<string>();
    for (const { document_id } of items) {
      for (const { version } of await knowledge.documents.versions(caller, repository, collection, document_id))
        for (const name of ["content", "text"]) kept.add(`${document_id}/${version}/${name}`);
    }
    // The workers of the deleted documents may be just about to notice.
    const strays = async () => (await allObjects(place)).filter((key) => !kept.has(key));
    expect(await until(async () => (await strays()).length === 0)).toBe(true);
  });

  it("last_sync_at is set after the first document is done, and stays when a document is sent again during an upload", async () => {
    const place = await newPlace(test);
    const { knowledge, caller, repository, collection } = place;
    const synced = async () => (await knowledge.collections.get(caller, repository, collection)).last_sync_at;
    expect(await synced()).toBeNull();
    const { document_id } = await uploaded(place, "a.txt", "one");
    const at = await synced();
    expect(at).not.toBeNull();
    const gate = Promise.withResolvers<void>();
    async function* slow(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("slow");
      await gate.promise;
    }
    const overtaken = upload(place, "a.txt", "", { replace: true, body: slow() });
    await until(
      async () => (await knowledge.documents.get(caller, repository, collection, document_id)).status === "uploading",
    );
    await upload(place, "a.txt", "faster", { replace: true });
    expect(await synced()).not.toBeNull();
    await settled(place, document_id);
    gate.resolve();
    await expect(overtaken).rejects.toMatchObject({ code: "PRECONDITION_FAILED" });
    expect(await texts(place, "faster")).toEqual(["faster"]);
    expect(await objects(place)).toEqual(["1/content", "1/text", "3/content", "3/text"]);
    expect((await settled(place, document_id)).status).toBe("indexed");
  });
});
