/** Running a scenario with a fault at each of its calls. */
import { expect } from "vitest";
import type { FaultKind } from "./calls.ts";
import { Machine, scope, type Process } from "./machine.ts";
import { restoreScenario, type Scenario } from "./scenarios.ts";
import { expectClean, recover, rowsOf } from "./state.ts";

/** A restore needs an earlier version; everything else runs without retention. */
export async function prepared(scenario: Scenario): Promise<{ machine: Machine; process: Process }> {
  const machine = await Machine.open(scenario === restoreScenario ? { retentionMs: 10 ** 12 } : {});
  await scenario.prepare(machine.process());
  return { machine, process: machine.process() };
}

/** How many calls the scenario makes without faults. */
export async function callsOf(scenario: Scenario): Promise<number> {
  const { process } = await prepared(scenario);
  await scenario.act(process);
  const count = process.calls.names.length;
  expect(await rowsOf(process.vectors)).toEqual(scenario.expected);
  expect(count).toBeGreaterThan(2);
  return count;
}

export async function everyCall(scenario: Scenario, run: (number: number) => Promise<void>): Promise<void> {
  const count = await callsOf(scenario);
  for (let number = 0; number < count; number += 1) await at(`${scenario.name}, call ${number}`, () => run(number));
}

export async function everyFault(
  scenario: Scenario,
  kinds: readonly FaultKind[],
  run: (number: number, kind: FaultKind) => Promise<void>,
): Promise<void> {
  for (const kind of kinds) await everyCall(scenario, (number) => at(kind, () => run(number, kind)));
}

/** With the location in the message. */
export async function at(place: string, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    throw new Error(`${place}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** From here on as in a new process: it finishes the scenario's leftovers, the rows are right, nothing is left over. */
export async function expectRecovered(scenario: Scenario, machine: Machine, process?: Process): Promise<void> {
  const next = await recover(machine, process);
  const rows = await rowsOf(next.vectors);
  if (scenario.before === undefined) expect(rows).toEqual(scenario.expected);
  else expect([scenario.before, scenario.expected]).toContainEqual(rows);
  await scenario.again?.(next);
  await recover(machine, next);
  expect(await rowsOf(next.vectors)).toEqual(scenario.expected);
  // The background has also collected what was superseded.
  if (machine.policy.retentionMs === 0) expect(await next.vectors.history(scope, "c")).toHaveLength(1);
  await expectClean(next);
}
