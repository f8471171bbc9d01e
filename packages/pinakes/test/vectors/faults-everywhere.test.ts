/**
 * The fault matrix of the vector store (rfcs/0001-vector-store.md, "Failure cases"), exhaustively: each scenario with a fault at
 * every single call to a store, before and after the call took effect. A test that fails names scenario, kind and number of the call.
 */
import { describe, expect, it } from "vitest";
import { PinakesError } from "../../src/domain/errors.ts";
import type { FaultKind } from "./support/calls.ts";
import { everyFault, expectRecovered, prepared } from "./support/fault-runs.ts";
import { scope } from "./support/machine.ts";
import {
  appendScenario,
  collectScenario,
  firstFoldScenario,
  foldScenario,
  mergeScenario,
  pendingRepairScenario,
  redriveScenario,
  repairScenario,
  restoreScenario,
  type Scenario,
} from "./support/scenarios.ts";
import { expectClean, recover, rowsOf } from "./support/state.ts";

/** The process dies at that call. Another one finishes. */
async function crashes(scenario: Scenario): Promise<void> {
  await everyFault(scenario, ["crash-before", "crash-after"], async (number, kind) => {
    const { machine, process } = await prepared(scenario);
    process.calls.add({ at: number, kind });
    expect(await process.outcome((own) => scenario.act(own))).toBe("died");
    await expectRecovered(scenario, machine);
  });
}

/** The call fails, or its answer is lost: a 500, a 503, a timeout. The process continues, and retries. */
async function errors(scenario: Scenario): Promise<void> {
  await everyFault(scenario, ["error-before", "error-after"], async (number, kind) => {
    const { machine, process } = await prepared(scenario);
    process.calls.add({ at: number, kind });
    const outcome = await process.outcome((own) => scenario.act(own));
    expect(process.calls.waiting).toBe(0);
    if (outcome !== "died" && "error" in outcome) expect(outcome.error).toMatchObject({ code: "UNAVAILABLE" });
    await expectRecovered(scenario, machine, process);
  });
}

describe("vectors: a fault at every call", () => {
  it("rows 1–5, 8: R-CMP-02 an append that dies at any call exists as a whole or not at all; sent again it exists once", () =>
    crashes(appendScenario));
  it("rows 3, 5: R-CMP-03 an append whose call fails or whose answer is lost, at any call, exists once after it was sent again", () =>
    errors(appendScenario));
  it("rows 14, 17, 18: R-CMP-19 a fold killed at any call is finished by the next run, with the same rows and no leftovers", () =>
    crashes(foldScenario));
  it("rows 14, 17, 18: R-CMP-19 the same for the very first fold, after which only the work registry knows of the collection", () =>
    crashes(firstFoldScenario));
  it("rows 13, 16, 30: R-CMP-21 a fold whose call fails or whose answer is lost, at any call, ends in the same state", () =>
    errors(foldScenario));
  it("rows 14, 17, 18: R-CMP-19 a fold and a merge killed at any call are finished by the next run", () =>
    crashes(mergeScenario));
  it("rows 13, 16, 30: R-CMP-21 a merge whose call fails or whose answer is lost, at any call, ends in the same state", () =>
    errors(mergeScenario));
  it("row 20: R-CMP-31 a garbage collection killed at any call loses nothing, and the next one leaves no orphan", () =>
    crashes(collectScenario));
  it("row 20: R-CMP-31 a garbage collection whose call fails or whose answer is lost loses nothing", () =>
    errors(collectScenario));
  it("row 25: R-CMP-30 a restore that dies at any call has happened or not, and can be repeated", () =>
    crashes(restoreScenario));
  it("row 25: R-CMP-30 a restore whose call fails or whose answer is lost has happened or not", () =>
    errors(restoreScenario));
  it("row 23: R-CMP-10 a redrive that dies at any call has happened or not, and newer rows stay", () =>
    crashes(redriveScenario));
  it("row 23: R-CMP-10 a redrive whose call fails or whose answer is lost has happened or not, and newer rows stay", () =>
    errors(redriveScenario));
});

describe("vectors: a repair with a fault at every call", () => {
  for (const scenario of [repairScenario, pendingRepairScenario]) {
    const kinds: readonly FaultKind[] = ["crash-before", "crash-after", "error-before", "error-after"];
    it(`row 26: R-CMP-33 ${scenario.name}, stopped or failing at any call, can be restarted`, () =>
      everyFault(scenario, kinds, async (number, kind) => {
        const { machine, process } = await prepared(scenario);
        process.calls.add({ at: number, kind });
        const outcome = await process.outcome((own) => scenario.act(own));
        if (outcome !== "died" && "error" in outcome) expect(PinakesError.isInstance(outcome.error)).toBe(true);
        const next = machine.process();
        await scenario.again?.(next);
        expect(await rowsOf(next.vectors)).toEqual(scenario.expected);
        await next.vectors.append(scope, "c", { upsert: [{ id: "after", vector: [9, 9, 9] }] });
        await recover(machine, next);
        expect(await rowsOf(next.vectors)).toHaveLength(scenario.expected.length + 1);
        await expectClean(next);
      }));
  }
});
