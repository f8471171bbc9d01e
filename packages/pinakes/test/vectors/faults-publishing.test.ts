/** Rows of the fault matrix about publishing: faulty builders, lost answers, the mirror, repeated deltas. */
import { describe, expect, it } from "vitest";
import { Machine, hourMs, scope } from "./support/machine.ts";
import { foldScenario, mergeScenario, put } from "./support/scenarios.ts";
import { codeOf, expectClean, recover, rowsOf } from "./support/state.ts";

const published = (name: string): boolean => name.startsWith("batch check fence, check lease");

describe("vectors: publishing", () => {
  for (const folder of ["segments", "deletions"]) {
    for (const [what, change] of [
      ["changed", (bytes: Uint8Array) => bytes.map((byte, i) => (i === bytes.length - 3 ? byte ^ 4 : byte))],
      ["cut short", (bytes: Uint8Array) => bytes.slice(0, -7)],
      ["swapped for another file", () => new Uint8Array(200)],
    ] as const) {
      it(`row 15: R-CMP-18 bytes of ${folder} that were ${what} on their way into the store are detected before anything refers to them`, async () => {
        const machine = await Machine.open();
        await foldScenario.prepare(machine.process());
        const process = machine.process();
        const { put: honest } = machine.objects;
        let altered = 0;
        machine.objects.put = async (...[who, key, body, options]) => {
          const bytes =
            key.includes(`/${folder}/`) && altered === 0 ? ((altered += 1), change(body as Uint8Array)) : body;
          return honest.call(machine.objects, who, key, bytes, options);
        };
        const version = (await process.vectors.stats(scope, "c")).version;
        expect(await codeOf(process.vectors.compact(scope, "c"))).toBe("CORRUPT");
        expect(altered).toBe(1);
        expect((await process.vectors.stats(scope, "c")).version).toBe(version);
        expect(await rowsOf(process.vectors)).toEqual(foldScenario.expected);
        await recover(machine);
        expect(await rowsOf(process.vectors)).toEqual(foldScenario.expected);
        await expectClean(process);
      });
    }
  }

  it("row 15: R-CMP-18 a builder that drops, repeats or mixes up rows is detected by counts and sums before it is published", async () => {
    for (const prepare of [foldScenario.prepare, mergeScenario.prepare]) {
      for (const wrong of [
        (list: number[]) => list.slice(1),
        (list: number[]) => [...list.slice(1), list[1] as number],
      ]) {
        const machine = await Machine.open();
        await prepare(machine.process());
        const process = machine.process();
        const { builder } = process.deps;
        const merge: typeof builder.merge = async (name, settings, sources, picks) => {
          const kept = wrong([...picks.row.keys()]);
          const pick = (list: Uint32Array): Uint32Array => Uint32Array.from(kept, (i) => list[i] as number);
          return builder.merge(name, settings, sources, { source: pick(picks.source), row: pick(picks.row) });
        };
        Object.assign(process.deps, { builder: { ...builder, merge } });
        const version = (await process.vectors.stats(scope, "c")).version;
        await expect(process.vectors.compact(scope, "c")).rejects.toThrow();
        expect((await process.vectors.stats(scope, "c")).version).toBe(version);
      }
    }
  });

  it("row 16: R-CMP-21 a publish whose answer is lost is found to have happened, and not repeated", async () => {
    const machine = await Machine.open();
    await foldScenario.prepare(machine.process());
    const process = machine.process();
    const { version } = await process.vectors.stats(scope, "c");
    process.calls.add({ at: published, kind: "error-after" });
    expect(await process.vectors.compact(scope, "c")).toMatchObject({ outcome: "done", folds: 1 });
    const history = await process.vectors.history(scope, "c");
    expect(history.filter(({ reason, version: number }) => reason === "fold" && number > version)).toHaveLength(1);
    expect(process.calls.names.filter(published).length).toBe(history.length - version - 1);
  });

  it("row 16: R-CMP-21 a publish that failed before it arrived does not count as done: the run says so, the next one does it", async () => {
    const machine = await Machine.open();
    await foldScenario.prepare(machine.process());
    const process = machine.process();
    const { version } = await process.vectors.stats(scope, "c");
    process.calls.add({ at: published, kind: "error-before" });
    expect(await codeOf(process.vectors.compact(scope, "c"))).toBe("UNAVAILABLE");
    expect((await process.vectors.stats(scope, "c")).version).toBe(version);
    await recover(machine);
    expect(await rowsOf(process.vectors)).toEqual(foldScenario.expected);
  });

  it("row 17: a mirror that was not written, or went back, is right after the next run", async () => {
    const machine = await Machine.open();
    await foldScenario.prepare(machine.process());
    const process = machine.process();
    process.calls.add({ at: (name) => name === "put vectors/c/HEAD.json", kind: "crash-before" });
    expect(await process.outcome(({ vectors }) => vectors.compact(scope, "c"))).toBe("died");
    const next = await recover(machine);
    const { commitId, version } = (await next.site().state()).head;
    const mirror = (): Promise<unknown> =>
      machine.objects
        .get(scope, "vectors/c/HEAD.json")
        .then((bytes) => JSON.parse(Buffer.from(bytes ?? []).toString()) as unknown);
    expect(await mirror()).toMatchObject({ commitId, version });
    await machine.objects.delete(scope, ["vectors/c/HEAD.json"]);
    await next.vectors.compact(scope, "c");
    expect(await mirror()).toMatchObject({ commitId, version });
  });

  it("R-CMP-20 deltas that were applied are not applied again: by a second run, a repeat of the sender, or a compactor with an old head", async () => {
    const machine = await Machine.open({ appliedDeltaMs: hourMs });
    await foldScenario.prepare(machine.process());
    const process = machine.process();
    const late = machine.process();
    const gate = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    late.calls.add({
      at: (name) => name.startsWith("query vectors") && name.includes("delta."),
      kind: "hold-after",
      until: gate.promise,
      reached: reached.resolve,
    });
    const ended = late.vectors.compact(scope, "c");
    await reached.promise;
    await process.vectors.compact(scope, "c");
    machine.now += 30_000;
    await process.vectors.compact(scope, "c");
    const { version } = await process.vectors.stats(scope, "c");
    gate.resolve();
    expect(await ended).toMatchObject({ outcome: "fenced", folds: 0 });
    expect(await process.vectors.compact(scope, "c")).toMatchObject({
      outcome: "done",
      folds: 0,
      merges: 0,
      rowsWritten: 0,
    });
    expect(
      await process.vectors.append(scope, "c", {
        deltaId: "d",
        upsert: [put("b", 20), put("y", 4)],
        patch: [{ id: "a", metadata: { m: 2 } }],
        delete: ["x"],
      }),
    ).toMatchObject({ repeated: true });
    expect(await process.vectors.compact(scope, "c")).toMatchObject({ folds: 0 });
    expect((await process.vectors.stats(scope, "c")).version).toBe(version);
    expect(await rowsOf(process.vectors)).toEqual(foldScenario.expected);
  });
});
