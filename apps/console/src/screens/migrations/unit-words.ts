import type { MigrationUnit } from "@pinakes/client";
import { migrationStrings } from "../../strings/migrations.ts";

export function targetOf({ repository, user, collection }: MigrationUnit["target"]): string {
  return `${user === undefined ? (repository ?? "") : migrationStrings.units.own(user)} / ${collection}`;
}

/** Equal if both sides have the same number of rows with the same content. */
export function sameness({ count, hash, held_count, held_hash }: MigrationUnit): "same" | "differs" | "notCompared" {
  if (held_count === null || held_hash === null) return "notCompared";
  return held_count === count && held_hash === hash ? "same" : "differs";
}
