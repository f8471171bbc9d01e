/** Figures for Prometheus: of this process and over all tenants, so that no name of a tenant or collection is among them. */
import { findingKinds, type AuditFigures } from "../knowledge/index.ts";
import type { Pinakes } from "../open.ts";

export function metricsText(pinakes: Pinakes, now: number): string {
  const vectors = pinakes.vectors.metrics();
  const gauges: Record<string, [value: number | undefined, help: string]> = {
    oldest_pending_delta_age_seconds: [vectors.pending.oldestMs / 1000, "How long the oldest write waited for compaction at the last sweep."],
    pending_deltas: [vectors.pending.deltas, "Deltas that waited for compaction at the last sweep."],
    pending_bytes: [vectors.pending.bytes, "Their bytes."],
    dirty_collections: [vectors.pending.collections, "Collections with something to compact at the last sweep."],
    dead_deltas: [vectors.pending.deadDeltas, "Deltas that could not be read, in those collections."],
    compaction_failures_in_a_row: [vectors.compactionFailuresInARow, "Compactions that failed since the last one that did not."],
    gc_last_success_age_seconds: [
      vectors.lastCollectedAt === undefined ? undefined : (now - vectors.lastCollectedAt) / 1000,
      "Since garbage was last collected.",
    ],
    last_sweep_age_seconds: [
      vectors.lastSweepAt === undefined ? undefined : (now - vectors.lastSweepAt) / 1000,
      "Since the registry of work was last gone through.",
    ],
    cache_bytes: [vectors.cacheBytes, "Of opened vector files in memory."],
  };
  const counters: Record<string, [value: number, help: string]> = {
    compactions_total: [vectors.compactions, "Runs of the compactor."],
    folds_total: [vectors.folds, "Deltas made into segments."],
    merges_total: [vectors.merges, "Segments made into larger ones."],
    rows_written_total: [vectors.rowsWritten, "Rows written into segments."],
    fenced_commits_total: [vectors.fencedCommits, "Commits refused because somebody else had taken over."],
    compaction_failures_total: [vectors.compactionFailures, "Compactions that failed."],
    gc_runs_total: [vectors.collections, "Collections of garbage."],
    gc_objects_total: [vectors.objectsCollected, "Objects that they removed."],
    purges_total: [vectors.purges, "Deleted collections that were purged."],
  };
  const { metrics: lifecycle } = pinakes.lifecycle;
  const { running, failed, oldestMs } = lifecycle.unfinished;
  const ends: [name: string, type: string, value: number, help: string][] = [
    ["pinakes_operations_running", "gauge", running, "Operations on all stores that were under way at the last sweep."],
    ["pinakes_operations_failed", "gauge", failed, "Those that some store has failed at again and again."],
    ["pinakes_deletion_lag_seconds", "gauge", oldestMs / 1000, "Age of the oldest delete that is not done."],
    ["pinakes_deletion_lag_limit_seconds", "gauge", pinakes.deletionLagSecondsMax, "The age at which that is warned of."],
    ["pinakes_orphans_removed_total", "counter", lifecycle.orphansRemoved, "Lives that no record named for a day, removed from a store."],
    ["pinakes_late_writes_total", "counter", pinakes.lateWrites(), "Writes refused because their collection had ended."],
    ["pinakes_lifecycle_dropped_total", "counter", lifecycle.dropped, "Replies of stores that changed nothing: doubled, late or unknown."],
    ["pinakes_lifecycle_malformed_total", "counter", lifecycle.malformed, "Messages to stores that nobody understands."],
  ];
  const { lastPassAt, found } = pinakes.auditFigures();
  if (lastPassAt !== undefined)
    ends.push(["pinakes_audit_last_pass_age_seconds", "gauge", (now - lastPassAt) / 1000, "Since the audit in the background was through with everything."]);
  const ended = ends.flatMap(([name, type, value, help]) => [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, `${name} ${value}`]);
  const lines = (type: string, entries: Record<string, readonly [number | undefined, string]>): string[] =>
    Object.entries(entries).flatMap(([name, [value, help]]) =>
      value === undefined ? [] : [`# HELP pinakes_vectors_${name} ${help}`, `# TYPE pinakes_vectors_${name} ${type}`, `pinakes_vectors_${name} ${value}`],
    );
  return `${[...lines("gauge", gauges), ...lines("counter", counters), ...ended, ...placed(pinakes.places), ...audited(found)].join("\n")}\n`;
}

function placed(places: Pinakes["places"]): readonly string[] {
  const figures = [
    ["pinakes_places_taken", "places", "Queries, searches, exports and evaluation runs under way."],
    ["pinakes_places_waiting", "waiting", "Those that wait for a place; more of them are answered with 429."],
  ] as const;
  return figures.flatMap(([name, figure, help]) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} gauge`,
    ...(["queries", "searches", "exports", "evaluations"] as const).map((kind) => `${name}{kind="${kind}"} ${places[kind].usage[figure]}`),
  ]);
}

/** Every kind, also those of which there is none: an alert needs a 0 to fall back to. */
function audited(found: AuditFigures["found"]): readonly string[] {
  const name = "pinakes_audit_findings";
  const head = [`# HELP ${name} What the last whole pass of the audit found.`, `# TYPE ${name} gauge`];
  return [...head, ...findingKinds.map((kind) => `${name}{kind="${kind}"} ${found[kind] ?? 0}`)];
}
