import { describe, expect, it } from "vitest";
import { scope } from "./support/machine.ts";
import { codeOf, line, rowsOf } from "./support/state.ts";
import type { Fixture } from "./suite.ts";

const v = (x: number): number[] => [x, 1];

export function writeCases(fixture: Fixture): void {
  describe("writing", () => {
    it("R-CMP-34 a collection is created once; the same settings again are idempotent, others are a conflict", async () => {
      const { first, second } = fixture;
      const id = fixture.id();
      await first.create(scope, id, { dims: 2 });
      await second.create(scope, id, { dims: 2 });
      expect(await codeOf(second.create(scope, id, { dims: 3 }))).toBe("CONFLICT");
      expect(await second.stats(scope, id)).toMatchObject({
        settings: { dims: 2, metric: "cosine", language: "english" },
        liveRows: 0,
        lastSeq: 0,
      });
      expect(await rowsOf(second, id)).toEqual([]);
      expect((await second.list(scope, { limit: 500 })).collections.some(({ collection }) => collection === id)).toBe(
        true,
      );
    });

    it("R-CMP-06 R-CMP-34 upsert replaces, patch merges and null clears, delete removes; the last write wins, before and after compaction", async () => {
      const { first, second } = fixture;
      const id = fixture.id();
      await first.create(scope, id, { dims: 2, metric: "dot" });
      await first.append(scope, id, {
        upsert: [
          { id: "a", vector: v(1), text: "one", metadata: { keep: 1, clear: 2, deep: { x: 1 } } },
          { id: "b", vector: v(2), text: "two", metadata: { n: 1 } },
          { id: "c", vector: v(3) },
          { id: "ä/ß 日本", vector: v(4), text: "" },
        ],
      });
      await first.append(scope, id, {
        patch: [{ id: "a", metadata: { clear: null, more: null, deep: { y: 2 }, list: [1, null] } }],
      });
      await first.append(scope, id, { upsert: [{ id: "b", vector: v(20) }], delete: ["c", "never there"] });
      await first.append(scope, id, {
        patch: [
          { id: "c", metadata: { gone: true } },
          { id: "never there", metadata: { n: 1 } },
        ],
      });
      await first.append(scope, id, { patch: [{ id: "b", metadata: { n: 5 } }] });
      const expected = [
        line("a", v(1), "one", { deep: { y: 2 }, keep: 1, list: [1, null] }),
        line("b", v(20), undefined, { n: 5 }),
        line("ä/ß 日本", v(4), undefined, {}), // An empty text counts as none.
      ];
      expect(await rowsOf(second, id)).toEqual(expected);
      expect(await second.compact(scope, id)).toMatchObject({ outcome: "done", folds: 1 });
      expect(await rowsOf(first, id)).toEqual(expected);
      expect(await first.count(scope, id)).toBe(3);
      expect((await first.get(scope, id, ["c", "b", "nope"])).map((row) => row?.id)).toEqual([
        undefined,
        "b",
        undefined,
      ]);
      expect((await first.fsck(scope, id)).findings).toEqual([]);
    });

    it("R-CMP-06 in one delta upserts come first, then patches, then deletes; a repeated id is reported", async () => {
      const { first } = fixture;
      const id = fixture.id();
      await first.create(scope, id, { dims: 2, metric: "dot" });
      const result = await first.append(scope, id, {
        upsert: [
          { id: "a", vector: v(1), metadata: { n: 1 } },
          { id: "a", vector: v(2), metadata: { m: 1 } },
          { id: "b", vector: v(1) },
        ],
        patch: [{ id: "a", metadata: { p: 1 } }],
        delete: ["b"],
      });
      expect([...result.duplicates].sort()).toEqual(["a", "b"]);
      expect(await rowsOf(first, id)).toEqual([line("a", v(2), undefined, { m: 1, p: 1 })]);
    });

    it("R-CMP-01 R-CMP-05 many producers in two processes at once: every delta exists once, seqs have no gap and follow the commits", async () => {
      const { first, second } = fixture;
      const id = fixture.id();
      await first.create(scope, id, { dims: 2, metric: "dot" });
      const producers = Array.from({ length: 8 }, async (_, p) => {
        const seqs: number[] = [];
        for (let i = 0; i < 4; i += 1) {
          const { seq } = await (p % 2 === 0 ? first : second).append(scope, id, {
            upsert: [
              { id: `p${p}.${i}`, vector: v(i) },
              { id: "shared", vector: v(p * 10 + i + 1) },
            ],
          });
          seqs.push(seq);
        }
        return seqs;
      });
      const compacting = second.compact(scope, id);
      const all = await Promise.all(producers);
      await compacting;
      for (const seqs of all) expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
      const sorted = all.flat().toSorted((a, b) => a - b);
      expect(sorted).toEqual(Array.from({ length: 32 }, (_, i) => i + 1));
      const last = all
        .flatMap((seqs, p) => seqs.map((seq, i) => ({ seq, x: p * 10 + i + 1 })))
        .find(({ seq }) => seq === 32)?.x;
      for (const reader of [first, second]) {
        expect(await reader.count(scope, id)).toBe(33);
        expect((await reader.get(scope, id, ["shared"]))[0]?.vector[0]).toBe(last);
      }
      expect(await first.compact(scope, id)).toMatchObject({ outcome: "done" });
      expect((await first.get(scope, id, ["shared"]))[0]?.vector[0]).toBe(last);
      expect(await second.stats(scope, id)).toMatchObject({
        lastSeq: 32,
        appliedSeq: 32,
        pendingDeltas: 0,
        liveRows: 33,
      });
    });

    it("R-CMP-03 a delta sent again by the other process is the first one; with other content it is a conflict", async () => {
      const { first, second } = fixture;
      const id = fixture.id();
      await first.create(scope, id, { dims: 2 });
      const sent = await first.append(scope, id, { deltaId: "d:1@x+y", upsert: [{ id: "a", vector: v(1) }] });
      const again = await second.append(scope, id, { deltaId: "d:1@x+y", upsert: [{ id: "a", vector: v(1) }] });
      expect(again).toEqual({ ...sent, repeated: true });
      expect(await codeOf(second.append(scope, id, { deltaId: "d:1@x+y", upsert: [{ id: "a", vector: v(2) }] }))).toBe(
        "CONFLICT",
      );
      expect(await second.stats(scope, id)).toMatchObject({ lastSeq: 1 });
    });

    it("the same rows sent twice as two deltas are found once, by words as by vector", async () => {
      const { first } = fixture;
      const id = fixture.id();
      await first.create(scope, id, { dims: 2, metric: "dot" });
      for (let time = 0; time < 3; time += 1)
        await first.append(scope, id, { upsert: [{ id: "a", vector: v(1), text: "one whale" }] });
      expect((await first.query(scope, id, { text: "whale", limit: 5 })).hits).toHaveLength(1);
      expect((await first.query(scope, id, { vector: v(1), limit: 5 })).hits).toHaveLength(1);
      expect(await first.count(scope, id)).toBe(1);
    });

    it("R-CMP-16 R-CMP-08 collections are compacted concurrently, each in the order of its own log", async () => {
      const { first, second } = fixture;
      const ids = [fixture.id(), fixture.id(), fixture.id()];
      for (const id of ids) {
        await first.create(scope, id, { dims: 2, metric: "dot" });
        for (let x = 1; x <= 3; x += 1) await first.append(scope, id, { upsert: [{ id: "a", vector: v(x) }] });
      }
      const results = await Promise.all(ids.map((id, i) => (i % 2 === 0 ? first : second).compact(scope, id)));
      expect(results.map(({ outcome, folds }) => [outcome, folds])).toEqual(ids.map(() => ["done", 1]));
      for (const id of ids) expect(await rowsOf(second, id)).toEqual([line("a", v(3))]);
    });

    it("R-CMP-30 R-CMP-38 the history lists every commit; each version is read as it was, and restored as a new one", async () => {
      const { first, second } = fixture;
      const id = fixture.id();
      await first.create(scope, id, { dims: 2, metric: "dot" });
      for (let x = 1; x <= 3; x += 1) {
        await first.append(scope, id, { upsert: [{ id: `r${x}`, vector: v(x) }] });
        if (x === 1)
          expect(await second.stats(scope, id)).toMatchObject({
            pendingDeltas: 1,
            lastSeq: 1,
            appliedSeq: 0,
            deadDeltas: 0,
          });
        await first.compact(scope, id);
      }
      const history = await second.history(scope, id);
      expect(history.map(({ version, reason, live, appliedSeq }) => [version, reason, live, appliedSeq])).toEqual([
        [0, "init", 0, 0],
        [1, "fold", 1, 1],
        [2, "fold", 2, 2],
        [3, "fold", 3, 3],
      ]);
      expect(await second.count(scope, id, { asOf: { version: 1 } })).toBe(1);
      // Two commits may fall into the same millisecond; a time means the last version that was committed by then.
      const time = history[2]?.committedAt as number;
      const live = history.findLast(({ committedAt }) => committedAt <= time)?.live;
      expect(await second.count(scope, id, { asOf: { time } })).toBe(live);
      expect((await second.query(scope, id, { vector: v(1), asOf: { version: 2 } })).hits.map((hit) => hit.id)).toEqual(
        ["r2", "r1"],
      );
      expect(await second.restore(scope, id, { version: 1 })).toEqual({ version: 4, restored: 1, discarded: [2, 3] });
      expect(await rowsOf(first, id)).toEqual([line("r1", v(1))]);
      expect(await first.count(scope, id, { asOf: { version: 3 } })).toBe(3);
    });

    it("R-CMP-31 R-CMP-32 garbage is removed, a deleted collection is restored, a purged one leaves nothing", async () => {
      const { first, second } = fixture;
      const id = fixture.id();
      await first.create(scope, id, { dims: 2, metric: "dot" });
      await first.append(scope, id, { upsert: [{ id: "a", vector: v(1) }] });
      await first.compact(scope, id);
      expect(await second.collect(scope, id)).toMatchObject({ outcome: "done" });
      expect((await second.fsck(scope, id)).findings).toEqual([]);
      await first.delete(scope, id, { purgeAt: Date.now() + 86_400_000 });
      expect(await codeOf(second.count(scope, id))).toBe("NOT_FOUND");
      await second.undelete(scope, id);
      expect(await rowsOf(first, id)).toEqual([line("a", v(1))]);
      expect((await first.purge(scope, id)).objects).toBeGreaterThan(2);
      expect(await codeOf(second.count(scope, id))).toBe("NOT_FOUND");
      expect(await second.purge(scope, id)).toEqual({ objects: 0, items: 0 });
      expect(await codeOf(second.create(scope, id, { dims: 2 }))).toBe("CONFLICT");
    });

    it("the other process's sweep compacts collections without a notification", async () => {
      const { first } = fixture;
      const id = fixture.id();
      await first.create(scope, id, { dims: 2 });
      await first.append(scope, id, { upsert: [{ id: "a", vector: v(1) }] });
      await fixture.sweep();
      expect(await first.stats(scope, id)).toMatchObject({ pendingDeltas: 0, liveRows: 1 });
    });
  });
}
