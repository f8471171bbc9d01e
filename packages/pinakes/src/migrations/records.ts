/** The stored form of a migration (RFC 0009): one record, and one per unit, in a partition of their own. */
import {
  migrationStates,
  migrationUnitStatuses,
  oldForms,
  roles,
  rollbackStates,
  type MigrationState,
} from "@pinakes/client";
import { z } from "zod";
import { workContainer } from "../containers/index.ts";
import { invalid } from "../domain/errors.ts";
import type { ContainerDefinition } from "../ports/item-store.ts";

export type State = MigrationState;

export function isWork(state: State): boolean {
  return state.endsWith("ing") || state === "rolling_back";
}

const ProblemSchema = z.object({ where: z.string(), reason: z.string() });

export const Migration = z.object({
  id: z.literal("migration"),
  migration_id: z.string(),
  format: z.literal(1),
  kind: z.string(),
  source: z.record(z.string(), z.json()),
  state: z.enum(migrationStates),
  problems: z.array(ProblemSchema),
  problem_count: z.number(),
  unit_count: z.number(),
  row_count: z.number(),
  /** Work in progress: rows of the current unit. */
  progress: z.object({ unit: z.string(), unit_number: z.number(), done: z.number(), total: z.number() }).nullable(),
  /** Error of the last attempt in this state. */
  error: z.string().nullable(),
  retain_days: z.number(),
  remove_old: z.boolean(),
  /** Automatic from step to step, up to the switch. Absent: each step is requested. */
  auto: z.boolean().optional(),
  /** Of an automatic migration: the last requester, with the role and groups at that time. Absent in older records. */
  asker: z.object({ user_id: z.string(), role: z.enum(roles), groups: z.array(z.string()) }).optional(),
  force: z.boolean(),
  /** Of a rollback: the state to return to if it is refused. Absent in older records. */
  before: z.enum(migrationStates).optional(),
  created_by: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  switched_at: z.string().nullable(),
  retain_until: z.string().nullable(),
  finished_at: z.string().nullable(),
  /** The process working on it, and its exclusive lease until then (epoch milliseconds). */
  lease_owner: z.string().nullable(),
  lease_until: z.number(),
});
export type MigrationRecord = z.infer<typeof Migration>;

export const Unit = z.object({
  id: z.string(),
  migration_id: z.string(),
  number: z.number(),
  name: z.string(),
  target: z.object({ repository: z.string().optional(), user: z.string().optional(), collection: z.string() }),
  status: z.enum(migrationUnitStatuses),
  /** Rows as stored in the source. */
  rows: z.number(),
  /** Distinct rows, and their hash. */
  count: z.number(),
  hash: z.string(),
  held_count: z.number().nullable(),
  held_hash: z.string().nullable(),
  problems: z.array(ProblemSchema),
  differences: z.string().nullable(),
  created_at: z.string().nullable(),
  description: z.string().nullable(),
  adopted: z.string().nullable(),
  whole: z.boolean(),
  repository_id: z.string().nullable(),
  incarnation: z.string().nullable(),
  /** Whether this migration created the collection. */
  made: z.boolean(),
  /** Rows known to be here: counted during the copy, and again when both sides were equal. */
  copied: z.number(),
  checkpoint: z.json(),
  /** How often it was copied again from the start after it had differed. */
  again: z.number().optional(),
  old: z.enum(oldForms),
  keep: z.json(),
});
export type UnitRecord = z.infer<typeof Unit>;

export const migrationsContainer: ContainerDefinition = Object.freeze({
  name: "migrations",
  partitionKey: ["migration_id"],
  // Only migrations have the id "migration".
  indexes: { byCreated: { partition: ["id"], sort: ["created_at"] } },
});

export const migrationsWork: ContainerDefinition = workContainer("migrations-work");
/** No caller can have this tenant. */
export const migrationsTenant = "pinakes.migrations";

/** The next state of an automatic migration after a successful step. */
export function onward(
  { auto, problem_count }: MigrationRecord,
  next: { readonly state: State; readonly error: string | null },
): State {
  if (auto !== true || next.error !== null) return next.state;
  if (next.state === "planned") return problem_count === 0 ? "copying" : "planned";
  if (next.state === "copied") return "verifying";
  return next.state === "ready" ? "switching" : next.state;
}

const unitDigits = 8;

export function unitId(number: number): string {
  return `unit:${String(number).padStart(unitDigits, "0")}`;
}
export const unitPrefix = "unit:";

/** The states from which a step may begin. Requesting a completed step is a no-op. */
const steps = {
  plan: { from: ["planned"], work: "planning", done: [] },
  copy: { from: ["planned", "copied"], work: "copying", done: ["ready", "switched", "finished"] },
  validate: { from: ["copied", "ready"], work: "verifying", done: ["switched", "finished"] },
  cutover: { from: ["ready"], work: "switching", done: ["switched", "finished"] },
  finish: { from: ["switched"], work: "finishing", done: ["finished"] },
  rollback: {
    from: rollbackStates,
    work: "rolling_back",
    done: [],
  },
} as const satisfies Record<string, { from: readonly State[]; work: State; done: readonly State[] }>;
export type Step = keyof typeof steps;

/** The working state of the step; undefined if there is nothing to do. INVALID names the required states. */
export function begin(step: Step, state: State): State | undefined {
  const { from, work, done } = steps[step];
  if (state === work || (done as readonly State[]).includes(state)) return undefined;
  if ((from as readonly State[]).includes(state)) return work;
  throw invalid(`A migration that is ${state} cannot ${step}; it must be ${from.join(", ")}.`);
}
