/** The public API against a plain map, by commands in any order (fast-check shrinks what fails and prints its seed). */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scope } from "./support/machine.ts";
import { commands, linesOf, start } from "./support/model-commands.ts";
import { recover, rowsOf } from "./support/state.ts";

describe("vectors: model", () => {
  it("R-CMP-06 append, patch, delete, compact, collect, restore, asOf, get, count and query in any order behave like a map", async () => {
    await fc.assert(
      fc.asyncProperty(commands, async (list) => {
        const { model, real } = await start();
        await fc.asyncModelRun(() => ({ model, real }), list);
        const next = await recover(real.machine);
        expect(await rowsOf(next.vectors)).toEqual(linesOf(model.rows));
        expect((await next.vectors.fsck(scope, "c")).ok).toBe(true);
        for (const [version, { rows }] of model.versions)
          expect(await rowsOf(next.vectors, "c", { asOf: { version } })).toEqual(linesOf(rows));
      }),
      { numRuns: 150 },
    );
  });
});
