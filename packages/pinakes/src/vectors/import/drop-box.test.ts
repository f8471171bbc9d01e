import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../domain/json.ts";
import { tenantScope } from "../../domain/scope.ts";
import type { DeadLetter } from "../../ports/queue.ts";
import { vectorLimits } from "../limits.ts";
import { announceDelta, dropBoxQueue } from "./drop-box.ts";
import { Box, row } from "./test-drop-box.ts";
import { acme } from "./test-support.ts";

describe.each(["memory", "sqlite"] as const)("drop-box on %s", (engine) => {
  it("an object under delta/ and a message: its rows are searchable, and the message is done", async () => {
    await using box = await Box.open(engine);
    await box.put("delta/1.jsonl", [row("a"), row("b"), { id: "b", op: "delete" }, row("c", "computable", [3, 1])]);
    await box.put("delta/2/x.ndjson", [row("n", "note")]);
    await box.send({ delta_key: "delta/1.jsonl" });
    await announceDelta(box.queue, acme, { deltaKey: "delta/2/", collection: "notes" });
    expect(await box.round({ collection: "papers" })).toEqual({ done: 2, failed: 0, released: 0, lost: 0 });
    expect(await box.texts()).toEqual(["a", "computable"]);
    expect(await box.texts("notes")).toEqual(["note"]);
    const { hits } = await box.vectors.query(acme, "papers", { text: "computable", vector: [3, 1], limit: 1 });
    expect(hits).toMatchObject([{ id: "c" }]);
    expect(await box.round()).toEqual({ done: 0, failed: 0, released: 0, lost: 0 });
  });

  it("R-CMP-03 the same delta again, also after newer writes and after years, changes nothing; other content under its key is rejected", async () => {
    await using box = await Box.open(engine);
    await box.put("delta/1.jsonl", [row("a"), row("b")]);
    await box.send({ delta_key: "delta/1.jsonl", collection: "papers" });
    await box.drain();
    await box.vectors.append(acme, "papers", { upsert: [row("a", "newer")] });
    const { lastSeq } = await box.vectors.stats(acme, "papers");
    for (const days of [0, 800]) {
      box.clock.advance(days * 86_400_000);
      await box.send({ delta_key: "delta/1.jsonl", collection: "papers" });
      await box.drain();
    }
    expect(await box.texts()).toEqual(["newer", "b"]);
    // The same rows, formatted differently, are the same content.
    await box.objects.put(
      acme,
      "delta/1.jsonl",
      Buffer.from('{"text":"a","vector":[1.0,2],"id":"a"}\r\n\n{"embedding":[1,2],"document":"b","id":"b"}\n'),
    );
    await box.send({ delta_key: "delta/1.jsonl", collection: "papers" });
    await box.drain();
    expect((await box.vectors.stats(acme, "papers")).lastSeq).toBe(lastSeq);
    expect(await box.dead()).toEqual([]);
    await box.put("delta/1.jsonl", [row("a", "overwritten"), row("b")]);
    await box.send({ delta_key: "delta/1.jsonl", collection: "papers" });
    await box.drain();
    expect(await box.texts()).toEqual(["newer", "b"]);
    expect((await box.dead())[0]?.reason).toMatch(
      /^CONFLICT: delta\/1\.jsonl: was imported before, with other content\. .*under a new key/,
    );
  });

  it("R-CMP-09 after 5 failures a message is a dead letter with its reason; other groups continue meanwhile, its own afterwards", async () => {
    await using box = await Box.open(engine);
    await box.put("delta/bad.jsonl", [row("a"), { id: "b", vector: [1, 2, 3] }]);
    await box.put("delta/good.jsonl", [row("c")]);
    await box.put("delta/note.jsonl", [row("n")]);
    await box.send({ delta_key: "delta/bad.jsonl", collection: "papers" });
    await box.send({ delta_key: "delta/good.jsonl", collection: "papers" });
    await box.send({ delta_key: "delta/note.jsonl", collection: "notes" }, "notes");
    expect(await box.round()).toEqual({ done: 1, failed: 1, released: 0, lost: 0 });
    expect(await box.texts("notes")).toEqual(["n"]);
    for (let failure = 2; failure <= 5; failure += 1) {
      expect(await box.texts()).toEqual([]);
      box.clock.advance(60_000);
      expect(await box.round()).toMatchObject({ done: 0, failed: 1 });
    }
    await box.drain();
    expect(await box.texts()).toEqual(["c"]);
    const reason = expect.stringMatching(
      /^INVALID: delta\/bad\.jsonl line 2: vector: has 3 numbers; this collection's vectors have 2/,
    ) as unknown;
    expect(await box.dead()).toMatchObject([
      { cause: "failed", failures: 5, reason, body: { delta_key: "delta/bad.jsonl" } },
    ]);
    // Fixed and sent again, it is imported: nothing of it had been.
    const [dead] = await box.dead();
    await box.put("delta/bad.jsonl", [row("a"), row("b")]);
    await box.queue.dead.redrive(acme, dropBoxQueue, dead as DeadLetter);
    await box.drain();
    expect(await box.texts()).toEqual(["a", "b", "c"]);
  });

  it("R-CMP-09 throttled, or a store that does not answer: released, which counts nothing", async () => {
    await using box = await Box.open(engine);
    await box.put("delta/1.jsonl", [row("a"), row("b"), row("c")]);
    await box.send({ delta_key: "delta/1.jsonl", collection: "papers" });
    for (let i = 0; i < 12; i += 1) {
      box.faults.add(
        i % 2 === 0
          ? { call: "stream", nth: 1, kind: "fail" }
          : { call: "put", nth: 2, kind: i % 4 === 1 ? "fail" : "fail-after" },
      );
      expect(await box.round({ partRowsMax: 1 })).toEqual({ done: 0, failed: 0, released: 1, lost: 0 });
      box.clock.advance(60_000);
    }
    const pending = (await box.vectors.stats(acme, "papers")).pendingDeltas;
    await Promise.all(
      Array.from({ length: vectorLimits.pendingDeltasMax - pending }, () =>
        box.vectors.append(acme, "papers", { upsert: [row("z")] }),
      ),
    );
    await box.put("delta/2.jsonl", [row("d")]);
    await box.send({ delta_key: "delta/2.jsonl", collection: "papers" }, "another");
    for (let i = 0; i < 7; i += 1) {
      expect(await box.round()).toMatchObject({ failed: 0, released: i === 0 ? expect.any(Number) : 1 });
      box.clock.advance(60_000);
    }
    await box.vectors.compact(acme, "papers");
    await box.drain();
    expect(await box.texts()).toEqual(["a", "b", "c", "d", "z"]);
    expect(await box.dead()).toEqual([]);
  });

  it("another tenant's messages and objects are unreachable", async () => {
    await using box = await Box.open(engine);
    const other = tenantScope("other");
    await box.put("delta/1.jsonl", [row("a")]);
    await box.vectors.create(other, "papers", { dims: 2 });
    await box.queue.send(other, dropBoxQueue, {
      group: "papers",
      body: { delta_key: "delta/1.jsonl", collection: "papers" },
    });
    expect(await box.round()).toMatchObject({ done: 0, failed: 0 });
    expect(await box.round({}, other)).toMatchObject({ failed: 1 });
    expect(box.logged[0]).toMatch(/NOT_FOUND: delta\/1\.jsonl/);
  });
});

