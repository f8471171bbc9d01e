/** How long stores keep what by the operator's settings. */
import type { GovernedLifetime, RetentionDependencies } from "./governance/index.ts";
import { quarantineLimits, trashMs } from "./knowledge/index.ts";
import { quarantineMsOf, trashMsOf, type OpenOptions } from "./open-options.ts";
import { defaultPolicy } from "./vectors/index.ts";

type Settings = Pick<OpenOptions, "trashDays" | "quarantineDays" | "vectors">;

export function retentionSettings(options: Settings): Pick<RetentionDependencies, "trash" | "settings"> {
  const vectorsMs = options.vectors?.policy?.retentionMs ?? defaultPolicy.retentionMs;
  const quarantineMs = quarantineMsOf(options.quarantineDays) ?? quarantineLimits.retentionMs;
  const settings: readonly GovernedLifetime[] = [
    {
      name: "vector-versions",
      seconds: vectorsMs / 1000,
      default_seconds: defaultPolicy.retentionMs / 1000,
      unit: "earlier version of a vector collection",
      setting: "PINAKES_VECTOR_RETENTION_DAYS",
    },
    {
      name: "quarantine",
      seconds: quarantineMs / 1000,
      default_seconds: quarantineLimits.retentionMs / 1000,
      unit: "what a repair removed",
      setting: "PINAKES_QUARANTINE_DAYS",
    },
  ];
  const trash = { seconds: (trashMsOf(options.trashDays) ?? trashMs) / 1000, defaultSeconds: trashMs / 1000 };
  return { trash, settings };
}
