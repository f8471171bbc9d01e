/** Allowed steps per state, as on the server (RFC 0009). */
import { rollbackStates, type Migration, type MigrationState, type MigrationStep } from "@pinakes/client";
import { isWork } from "../../api/migrations.ts";

const from: Readonly<Record<MigrationStep, readonly MigrationState[]>> = {
  plan: ["planned"],
  copy: ["planned", "copied"],
  validate: ["copied", "ready"],
  cutover: ["ready"],
  finish: ["switched"],
  rollback: rollbackStates,
};

export function mayStep(
  { state, problem_count, error }: Pick<Migration, "state" | "problem_count" | "error">,
  step: MigrationStep,
): boolean {
  if (step === "copy" && state === "planned" && problem_count > 0) return false;
  // A rollback refused because of newer writes is repeated with force.
  if (step === "rollback" && state === "rolling_back") return error !== null;
  return from[step].includes(state);
}

/** States in the order of the five steps. */
const course: readonly (readonly [working: MigrationState, done: MigrationState])[] = [
  ["planning", "planned"],
  ["copying", "copied"],
  ["verifying", "ready"],
  ["switching", "switched"],
  ["finishing", "finished"],
];

export type Place = "done" | "now" | "next";

/** Undefined during and after a rollback. */
export function placesOf(state: MigrationState): readonly Place[] | undefined {
  const at = course.findIndex((states) => states.includes(state));
  if (at < 0) return undefined;
  return course.map((_, index): Place => (index < at ? "done" : index > at ? "next" : isWork(state) ? "now" : "done"));
}
