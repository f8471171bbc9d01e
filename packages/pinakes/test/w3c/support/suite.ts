/**
 * Runs the tests of a suite and compares what failed with the list of expected failures, both ways: a test that fails and is not in the
 * list fails the suite, and so does one of the list that passes. An expected failure is a refusal; an answer that is wrong never is one.
 */
import { PinakesError } from "../../../src/domain/errors.ts";
import { expect } from "vitest";
import type { W3cTest } from "./manifest.ts";

export type Outcome = { readonly kind: "passed" } | { readonly kind: "refused" | "wrong"; readonly detail: string };

export const passed: Outcome = { kind: "passed" };
export const wrong = (detail: string): Outcome => ({ kind: "wrong", detail });

/** Why a test of the list fails, by its id. */
export type ExpectedFailures = Readonly<Record<string, string>>;

/** What the program refuses is an outcome; anything else that it throws is a mistake of the program or of the harness. */
export async function outcomeOf(action: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await action();
  } catch (error) {
    if (PinakesError.isInstance(error)) return { kind: "refused", detail: `${error.code}: ${error.detail}` };
    return wrong(`threw ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }
}

export async function runSuite(
  { name, size }: { readonly name: string; readonly size: number },
  tests: readonly W3cTest[],
  expected: ExpectedFailures,
  run: (test: W3cTest) => Promise<Outcome>,
): Promise<void> {
  expect(tests, `tests of ${name}`).toHaveLength(size);
  const failures: Record<string, string> = {};
  const wrongs: string[] = [];
  for (const test of tests) {
    const outcome = await outcomeOf(() => run(test));
    if (outcome.kind === "passed") continue;
    failures[test.id] = `${outcome.kind}: ${outcome.detail}`;
    if (outcome.kind === "wrong") wrongs.push(`${test.id}: ${outcome.detail}`);
  }
  const unexpected = Object.entries(failures).flatMap(([id, detail]) => (id in expected ? [] : [`${id}: ${detail}`]));
  const missing = Object.keys(expected).filter((id) => !(id in failures));
  console.info(`${name} ${tests.length - Object.keys(failures).length}/${tests.length}`);
  expect({ wrong: wrongs, unexpected, passedThoughExpectedToFail: missing }).toEqual({
    wrong: [],
    unexpected: [],
    passedThoughExpectedToFail: [],
  });
}
