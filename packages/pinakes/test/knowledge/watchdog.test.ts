/** The watchdog, which resumes stuck work and removes nothing too early, on a clock under the test's control. */
import { beforeEach, describe, expect, it } from "vitest";
import { uploadLeaseMs } from "../../src/knowledge/documents/upload-state.ts";
import { indexingDeadMs, pendingLateMs, uploadDeadMs } from "../../src/knowledge/ingest/watchdog.ts";
import type { Machine, Process } from "./support/machine.ts";
import { OneCollection } from "./support/one-collection.ts";
import { recount, texts, type Place } from "./support/test-pinakes.ts";
import { forEachTest } from "../support/for-tests.ts";

const day = 86_400_000;
let machine: Machine;
let process: Process;
let place: Place;
const one = forEachTest(() => OneCollection.open());
beforeEach(async () => {
  ({ machine, process, place } = one);
});

const send: OneCollection["send"] = (...given) => one.send(...given);
const only = async () => (await process.knowledge.documents.list(machine.admin, "kb", place.collection)).items[0];

/** A process that dies where the condition says, during an upload. */
async function dyingUpload(at: (call: string) => boolean): Promise<void> {
  const dying = await machine.process();
  dying.calls.add({ at, kind: "crash-before" });
  void send("half.txt", "never to be seen", { from: dying });
  await dying.calls.died;
}

describe("uploads and ingestions that died", () => {
  it("R-KB-25 an upload is left alone until it has been silent for two minutes, and has failed one millisecond later", async () => {
    await dyingUpload((call) => call === "objects.put");
    machine.now += uploadDeadMs;
    await process.sweep();
    expect((await only())?.status).toBe("uploading");
    machine.now += 1;
    await process.sweep();
    expect(await only()).toMatchObject({ status: "failed", error: expect.stringContaining("was interrupted") });
    const { told, counted } = await recount(place);
    expect(told).toEqual(counted);
  });

  it("R-KB-25 a retry is refused during the lease of the dead upload, then takes it over, and nothing of it remains", async () => {
    let batches = 0;
    await dyingUpload((call) => call === "items.batch" && (batches += 1) === 4);
    machine.now += uploadLeaseMs - 1;
    const early = await send("half.txt", "words about otters").catch((error: unknown) => error);
    expect(early).toMatchObject({ code: "CONFLICT", retryable: true, retryAfterMs: 1 });
    machine.now += 1;
    const taken = await send("half.txt", "words about otters");
    expect(taken).toMatchObject({ status: "pending" });
    await process.work();
    expect(await only()).toMatchObject({ document_id: taken.document_id, status: "indexed" });
    expect(await texts(place, "otters")).toEqual(["words about otters"]);
    // An existing document is not a dead upload.
    await expect(send("half.txt", "other words")).rejects.toMatchObject({ code: "CONFLICT", retryable: false });
    const { incarnation } = await place.knowledge.collections.get(place.caller, "kb", place.collection);
    const { keys } = await machine.objects.list(place.caller.scope, `knowledge/${incarnation}/`);
    expect(keys.filter(({ key }) => key.endsWith("/content"))).toHaveLength(1);
    const { told, counted } = await recount(place);
    expect(told).toEqual(counted);
  });

  it("R-KB-25 uncommitted bytes are removed with the upload that died", async () => {
    let batches = 0;
    await dyingUpload((call) => call === "items.batch" && (batches += 1) === 4);
    const { incarnation } = await place.knowledge.collections.get(place.caller, "kb", place.collection);
    const keys = async () => (await machine.objects.list(place.caller.scope, `knowledge/${incarnation}/`)).keys;
    expect(await keys()).toHaveLength(1);
    machine.now += uploadDeadMs + 1;
    await process.sweep();
    expect((await only())?.status).toBe("failed");
    expect(await keys()).toEqual([]);
  });

  it("R-KB-25 a lost message is resent after half a minute, and a dead worker is replaced after ten", async () => {
    const silent = await machine.process();
    silent.calls.add({ at: (call) => call === "vectors.append", kind: "crash-before" });
    const { document_id } = await send("a.txt", "words about otters");
    void silent.work();
    await silent.calls.died;
    expect((await only())?.status).toBe("indexing");
    machine.now += indexingDeadMs + 1;
    await process.sweep();
    await process.work();
    expect(await only()).toMatchObject({ document_id, status: "indexed", attempts: 2 });
    expect(await texts(place, "otters")).toEqual(["words about otters"]);

    const lossy = await machine.process();
    let sends = 0;
    // The queue's own writes follow the third batch of an upload: fence and counters, the record, the commit.
    lossy.calls.add({
      at: (call) => (call === "items.batch" || call === "items.write") && (sends += 1) > 4,
      kind: "error-before",
      always: true,
    });
    const lost = await send("b.txt", "words about badgers", { from: lossy });
    expect(lost.status).toBe("pending");
    await process.work();
    expect((await only())?.status).toBe("pending");
    machine.now += pendingLateMs + 1;
    await process.sweep();
    await process.work();
    expect(await only()).toMatchObject({ document_id: lost.document_id, status: "indexed" });
  });

  it("R-KB-25 an upload that died in a collection archived since has failed, too; waiting documents continue when it is active again", async () => {
    await dyingUpload((call) => call === "objects.put");
    machine.now += 1;
    await send("waits.txt", "words that wait");
    await process.knowledge.collections.archive(machine.admin, "kb", place.collection);
    machine.now += uploadDeadMs + 1;
    await process.sweep();
    await process.work();
    const states = async () =>
      (await process.knowledge.documents.list(machine.admin, "kb", place.collection)).items.map(({ status }) => status);
    expect(await states()).toEqual(["pending", "failed"]);
    await process.knowledge.collections.unarchive(machine.admin, "kb", place.collection);
    await process.sweep();
    await process.work();
    expect(await states()).toEqual(["indexed", "failed"]);
  });

  it("R-LISA-52 ingestions in progress when a collection was deleted continue after its restore", async () => {
    await send("waits.txt", "words that wait");
    await process.knowledge.collections.delete(machine.admin, "kb", place.collection);
    await process.work();
    machine.now += 3_600_000;
    await process.sweep();
    await process.knowledge.collections.restore(machine.admin, "kb", place.collection);
    machine.now += 3_600_000;
    await process.sweep();
    await process.work();
    expect((await only())?.status).toBe("indexed");
    expect(await texts(place, "words")).toEqual(["words that wait"]);
  });

  it("R-KB-25 a document whose attempts all fail has failed after five, with the last reason", async () => {
    await send("a.txt", "words that cannot be stored");
    process.calls.add({
      at: (call) => call === "vectors.append",
      kind: "error-before",
      always: true,
      error: new Error("disk on fire"),
    });
    for (let i = 0; i < 5; i += 1) {
      await process.work();
      expect((await only())?.attempts).toBe(i + 1);
      machine.now += 120_000;
    }
    expect(await only()).toMatchObject({ status: "failed", error: expect.stringMatching(/5 attempts.*disk on fire/) });
    process.calls.clear();
    await process.knowledge.documents.reindex(
      machine.admin,
      "kb",
      place.collection,
      (await only())?.document_id as string,
    );
    await process.work();
    expect(await only()).toMatchObject({ status: "indexed", error: null });
  });
});

