/** Which step may be asked for in which state, as the server has it (RFC 0009). */
import type { Migration, MigrationState, MigrationStep } from "@pinakes/client";
import { isWork } from "../../api/migrations.ts";

const from: Readonly<Record<MigrationStep, readonly MigrationState[]>> = {
  plan: ["planned"],
  copy: ["planned", "copied"],
  validate: ["copied", "ready"],
  cutover: ["ready"],
  finish: ["switched"],
  // Once more: a copy that it had overtaken may have held something since.
  rollback: [
    "planned",
    "copying",
    "copied",
    "verifying",
    "ready",
    "switching",
    "switched",
    "finishing",
    "finished",
    "rolled_back",
  ],
};

export function mayStep(
  { state, problem_count, error }: Pick<Migration, "state" | "problem_count" | "error">,
  step: MigrationStep,
): boolean {
  if (step === "copy" && state === "planned" && problem_count > 0) return false;
  // A rollback that was refused because something was written since is asked for again, with force.
  if (step === "rollback" && state === "rolling_back") return error !== null;
  return from[step].includes(state);
}

/** The states in the order of the five things that are done. */
const course: readonly (readonly [working: MigrationState, done: MigrationState])[] = [
  ["planning", "planned"],
  ["copying", "copied"],
  ["verifying", "ready"],
  ["switching", "switched"],
  ["finishing", "finished"],
];

export type Place = "done" | "now" | "next";

/** Undefined for one that is on its way back. */
export function placesOf(state: MigrationState): readonly Place[] | undefined {
  const at = course.findIndex((states) => states.includes(state));
  if (at < 0) return undefined;
  return course.map((_, index): Place => (index < at ? "done" : index > at ? "next" : isWork(state) ? "now" : "done"));
}
