/** Users' files: bytes without records, deletes that were interrupted, expiries, and batches, whatever process dies where. */
import { describe, expect, it } from "vitest";
import type { Caller } from "../../src/domain/caller.ts";
import { ownerOf } from "../../src/knowledge/files/file-records.ts";
import type { FileBatch, Knowledge } from "../../src/knowledge/index.ts";
import type { ItemStore } from "../../src/ports/item-store.ts";
import { Audited, dayMs } from "../audit/support/audited.ts";
import { until } from "../support/until.ts";
import type { FaultKind } from "../vectors/support/calls.ts";
import { Crashes } from "./support/crashes.ts";
import { knowledgeEngines } from "./support/knowledge-engines.ts";
import { Machine, type Process } from "./support/machine.ts";
import { body, openTestPinakes, texts, type Place } from "./support/test-pinakes.ts";
import { forAllTests } from "../support/for-tests.ts";

const machine = forAllTests(() => Machine.open());
const crashes = forAllTests(() => new Crashes(machine));

const newFile = (text: string, expires_after_seconds?: number) => ({
  filename: "a.txt",
  body: body(text),
  settings: async () => ({ purpose: "assistants" as const, expires_after_seconds }),
});

async function objectKeys(prefix: string): Promise<readonly string[]> {
  return (await machine.objects.list(machine.admin.scope, prefix, { limit: 1_000 })).keys.map(({ key }) => key);
}

/** What the quota counts; zero before the first file. */
async function usageOf(items: ItemStore, { scope, userId }: Caller): Promise<{ files: number; bytes: number }> {
  const found = await items.read(scope, "files", { partition: [ownerOf(userId)], id: "usage" });
  const { files, bytes } = (found?.document ?? { files: 0, bytes: 0 }) as { files: number; bytes: number };
  return { files, bytes };
}

async function sweepLater(ms: number): Promise<void> {
  machine.now += ms;
  const process = await machine.process();
  await process.sweep();
  await process.work();
  await process.close();
}

describe("a process that dies at any call", () => {
  const kinds: readonly FaultKind[] = ["crash-before", "crash-after"];

  it.each(kinds)(
    "%s: no bytes are nobody's, what was deleted is gone everywhere, and a file is in a collection whole or not",
    async (kind) => {
      let faults = 0;
      for (let n = 0; ; n += 1) {
        const place = await crashes.freshPlace();
        const said: string[] = [];
        const name = await crashes.faultAt(n, kind, (process) => scenario(process, place, said));
        await crashes.recover();
        await sweepLater(3 * dayMs);
        await expectSound(place, said, `${kind} at call ${n}, ${name}`);
        if (name === undefined) break;
        faults += 1;
      }
      expect(faults).toBeGreaterThan(40);
    },
  );

  async function scenario({ knowledge }: Process, place: Place, said: string[]): Promise<void> {
    const { caller, repository, collection } = place;
    const kept = await knowledge.files.create(caller, newFile("the file that stays, about herons"));
    said.push(`kept ${kept.id}`);
    const gone = await knowledge.files.create(caller, newFile("the file that goes, about cranes"));
    for (const { id } of [kept, gone]) await knowledge.files.attach(caller, repository, collection, { file_id: id });
    said.push("attached");
    await knowledge.files.delete(caller, gone.id);
    said.push(`gone ${gone.id}`);
    const upload = await knowledge.files.beginUpload(caller, {
      filename: "parts.txt",
      purpose: "assistants",
      bytes: 6,
      mime_type: "text/plain",
    });
    const ids = [];
    for (const text of ["one", "two"]) ids.push((await knowledge.files.addPart(caller, upload.id, body(text))).id);
    const part_ids = ids.map((id) => id.split(":").at(-1) as string);
    const { file } = await knowledge.files.completeUpload(caller, upload.id, { part_ids });
    said.push(`kept ${file.id}`);
  }

  async function expectSound({ caller, repository, collection }: Place, said: readonly string[], at: string) {
    const process = await machine.process();
    await process.work();
    const { files, documents } = process.knowledge;
    const here = (await files.list(caller)).items;
    const keys = here.map(({ owner, id }) => `files/${owner}/${id}/content`);
    expect((await objectKeys("files/")).toSorted(), at).toEqual(keys.toSorted());
    const attached = (await documents.list(caller, repository, collection, { limit: 100 })).items;
    // One whose bytes did not arrive says so, and is replaced when its file is attached again.
    expect(
      attached.every(({ status }) => status === "indexed" || status === "failed"),
      at,
    ).toBe(true);
    for (const line of said) {
      const [word, id] = line.split(" ") as [string, string];
      if (word === "kept")
        expect(
          here.some((file) => file.id === id),
          `${at}: ${line}`,
        ).toBe(true);
      if (word === "gone") {
        expect(
          here.some((file) => file.id === id),
          `${at}: ${line}`,
        ).toBe(false);
        expect(
          attached.map(({ source }) => source.uri),
          at,
        ).not.toContain(`file:${id}`);
      }
    }
    if (said.includes("attached")) expect(attached.length, at).toBeGreaterThanOrEqual(1);
    expect(await usageOf(machine.items, caller), at).toEqual({
      files: here.length,
      bytes: here.reduce((bytes, file) => bytes + file.bytes, 0),
    });
    for (const { id } of here) await files.delete(caller, id);
    expect(await objectKeys("files/"), at).toEqual([]);
    expect(await usageOf(machine.items, caller), at).toEqual({ files: 0, bytes: 0 });
    expect((await documents.list(caller, repository, collection)).items, at).toEqual([]);
    await process.close();
  }
});