describe("drop-box: invalid messages", () => {
  it.each<[string, JsonValue, RegExp]>([
    [
      "a collection that does not exist",
      { delta_key: "delta/1.jsonl", collection: "nobody" },
      /^NOT_FOUND: .*"nobody"/,
    ],
    ["no collection", { delta_key: "delta/1.jsonl" }, /^INVALID: collection: is missing/],
    [
      "no such object",
      { delta_key: "delta/none.jsonl", collection: "papers" },
      /^NOT_FOUND: delta\/none\.jsonl: there is no such object\. Upload it completely/,
    ],
    [
      "no such directory",
      { delta_key: "delta/none/", collection: "papers" },
      /^NOT_FOUND: delta\/none\/: there is no such object/,
    ],
    [
      "a malformed line",
      { delta_key: "delta/torn.jsonl", collection: "papers" },
      /^INVALID: delta\/torn\.jsonl line 2: is not JSON/,
    ],
    [
      "wrong dims",
      { delta_key: "delta/dims.jsonl", collection: "papers" },
      /^INVALID: delta\/dims\.jsonl line 1: vector: has 3 numbers/,
    ],
    [
      "Parquet",
      { delta_key: "delta/old/", collection: "papers" },
      /^NOT_SUPPORTED: delta\/old\/embeddings\.parquet: .*Convert them to NDJSON/,
    ],
    [
      "a key outside of delta/",
      { delta_key: "vectors/papers/HEAD.json", collection: "papers" },
      /^INVALID: delta_key: must be a key under delta\//,
    ],
    ["a key that escapes", { delta_key: "delta/../vectors/x.jsonl", collection: "papers" }, /^INVALID: key: /],
    [
      "another field",
      { delta_key: "delta/1.jsonl", colection: "papers" },
      /^INVALID: The message has "colection", which is unknown/,
    ],
    ["no object at all", "delta/1.jsonl", /^INVALID: The message must be an object/],
  ])("a readable reason: %s", async (_, body, reason) => {
    await using box = await Box.open("memory");
    await box.put("delta/1.jsonl", [row("a")]);
    await box.put("delta/dims.jsonl", [row("a", "a", [1, 2, 3])]);
    await box.objects.put(acme, "delta/torn.jsonl", Buffer.from('{"id":"a","vector":[1,2]}\n{"id":"b","vec'));
    await box.objects.put(acme, "delta/old/embeddings.parquet", Buffer.from("PAR1"));
    await box.send(body);
    await box.drain();
    const [dead] = await box.dead();
    expect(dead?.reason).toMatch(reason);
    expect(box.logged).toHaveLength(5);
    expect(await box.texts()).toEqual([]);
  });
});
