/** Rows of the fault matrix about earlier versions, restoring and deleting. */
import { describe, expect, it } from "vitest";
import { defaultPolicy } from "../../src/vectors/store/dependencies.ts";
import { fresh } from "./support/fresh.ts";
import { Machine, hourMs, scope } from "./support/machine.ts";
import { foldScenario, put, row } from "./support/scenarios.ts";
import { codeOf, expectClean, recover, rowsOf } from "./support/state.ts";

const dayMs = 24 * hourMs;

describe("vectors: earlier versions", () => {
  it("R-CMP-30 every version of the last 7 days is read by number and by time, as it was; 35 days with that policy", async () => {
    for (const [days, policy] of [
      [7, { retentionMs: defaultPolicy.retentionMs }],
      [35, { retentionMs: 35 * dayMs }],
    ] as const) {
      const { machine, process } = await fresh(policy);
      const seen: { version: number; time: number; rows: string[] }[] = [];
      for (let x = 1; x <= 4; x += 1) {
        await process.vectors.append(scope, "c", {
          upsert: [put("a", x), put(`r${x}`, x)],
          ...(x === 4 ? { delete: ["r1"] } : {}),
        });
        await process.vectors.compact(scope, "c");
        seen.push({
          version: (await process.vectors.stats(scope, "c")).version,
          time: machine.now,
          rows: await rowsOf(process.vectors),
        });
        machine.now += hourMs;
      }
      machine.now += days * dayMs - 4 * hourMs;
      expect(await process.vectors.collect(scope, "c")).toMatchObject({ outcome: "done", versions: 1 });
      for (const { version, time, rows } of seen) {
        for (const asOf of [
          { version },
          { time },
          { time: time + hourMs - 1 },
          { time: new Date(time).toISOString() },
        ]) {
          expect(await rowsOf(process.vectors, "c", { asOf })).toEqual(rows);
        }
      }
      expect(await codeOf(process.vectors.count(scope, "c", { asOf: { version: 999 } }))).toBe("NOT_FOUND");
      expect(await codeOf(process.vectors.count(scope, "c", { asOf: { time: 0 } }))).toBe("NOT_FOUND");
    }
  });

  it("row 25: R-CMP-30 a restore is a new version; later writes are discarded, their tokens are rejected, and new writes work", async () => {
    const { machine, process } = await fresh({ retentionMs: 7 * dayMs });
    const { vectors } = process;
    const early = await vectors.append(scope, "c", { upsert: [put("a", 1)] });
    await vectors.compact(scope, "c");
    const then = (await vectors.stats(scope, "c")).version;
    const folded = await vectors.append(scope, "c", { upsert: [put("a", 2)] });
    await vectors.compact(scope, "c");
    const pending = await vectors.append(scope, "c", { deltaId: "lost", upsert: [put("b", 2)] });
    const { version } = await vectors.stats(scope, "c");
    expect(await vectors.restore(scope, "c", { version: then })).toEqual({
      version: version + 1,
      restored: then,
      discarded: [folded.seq, pending.seq],
    });
    const other = machine.process();
    for (const reader of [process, other]) {
      expect(await rowsOf(reader.vectors)).toEqual([row("a", 1)]);
      expect(await rowsOf(reader.vectors, "c", { session: early.session })).toEqual([row("a", 1)]);
      for (const { session } of [folded, pending])
        expect(await codeOf(reader.vectors.count(scope, "c", { session }))).toBe("CONFLICT");
    }
    const later = await vectors.append(scope, "c", { upsert: [put("b", 3)] });
    expect(later.seq).toBe(pending.seq + 1);
    await recover(machine);
    expect(await rowsOf(other.vectors, "c", { session: later.session })).toEqual([row("a", 1), row("b", 3)]);
    expect((await vectors.history(scope, "c")).map(({ reason }) => reason)).toContain("restore");
    expect(await codeOf(vectors.restore(scope, "c", { version: 999 }))).toBe("NOT_FOUND");
    await expectClean(other);
  });
});

describe("vectors: repeated restores", () => {
  it("row 25: R-CMP-30 a write that any restore discarded stays discarded, and its token stays rejected", async () => {
    const { process } = await fresh({ retentionMs: 7 * dayMs });
    const { vectors } = process;
    await vectors.append(scope, "c", { upsert: [put("a", 1)] });
    await vectors.compact(scope, "c");
    const tokens: string[] = [];
    for (const x of [2, 3]) {
      tokens.push((await vectors.append(scope, "c", { upsert: [put("a", x)] })).session);
      await vectors.restore(scope, "c", { version: 1 });
    }
    const { version } = await vectors.stats(scope, "c");
    tokens.push((await vectors.append(scope, "c", { upsert: [put("a", 4)] })).session);
    await vectors.restore(scope, "c", { version });
    expect(await rowsOf(vectors)).toEqual([row("a", 1)]);
    for (const session of tokens) expect(await codeOf(vectors.count(scope, "c", { session }))).toBe("CONFLICT");
  });
});

describe("vectors: deleting", () => {
  it("R-CMP-32 a deleted collection is gone for all callers at once, is restored completely, and is purged when due", async () => {
    const machine = await Machine.open();
    const process = machine.process();
    await foldScenario.prepare(process);
    const other = machine.process();
    await rowsOf(other.vectors);
    const purgeAt = machine.now + 30 * dayMs;
    await process.vectors.delete(scope, "c", { purgeAt });
    expect(await codeOf(other.vectors.count(scope, "c"))).toBe("NOT_FOUND");
    expect(await codeOf(other.vectors.append(scope, "c", { upsert: [put("a", 1)] }))).toBe("NOT_FOUND");
    expect(await codeOf(other.vectors.compact(scope, "c"))).toBe("NOT_FOUND");
    machine.now += 29 * dayMs;
    await recover(machine);
    await process.vectors.undelete(scope, "c");
    expect(await codeOf(process.vectors.undelete(scope, "c"))).toBe("CONFLICT");
    expect(await rowsOf(other.vectors)).toEqual(foldScenario.expected);
    await recover(machine);
    await expectClean(other);
    await process.vectors.delete(scope, "c", { purgeAt: machine.now + dayMs });
    machine.now += dayMs;
    await machine.process().worker.sweep();
    expect(await machine.keys()).toEqual([]);
    expect(await codeOf(process.vectors.undelete(scope, "c"))).toBe("NOT_FOUND");
    await machine.objects.put(
      scope,
      "vectors/c/deltas/late.seg",
      Buffer.from("of a writer that was stopped in the middle"),
    );
    machine.now += dayMs;
    await machine.process().worker.sweep();
    expect(await machine.keys()).toEqual([]);
    expect(await machine.work()).toEqual([]);
    expect(await process.vectors.purge(scope, "c"), "it can be repeated").toEqual({ objects: 0, items: 0 });
  });
});