describe("deleted collections", () => {
  it("R-LISA-51 R-LISA-42 a deleted collection is purged after 90 days and not earlier, with everything below it", async () => {
    await send("a.txt", "words about otters");
    await process.work();
    const { incarnation, updated_at } = await place.knowledge.collections.get(place.caller, "kb", place.collection);
    machine.now += 1_000;
    await process.knowledge.collections.delete(machine.admin, "kb", place.collection);
    const deleted = await process.knowledge.collections.get(machine.admin, "kb", place.collection, { deleted: true });
    expect(deleted).toMatchObject({
      status: "DELETED",
      deleted_at: new Date(machine.now).toISOString(),
      purge_at: new Date(machine.now + 90 * day).toISOString(),
    });
    expect(deleted.updated_at > updated_at).toBe(true);
    machine.now += 90 * day - 1;
    await process.sweep();
    await machine.vectors.sweep();
    expect((await process.knowledge.collections.list(machine.admin, { status: "DELETED" })).items).toHaveLength(1);
    await process.knowledge.collections.restore(machine.admin, "kb", place.collection);
    expect(await texts(place, "otters")).toEqual(["words about otters"]);
    await process.knowledge.collections.delete(machine.admin, "kb", place.collection);
    machine.now += 90 * day;
    await process.sweep();
    await process.sweep();
    const left = async () => ({
      collections: (await process.knowledge.collections.list(machine.admin, { status: "all" })).items.map(
        ({ name }) => name,
      ),
      objects: (await machine.objects.list(machine.admin.scope, `knowledge/${incarnation}/`)).keys.length,
      // All but the fence, which refuses late writes permanently.
      documents:
        (await machine.items.query(machine.admin.scope, "documents", { equals: { repository_id: "kb", incarnation } }))
          .items.length - 1,
    });
    await expect.poll(left).toEqual({ collections: ["Default Collection"], objects: 0, documents: 0 });
    await expect(machine.vectors.vectors.count(machine.admin.scope, `${incarnation}.1`)).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });

  it("R-LISA-52 a restore between a purge's due time and its start wins", async () => {
    await send("a.txt", "words about otters");
    await process.work();
    await process.knowledge.collections.delete(machine.admin, "kb", place.collection);
    machine.now += 90 * day;
    // The purge has read the record; it continues after the restore, and its batch fails on the changed record.
    const held = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const purging = await machine.process();
    let reads = 0;
    purging.calls.add({
      at: (call) => call === "items.read collections" && (reads += 1) === 2,
      kind: "hold-after",
      until: held.promise,
      reached: () => reached.resolve(),
    });
    const sweeping = purging.sweep();
    await reached.promise;
    await expect(process.knowledge.collections.restore(machine.admin, "kb", place.collection)).rejects.toMatchObject({
      code: "GONE",
    });
    // A process whose clock is a second behind.
    machine.now -= 1_000;
    await process.knowledge.collections.restore(machine.admin, "kb", place.collection);
    machine.now += 1_000;
    held.resolve();
    await sweeping;
    expect((await process.knowledge.jobs.list(machine.admin)).items.filter(({ kind }) => kind === "purge")).toEqual([]);
    expect((await process.knowledge.operations.list(machine.admin)).items).toEqual([]);
    await purging.close();
    expect(await texts(place, "otters")).toEqual(["words about otters"]);
  });

  it("R-LISA-52 a delete whose process died at its very end does not delete again what was restored since", async () => {
    await send("a.txt", "words about otters");
    await process.work();
    const dying = await machine.process();
    let deleted = false;
    // The vectors are deleted last; the write after that would finish the job.
    dying.calls.add({
      at: (call) => (deleted ||= call === "vectors.delete") && call === "items.write",
      kind: "crash-before",
    });
    void dying.knowledge.collections.delete(machine.admin, "kb", place.collection);
    await dying.calls.died;
    expect(
      (await process.knowledge.collections.get(machine.admin, "kb", place.collection, { deleted: true })).status,
    ).toBe("DELETED");
    machine.now += 1_000;
    await process.knowledge.collections.restore(machine.admin, "kb", place.collection);
    machine.now += 600_000;
    await process.sweep();
    expect(await texts(place, "otters")).toEqual(["words about otters"]);
    const { items } = await process.knowledge.jobs.list(machine.admin);
    const outcomes = items
      .filter(({ kind }) => kind === "restore" || kind === "delete")
      .map(({ kind, status }) => [kind, status]);
    expect(outcomes).toEqual([
      ["restore", "succeeded"],
      ["delete", "succeeded"],
    ]);
  });

  it("R-LISA-52 of several concurrent restores, in two processes, none harms the other", async () => {
    await send("a.txt", "words about otters");
    await process.work();
    const second = await machine.process();
    for (let round = 0; round < 5; round += 1) {
      await process.knowledge.collections.delete(machine.admin, "kb", place.collection);
      machine.now += 1_000;
      const restoring = [process, second, process, second].map(({ knowledge }) =>
        knowledge.collections.restore(machine.admin, "kb", place.collection),
      );
      expect((await Promise.allSettled(restoring)).some(({ status }) => status === "fulfilled")).toBe(true);
      expect(await texts(place, "otters")).toEqual(["words about otters"]);
    }
    await second.close();
    const count = await machine.items.read(machine.admin.scope, "collections", { partition: ["kb"], id: "count" });
    expect(count?.document["collections"]).toBe(2);
  });

  it("R-LISA-52 a restore clears the purge time: the collection outlives it", async () => {
    await send("a.txt", "words about otters");
    await process.work();
    await process.knowledge.collections.delete(machine.admin, "kb", place.collection);
    machine.now += 89 * day;
    expect(await process.knowledge.collections.restore(machine.admin, "kb", place.collection)).toMatchObject({
      status: "ACTIVE",
      deleted_at: null,
      purge_at: null,
    });
    machine.now += 30 * day;
    await process.sweep();
    await machine.vectors.sweep();
    await process.sweep();
    expect(await texts(place, "otters")).toEqual(["words about otters"]);
  });
});
