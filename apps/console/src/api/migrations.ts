/** Migrations: planned, copied, proved equal, switched to; and the way back. */
import type { MigrationStep } from "@pinakes/client";
import { queryOptions } from "@tanstack/react-query";
import { pagedOptions } from "./page.ts";
import { get, path, post } from "./request.ts";

export interface MigrationProblem {
  readonly where: string;
  readonly reason: string;
}

export type MigrationState =
  | "planning"
  | "planned"
  | "copying"
  | "copied"
  | "verifying"
  | "ready"
  | "switching"
  | "switched"
  | "finishing"
  | "finished"
  | "rolling_back"
  | "rolled_back";

export interface Migration {
  readonly migration_id: string;
  readonly kind: string;
  readonly source: Readonly<Record<string, unknown>>;
  readonly state: MigrationState;
  /** Somebody is at it right now. */
  readonly working: boolean;
  /** The first 20. */
  readonly problems: readonly MigrationProblem[];
  readonly problem_count: number;
  readonly unit_count: number;
  readonly row_count: number;
  readonly progress: {
    readonly unit: string;
    readonly unit_number: number;
    readonly done: number;
    readonly total: number;
  } | null;
  readonly error: string | null;
  readonly auto?: boolean;
  readonly created_by: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly switched_at: string | null;
  readonly retain_until: string | null;
  /** After a rollback: until when what it made can be had back. */
  readonly trash_until?: string | null;
  readonly finished_at: string | null;
}

export interface MigrationUnit {
  readonly number: number;
  readonly name: string;
  readonly target: { readonly repository?: string; readonly user?: string; readonly collection: string };
  readonly status: string;
  readonly rows: number;
  readonly count: number;
  readonly hash: string;
  readonly held_count: number | null;
  readonly held_hash: string | null;
  readonly problems: readonly MigrationProblem[];
  readonly differences: string | null;
  readonly copied: number;
  readonly old: string;
}

export interface NewMigration {
  readonly source: Readonly<Record<string, unknown>>;
  readonly retain_days?: number | undefined;
  readonly auto?: boolean | undefined;
}

export interface StepOptions {
  readonly remove_old?: boolean;
  readonly now?: boolean;
  readonly force?: boolean;
}

export const migrationsKey = ["migrations"] as const;
const againMs = 2_000;

export const migrationListOptions = pagedOptions<Migration>([...migrationsKey, "list"], "/v1/migrations");

export function migrationOptions(id: string) {
  return queryOptions({
    queryKey: [...migrationsKey, "one", id],
    queryFn: ({ signal }) => get<Migration>(path`/v1/migrations/${id}`, { signal }),
    refetchInterval: ({ state }) => (state.data !== undefined && isWork(state.data.state) ? againMs : false),
  });
}

export function migrationUnitsOptions(id: string) {
  return pagedOptions<MigrationUnit>([...migrationsKey, "units", id], path`/v1/migrations/${id}/units`);
}

export function createMigration(input: NewMigration): Promise<Migration> {
  return post<Migration>("/v1/migrations", input);
}

export function takeStep(id: string, step: MigrationStep, options: StepOptions = {}): Promise<Migration> {
  const body = step === "finish" || step === "rollback" ? options : undefined;
  return post<Migration>(`${path`/v1/migrations/${id}`}:${step}`, body);
}

/** Somebody does it; the other states wait to be asked. */
export function isWork(state: MigrationState): boolean {
  return state.endsWith("ing") || state === "rolling_back";
}
