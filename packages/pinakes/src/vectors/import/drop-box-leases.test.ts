import { describe, expect, it } from "vitest";
import { PinakesError } from "../../domain/errors.ts";
import { announceDelta, dropBoxQueue, type DropBoxDependencies } from "./drop-box.ts";
import { Box, row } from "./test-drop-box.ts";
import { acme, chromaFiles, putFiles, refusal } from "./test-support.ts";

describe("drop-box: leases", () => {
  it("the lease is extended while a delta is processed, so no other worker gets it", async () => {
    await using box = await Box.open("memory");
    await box.put("delta/1.jsonl", [row("a")]);
    await box.send({ delta_key: "delta/1.jsonl", collection: "papers" });
    const held = Promise.withResolvers<void>();
    box.faults.add({ call: "put", nth: 2, kind: "delay", until: held.promise });
    let beats = 0;
    const { queue } = box;
    const counting: DropBoxDependencies["queue"] = {
      receive: (...values) => queue.receive(...values),
      done: (...values) => queue.done(...values),
      failed: (...values) => queue.failed(...values),
      release: (...values) => queue.release(...values),
      heartbeat: async (...values) => {
        await queue.heartbeat(...values);
        beats += 1;
      },
    };
    const first = box.round({ leaseMs: 150 }, acme, counting);
    for (let i = 0; i < 4; i += 1) {
      const seen = beats;
      await expect.poll(() => beats).toBeGreaterThan(seen + 1);
      box.clock.advance(100);
      expect(await box.round()).toEqual({ done: 0, failed: 0, released: 0, lost: 0 });
    }
    held.resolve();
    expect(await first).toMatchObject({ done: 1 });
    expect(await box.texts()).toEqual(["a"]);
  });

  it("a worker that stalls beyond its lease loses the message to another, and its later calls change nothing", async () => {
    await using box = await Box.open("memory");
    await box.put("delta/1.jsonl", [row("a"), row("b")]);
    await box.send({ delta_key: "delta/1.jsonl", collection: "papers" });
    const held = Promise.withResolvers<void>();
    box.faults.add({ call: "put", nth: 3, kind: "delay", until: held.promise });
    const stalled = box.round({ partRowsMax: 1 });
    await expect.poll(() => box.faults.pending).toBe(0);
    box.clock.advance(61_000);
    expect(await box.round({ owner: "second", partRowsMax: 1 })).toMatchObject({ done: 1 });
    await box.vectors.append(acme, "papers", { upsert: [row("a", "newer"), row("b", "newer")] });
    held.resolve();
    expect(await stalled).toEqual({ done: 0, failed: 0, released: 0, lost: 1 });
    expect(await box.texts()).toEqual(["newer", "newer"]);
  });

  it("a stopping process returns its messages unprocessed, and the next one continues where it stopped", async () => {
    await using box = await Box.open("memory");
    await box.put("delta/1.jsonl", [row("a"), row("b"), row("c")]);
    await box.send({ delta_key: "delta/1.jsonl", collection: "papers" });
    const stopping = new AbortController();
    const held = Promise.withResolvers<void>();
    box.faults.add({ call: "put", nth: 3, kind: "delay", until: held.promise });
    const round = box.round({ partRowsMax: 1, signal: stopping.signal });
    await expect.poll(() => box.faults.pending).toBe(0);
    stopping.abort();
    held.resolve();
    expect(await round).toEqual({ done: 0, failed: 0, released: 1, lost: 0 });
    expect(await box.texts()).toEqual(["a"]);
    await box.drain();
    expect(await box.texts()).toEqual(["a", "b", "c"]);
    expect((await box.vectors.stats(acme, "papers")).lastSeq).toBe(3);
    expect(await box.round({ signal: stopping.signal, waitMs: 60_000 })).toEqual({
      done: 0,
      failed: 0,
      released: 0,
      lost: 0,
    });
  });

  it("a queue that does not answer at the end of one message: the others are ended nevertheless, and that one is delivered again", async () => {
    await using box = await Box.open("memory");
    const { queue } = box;
    for (const name of ["papers", "notes"]) {
      await box.put(`delta/${name}.jsonl`, [row("a")]);
      await box.send({ delta_key: `delta/${name}.jsonl`, collection: name }, name);
    }
    let failures = 0;
    const faulty: DropBoxDependencies["queue"] = {
      receive: (...values) => queue.receive(...values),
      failed: (...values) => queue.failed(...values),
      release: (...values) => queue.release(...values),
      heartbeat: (...values) => queue.heartbeat(...values),
      done: async (...values) => {
        if ((failures += 1) === 1) throw new PinakesError("UNAVAILABLE", "no answer");
        await queue.done(...values);
      },
    };
    expect(await refusal(() => box.round({}, acme, faulty))).toMatchObject({ code: "UNAVAILABLE" });
    expect(await box.queue.stats(acme, dropBoxQueue)).toMatchObject({ ready: 0, inFlight: 1 });
    box.clock.advance(61_000);
    expect(await box.round()).toMatchObject({ done: 1 });
    expect([await box.texts("papers"), await box.texts("notes")]).toEqual([["a"], ["a"]]);
  });

  it("a Chroma directory written by Chroma is imported; other files in it are reported", async () => {
    await using box = await Box.open("memory");
    await box.vectors.create(acme, "docs", { dims: 8, metric: "l2" });
    await putFiles(box.objects, acme, "delta/2025-08-02T08-05-27Z/", await chromaFiles("hnsw-l2"));
    await box.put("delta/2025-08-02T08-05-27Z/notes.txt", []);
    await box.send({ delta_key: "delta/2025-08-02T08-05-27Z/" });
    expect(await box.round({ collection: "docs" })).toMatchObject({ done: 1 });
    expect(await box.texts("docs")).toHaveLength(58);
    expect(box.logged).toEqual([
      "drop-box: not read beside delta/2025-08-02T08-05-27Z/: delta/2025-08-02T08-05-27Z/notes.txt",
    ]);
    expect(await refusal(() => announceDelta(box.queue, acme, { deltaKey: "snapshot/x" }))).toMatchObject({
      code: "INVALID",
    });
  });
});
