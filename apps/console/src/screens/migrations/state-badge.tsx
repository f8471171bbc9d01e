import type { Migration, MigrationState } from "@pinakes/client";
import { isWork } from "../../api/migrations.ts";
import { migrationStrings as s } from "../../strings/migrations.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";

const ended: Readonly<Partial<Record<MigrationState, Tone>>> = {
  switched: "good",
  finished: "good",
  ready: "good",
  rolled_back: "warn",
};

export function StateBadge({ migration: { state, error, problem_count } }: { readonly migration: Migration }) {
  const wrong = error !== null || (state === "planned" && problem_count > 0);
  const tone = wrong ? "bad" : isWork(state) ? "brand" : (ended[state] ?? "plain");
  return <Badge tone={tone}>{s.states[state] ?? state}</Badge>;
}

export function kindName(kind: string, length: "kinds" | "kindsShort" = "kinds"): string {
  return (s[length] as Readonly<Record<string, string>>)[kind] ?? kind;
}