describe.each(knowledgeEngines())("the quota of a user on %s", (_name, openOn) => {
  it("at the limits files are taken, one file or byte more is refused and leaves nothing; what goes makes room", async () => {
    await using elsewhere = await openOn({ quotas: { filesPerUserMax: 3, fileBytesPerUserMax: 20 } });
    const { knowledge, pinakes, as } = elsewhere;
    const { files } = knowledge;
    const [ann, ben] = [as("ann"), as("ben")];
    const objects = async () => (await pinakes.objects.list(ann.scope, "files/")).keys.length;
    const at = async (what: { files: number; bytes: number }) =>
      expect(await usageOf(pinakes.items, ann)).toEqual(what);
    const tried = await Promise.allSettled(
      Array.from({ length: 8 }, (_, i) => files.create(ann, newFile(`file ${i}`))),
    );
    expect(tried.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
    for (const one of tried)
      if (one.status === "rejected")
        expect(one.reason).toMatchObject({
          code: "LIMIT_EXCEEDED",
          detail: expect.stringContaining("filesPerUserMax") as string,
        });
    await at({ files: 3, bytes: 18 });
    expect(await objects()).toBe(3);
    const upload = { filename: "u.txt", purpose: "assistants" as const, bytes: 8, mime_type: "text/plain" };
    await expect(files.beginUpload(ann, upload)).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
    // Others have a quota of their own.
    await files.delete(ben, (await files.create(ben, newFile("twenty characters..."))).id);

    const [first] = (await files.list(ann)).items;
    await files.delete(ann, first?.id as string);
    // A pending upload has its place; the file that it becomes takes it.
    await expect(files.beginUpload(ann, { ...upload, bytes: 9 })).rejects.toMatchObject({
      detail: expect.stringContaining("fileBytesPerUserMax") as string,
    });
    const begun = await files.beginUpload(ann, upload);
    await expect(files.create(ann, newFile(""))).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
    const part = await files.addPart(ann, begun.id, body("eight ch"));
    await files.completeUpload(ann, begun.id, { part_ids: [part.id.split(":").at(-1) as string] });
    await at({ files: 3, bytes: 20 });
    for (const { id } of (await files.list(ann)).items) await files.delete(ann, id);
    await at({ files: 0, bytes: 0 });
    await files.cancelUpload(ann, (await files.beginUpload(ann, { ...upload, bytes: 20 })).id);
    await expect(files.create(ann, newFile("one more than twenty!"))).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
    await at({ files: 0, bytes: 0 });
    expect(await objects()).toBe(0);
    await files.create(ann, newFile("twenty characters..."));
    await at({ files: 1, bytes: 20 });
  });

  it("files from before the record of usage are counted", async () => {
    await using elsewhere = await openOn({ quotas: { filesPerUserMax: 2 } });
    const { knowledge, pinakes, as } = elsewhere;
    const ann = as("ann");
    for (const text of ["one", "two"]) await knowledge.files.create(ann, newFile(text));
    await pinakes.items.write(ann.scope, "files", [ownerOf("ann")], { op: "delete", id: "usage" });
    await expect(knowledge.files.create(ann, newFile("three"))).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
    await knowledge.files.delete(ann, (await knowledge.files.list(ann)).items[0]?.id as string);
    expect(await usageOf(pinakes.items, ann)).toEqual({ files: 1, bytes: 3 });
  });
});

describe("expiry", () => {
  it("a file is gone at its time, with its bytes and its documents; one without an expiry stays", async () => {
    const { knowledge, repository, collection, caller } = await crashes.freshPlace();
    const short = await knowledge.files.create(caller, newFile("short-lived", 3_600));
    const long = await knowledge.files.create(caller, newFile("long-lived"));
    await knowledge.files.attach(caller, repository, collection, { file_id: short.id });
    machine.now += 3_599_000;
    expect((await knowledge.files.get(caller, short.id)).id).toBe(short.id);
    machine.now += 1_000;
    await expect(knowledge.files.get(caller, short.id)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(knowledge.files.content(caller, short.id)).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect((await knowledge.files.list(caller)).items.map(({ id }) => id)).toEqual([long.id]);
    await sweepLater(0);
    expect((await objectKeys("files/")).length).toBe(1);
    expect((await knowledge.documents.list(caller, repository, collection)).items).toEqual([]);
    await sweepLater(400 * dayMs);
    expect((await knowledge.files.get(caller, long.id)).id).toBe(long.id);
    await knowledge.files.delete(caller, long.id);
  });

  it("an upload that is not completed within an hour takes no parts, and its parts are removed", async () => {
    const { knowledge, caller } = await crashes.freshPlace();
    const input = { filename: "a.txt", purpose: "user_data", bytes: 3, mime_type: "text/plain" } as const;
    const upload = await knowledge.files.beginUpload(caller, input);
    await knowledge.files.addPart(caller, upload.id, body("abc"));
    machine.now += 3_600_000;
    await expect(knowledge.files.addPart(caller, upload.id, body("d"))).rejects.toMatchObject({ code: "INVALID" });
    await sweepLater(dayMs);
    expect(await objectKeys("files/")).toEqual([]);
    await expect(knowledge.files.cancelUpload(caller, upload.id)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("a collection that nobody uses loses its documents and says so; one that is used stays", async () => {
    const { knowledge, caller } = await crashes.freshPlace();
    const made = [];
    for (const name of ["Unused", "Used"])
      made.push(await knowledge.collections.create(caller, "crashes", { name, expires_after_days: 2 }));
    const [unused, used] = made.map(({ collection_id }) => collection_id) as [string, string];
    for (const id of [unused, used])
      await knowledge.documents.upload(caller, "crashes", id, { name: "a.txt", body: "words" });
    const process = await machine.process();
    await process.work();
    await sweepLater(1.5 * dayMs);
    await knowledge.search.run(caller, { query: "words", collections: [{ repository: "crashes", collection: used }] });
    await sweepLater(0.6 * dayMs);
    const over = await until(async () => {
      const view = await knowledge.collections.get(caller, "crashes", unused);
      return view.document_count === 0 ? view : undefined;
    });
    expect(over.expired_at).toBe(new Date(machine.now).toISOString());
    const alive = await knowledge.collections.get(caller, "crashes", used);
    expect([alive.document_count, alive.expired_at]).toEqual([1, undefined]);
    await sweepLater(2.1 * dayMs);
    await until(async () => (await knowledge.collections.get(caller, "crashes", used)).document_count === 0);
    const again = await knowledge.collections.update(caller, "crashes", unused, { expires_after_days: null });
    expect([again.expires_after_days, again.expired_at]).toEqual([undefined, undefined]);
    await expect(
      knowledge.collections.update(caller, "crashes", unused, { expires_after_days: 366 }),
    ).rejects.toMatchObject({
      code: "INVALID",
    });
    await process.close();
  });
});

describe("batches", () => {
  const attachMany = async (
    knowledge: Knowledge,
    place: Place,
    count: number,
  ): Promise<{ batch: FileBatch; ids: string[] }> => {
    const ids = [];
    for (let i = 0; i < count; i += 1)
      ids.push((await knowledge.files.create(place.caller, newFile(`file number ${i}`))).id);
    const inputs = ids.map((file_id) => ({ file_id }));
    return { batch: await knowledge.files.attachMany(place.caller, place.repository, place.collection, inputs), ids };
  };

  it("another process carries on a batch whose process died", async () => {
    const place = await crashes.freshPlace();
    const first = await machine.process();
    let id = "";
    // At some call of the job, after the batch was acknowledged.
    const died = first.calls.died;
    const { batch } = await attachMany(first.knowledge, place, 6);
    id = batch.batch_id;
    first.calls.add({ at: first.calls.names.length + 5, kind: "crash-before" });
    await died;
    await crashes.recover();
    const process = await machine.process();
    await process.work();
    const now = await process.knowledge.files.batch(place.caller, place.repository, place.collection, id);
    expect(now).toMatchObject({ status: "completed", counts: { completed: 6, in_progress: 0 } });
    await process.close();
  });

  it("what is cancelled is not attached, now or later; lists and counters say so", async () => {
    const test = await openTestPinakes("memory");
    const { knowledge, admin: caller } = test;
    await knowledge.repositories.create(caller, { repository_id: "r" });
    const { collection_id } = await knowledge.collections.create(caller, "r", { name: "C" });
    const place: Place = { knowledge, caller, repository: "r", collection: collection_id };
    const { batch, ids } = await attachMany(knowledge, place, 40);
    const cancelled = await knowledge.files.cancelBatch(caller, "r", collection_id, batch.batch_id);
    expect(cancelled.status).toBe("cancelled");
    expect(cancelled.counts.cancelled).toBeGreaterThan(0);
    const settled = await until(async () => {
      const now = await knowledge.files.batch(caller, "r", collection_id, batch.batch_id);
      return now.counts.in_progress === 0 ? now : undefined;
    });
    expect(settled.counts.cancelled + settled.counts.completed).toBe(40);
    const query = { order: "asc", limit: 100 } as const;
    const listed = await knowledge.files.listAttached(caller, "r", collection_id, { ...query, status: "cancelled" });
    expect(listed.items.length).toBe(settled.counts.cancelled);
    expect((await knowledge.files.unattachedCounts(caller, "r", collection_id)).cancelled).toBe(listed.items.length);
    const all = await knowledge.files.listAttached(caller, "r", collection_id, query);
    expect(all.items.map(({ file_id }) => file_id).toSorted()).toEqual(ids.toSorted());
    const { document_count } = await knowledge.collections.get(caller, "r", collection_id);
    expect(document_count).toBe(settled.counts.completed);
    const [one] = listed.items;
    await knowledge.files.attach(caller, "r", collection_id, { file_id: one?.file_id as string });
    expect((await knowledge.files.attached(caller, "r", collection_id, one?.file_id as string)).document?.name).toBe(
      "a.txt",
    );
    await until(async () => (await texts(place, "file number", { min_score: 0 })).length === document_count + 1);
    await test[Symbol.asyncDispose]();
  });
});

describe("a file that becomes a document while it is read", () => {
  it("is there, whichever call of the read is overtaken", async () => {
    const { knowledge, caller, repository, collection } = await crashes.freshPlace();
    const [reader, worker] = [await machine.process(), await machine.process()];
    let overtaken = 0;
    for (let call = 0; ; call += 1) {
      const { id } = await knowledge.files.create(caller, newFile(`overtaken at call ${call}`));
      await knowledge.files.attachMany(caller, repository, collection, [{ file_id: id }]);
      const [reached, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const at = reader.calls.names.length + call;
      reader.calls.add({ at, kind: "hold", until: done.promise, reached: reached.resolve });
      const reading = reader.knowledge.files.attached(caller, repository, collection, id);
      const held = await Promise.race([reached.promise.then(() => true), reading.then(() => false)]);
      await worker.work();
      await worker.sweep();
      await worker.work();
      done.resolve();
      expect((await reading).file_id, `call ${call}`).toBe(id);
      expect((await worker.knowledge.files.attached(caller, repository, collection, id)).document).toBeDefined();
      if (!held) break;
      overtaken += 1;
    }
    reader.calls.clear();
    expect(overtaken).toBeGreaterThan(3);
    await reader.close();
    await worker.close();
  });
});

describe("audits and purges", () => {
  it("fsck names bytes without a record, and removes them when asked; and records without bytes", async () => {
    await using audited = await Audited.open("sqlite");
    const { knowledge, admin, pinakes } = audited.test;
    const file = await knowledge.files.create(admin, newFile("kept"));
    await pinakes.objects.put(audited.scope, `files/${file.owner}/file-${"0".repeat(32)}/content`, Buffer.from("left"));
    expect(await audited.kinds()).toEqual([]);
    audited.time.shift = 3 * dayMs;
    expect(await audited.kinds()).toEqual(["object_without_record"]);
    expect(await audited.kinds({ repair: true })).toEqual(["object_without_record repaired"]);
    expect(await audited.kinds()).toEqual([]);
    await pinakes.objects.delete(audited.scope, [`files/${file.owner}/${file.id}/content`]);
    expect(await audited.kinds()).toEqual(["record_without_object"]);
  });

  it("the purge of a collection leaves nothing of its batches; the files stay, and can be attached elsewhere", async () => {
    await using test = await openTestPinakes("sqlite");
    const { knowledge, admin, pinakes } = test;
    await knowledge.repositories.create(admin, { repository_id: "r" });
    const { collection_id, incarnation } = await knowledge.collections.create(admin, "r", { name: "C" });
    const ids = [];
    for (const name of ["a.txt", "b.zip"]) {
      const settings = async () => ({ purpose: "assistants" as const });
      ids.push((await knowledge.files.create(admin, { filename: name, body: body(name), settings })).id);
    }
    const { batch_id } = await knowledge.files.attachMany(
      admin,
      "r",
      collection_id,
      ids.map((file_id) => ({ file_id })),
    );
    await until(async () => (await knowledge.files.batch(admin, "r", collection_id, batch_id)).status === "completed");
    await knowledge.collections.delete(admin, "r", collection_id, { confirm: collection_id, purge: true });
    await until(async () => {
      const { items } = await pinakes.items.query(admin.scope, "documents", {
        equals: { repository_id: "r", incarnation },
      });
      return items.every(({ id }) => id === "fence");
    });
    await until(async () => (await pinakes.objects.list(admin.scope, `knowledge/${incarnation}/`)).keys.length === 0);
    expect((await knowledge.files.list(admin)).items.length).toBe(2);
    const other = await knowledge.collections.create(admin, "r", { name: "D" });
    const attached = await knowledge.files.attach(admin, "r", other.collection_id, { file_id: ids[0] as string });
    expect(attached.file_id).toBe(ids[0]);
  });
});
