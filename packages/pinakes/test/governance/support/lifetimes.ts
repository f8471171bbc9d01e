/** What has a lifetime that no call changes: from the containers of a running store and the constants of the code. */
import { catalogLimits } from "../../../src/catalogs/limits.ts";
import { limits } from "../../../src/domain/limits.ts";
import type { Scope } from "../../../src/domain/scope.ts";
import { governanceLimits } from "../../../src/governance/index.ts";
import { identityLimits } from "../../../src/identity/limits.ts";
import { fileLimits } from "../../../src/knowledge/files/limits.ts";
import { libraryLimits } from "../../../src/knowledge/library/limits.ts";
import { knowledgeLimits } from "../../../src/knowledge/limits.ts";
import { lifecycleLimits } from "../../../src/lifecycle/limits.ts";
import { migrationLimits } from "../../../src/migrations/limits.ts";
import type { ItemStore } from "../../../src/ports/item-store.ts";
import { rememberedSeconds } from "../../../src/queues/item-queue/records.ts";
import { defaultPolicy } from "../../../src/vectors/store/dependencies.ts";

const day = 86_400;

export function lifetimeRows(items: ItemStore, scope: Scope): readonly string[] {
  const of = (container: string) => items.defaultTtl(scope, container).seconds as number;
  const kept: readonly (readonly [what: string, seconds: number])[] = [
    ["change feeds", limits.feedRetentionMs / 1000],
    ["jobs", of("jobs")],
    ["reports of purges and archivings", lifecycleLimits.reportDaysMax * day],
    ["answers to repeated requests (idempotency keys)", of("http-idempotency")],
    ["deduplication ids of queues", rememberedSeconds],
    ["sign-in sessions", identityLimits.sessionMs / 1000],
    ["expired API keys, listed", identityLimits.expiredKeyKeptMs / 1000],
    ["MCP sessions, after the last call", of("mcp-sessions")],
    ["selected catalogs, after the last use", of("catalog-selections")],
    ["download links of catalogs", catalogLimits.linkSeconds],
    ["OpenAI responses", of("responses")],
    ["uploads in parts that were not completed", fileLimits.uploadMsMax / 1000],
    ["uploads of TrustGraph's library that were not completed", libraryLimits.uploadKeptSeconds],
    ["files in LISA's staging area", fileLimits.stagedMsMax / 1000],
    ["deltas of vectors, after they were applied", defaultPolicy.appliedDeltaMs / 1000],
    ["archives of subject exports", governanceLimits.exportDays * day],
    ["old form of what was migrated, unless said otherwise", migrationLimits.retainDaysDefault * day],
  ];
  const versions = ["earlier versions of a document", `the last ${knowledgeLimits.versionsKeptMax}`] as const;
  return [...kept.map(([what, seconds]) => [what, text(seconds)] as const), versions].map(
    ([what, how]) => `| ${what} | ${how} |`,
  );
}

function text(seconds: number): string {
  const [number, unit] =
    seconds % day === 0
      ? [seconds / day, "day"]
      : seconds % 3_600 === 0
        ? [seconds / 3_600, "hour"]
        : [seconds / 60, "minute"];
  return `${number} ${unit}${number === 1 ? "" : "s"}`;
}
