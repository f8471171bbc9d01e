import type { Migration, MigrationState, MigrationStep, MigrationUnit } from "@pinakes/client";
import { queryOptions } from "@tanstack/react-query";
import { pagedOptions } from "./page.ts";
import { get, path, post } from "./request.ts";

export interface NewMigration {
  readonly source: Readonly<Record<string, unknown>>;
  readonly retain_days?: number | undefined;
  readonly auto?: boolean | undefined;
}

export interface StepOptions {
  readonly remove_old?: boolean | undefined;
  readonly now?: boolean | undefined;
  readonly force?: boolean | undefined;
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

/** Work in progress; the other states wait for a step. */
export function isWork(state: MigrationState): boolean {
  return state.endsWith("ing") || state === "rolling_back";
}
