/** Counters and the state of a collection, step by step, with every call under the test's control. */
import { beforeEach, describe, expect, it } from "vitest";
import type { Machine, Process } from "./support/machine.ts";
import { OneCollection } from "./support/one-collection.ts";
import { recount, walk, type Place } from "./support/test-pinakes.ts";
import { forEachTest } from "../support/for-tests.ts";

let machine: Machine;
let process: Process;
let place: Place;
const one = forEachTest(() => OneCollection.open());
beforeEach(async () => {
  ({ machine, process, place } = one);
});

const send: OneCollection["send"] = (...given) => one.send(...given);
const view = () => process.knowledge.collections.get(machine.admin, "kb", place.collection);
const status = async () => (await view()).indexing_status;

describe("the state of a collection", () => {
  it("R-KB-14 R-KB-15 R-KB-16 pending, indexing, ready, error and back: ready only if all are indexed, error while one has failed", async () => {
    expect(await status()).toBe("pending");
    await process.work();
    expect(await status()).toBe("pending");
    const good = await send("good.txt", "good words");
    expect(await status()).toBe("indexing");
    await process.work();
    expect(await status()).toBe("ready");
    const bad = await send("bad.pdf", "%PDF-1.4 nonsense");
    expect(await status()).toBe("indexing");
    await process.work();
    expect(await status()).toBe("error");
    await process.knowledge.documents.reindex(machine.admin, "kb", place.collection, bad.document_id);
    expect(await status()).toBe("indexing");
    await process.work();
    expect(await status()).toBe("error");
    await process.knowledge.documents.delete(machine.admin, "kb", place.collection, bad.document_id);
    expect(await status()).toBe("ready");
    await send("good.txt", "better words", { replace: true });
    expect(await status()).toBe("indexing");
    await process.work();
    expect(await status()).toBe("ready");
    // Emptied, it stays, and shows that it is empty.
    await process.knowledge.documents.delete(machine.admin, "kb", place.collection, good.document_id);
    expect(await view()).toMatchObject({ status: "ACTIVE", document_count: 0, total_size_bytes: 0, chunk_count: 0 });
  });

  it("R-KB-47 an upload during another document's ingestion waits, and is indexed next; so is the same document again", async () => {
    const held = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    process.calls.add({
      at: (call) => call === "vectors.append",
      kind: "hold",
      until: held.promise,
      reached: () => reached.resolve(),
    });
    const first = await send("first.txt", "first words");
    const working = process.work();
    await reached.promise;
    const second = await send("second.txt", "second words");
    await send("first.txt", "first words, improved", { replace: true });
    held.resolve();
    await working;
    await process.work();
    const found = async (id: string) => process.knowledge.documents.get(machine.admin, "kb", place.collection, id);
    expect(await found(first.document_id)).toMatchObject({ status: "indexed", version: 2, live_version: 2 });
    expect(await found(second.document_id)).toMatchObject({ status: "indexed" });
    const { incarnation, chunk_count } = await view();
    expect(await machine.vectors.vectors.count(machine.admin.scope, `${incarnation}.1`)).toBe(chunk_count);
  });

  it("R-KB-26 a chunk has the model's number of 32-bit floats, with its text and owner; another number is refused", async () => {
    const { document_id } = await send("a.txt", "words about otters");
    await process.work();
    const { incarnation } = await view();
    const name = `${incarnation}.1`;
    const { vectors } = machine.vectors;
    const [row] = await vectors.get(machine.admin.scope, name, [`${document_id}.1.0`]);
    expect(row?.vector).toBeInstanceOf(Float32Array);
    expect(row?.vector).toHaveLength(384);
    expect(row).toMatchObject({
      text: "words about otters",
      metadata: { filename: "a.txt", user_id: "root", catalog_id: place.collection, document_id },
    });
    for (const dims of [383, 385, 1_024])
      await expect(
        vectors.append(machine.admin.scope, name, { upsert: [{ id: "x", vector: new Float32Array(dims).fill(1) }] }),
      ).rejects.toMatchObject({
        code: "INVALID",
      });
  });
});

describe("counters", () => {
  it("R-KB-13 a recount finds counters that drifted, and corrects them", async () => {
    await send("a.txt", "words");
    await send("b.txt", "more words");
    await process.work();
    const { incarnation } = await view();
    const usage = (repair: boolean) =>
      process.knowledge.collections.usage(machine.admin, "kb", place.collection, { repair });
    expect(await usage(false)).toMatchObject({ consistent: true, document_count: 2 });
    await machine.items.write(machine.admin.scope, "documents", ["kb", incarnation], {
      op: "patch",
      id: "stats",
      patch: [
        { op: "incr", path: "/document_count", value: 5 },
        { op: "incr", path: "/by_status/failed", value: 5 },
      ],
    });
    expect(await usage(false)).toMatchObject({
      consistent: false,
      document_count: 7,
      recounted: { document_count: 2 },
    });
    expect(await usage(true)).toMatchObject({ repaired: true, document_count: 2 });
    expect(await usage(false)).toMatchObject({ consistent: true, document_count: 2 });
    expect(await status()).toBe("ready");
  });

  it("R-LISA-31 the count of a collection larger than any page or batch is exact, and equals the length of the list", async () => {
    const count = 5_000;
    for (let at = 0; at < count; at += 50)
      await Promise.all(Array.from({ length: 50 }, (_, i) => send(`f${at + i}.txt`, `${at + i}`)));
    expect((await view()).document_count).toBe(count);
    const listed = await walk((cursor) =>
      process.knowledge.documents.list(machine.admin, "kb", place.collection, { limit: 100, cursor }),
    );
    expect(new Set(listed.map(({ document_id }) => document_id)).size).toBe(count);
    const { told, counted } = await recount(place);
    expect(told).toEqual(counted);
    expect(await process.knowledge.collections.usage(machine.admin, "kb", place.collection)).toMatchObject({
      consistent: true,
      document_count: count,
    });
  });
});
