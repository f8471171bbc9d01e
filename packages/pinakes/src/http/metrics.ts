/** Metrics for Prometheus: of this process and over all tenants, so they contain no names of tenants or collections. */
import { findingKinds } from "@pinakes/client";
import type { AuditFigures } from "../knowledge/index.ts";
import type { Pinakes } from "../open.ts";
import { isFiring, type Alarm } from "../ops/index.ts";

type Type = "gauge" | "counter";
type Metric = readonly [name: string, type: Type, value: number | undefined, help: string];

export function metricsText(pinakes: Pinakes, now: number): string {
  const metrics = [...vectorMetrics(pinakes, now), ...lifecycleMetrics(pinakes), ...auditMetrics(pinakes, now)];
  const lines = metrics.flatMap(([name, type, value, help]) =>
    value === undefined ? [] : [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, `${name} ${value}`],
  );
  return `${[...lines, ...placed(pinakes.places), ...audited(pinakes.auditFigures().found), ...alarmed(pinakes.alarms)].join("\n")}\n`;
}

function vectorMetrics(pinakes: Pinakes, now: number): readonly Metric[] {
  const vectors = pinakes.vectors.metrics();
  const { pending } = vectors;
  const seconds = (since: number | undefined) => (since === undefined ? undefined : (now - since) / 1000);
  const metrics: readonly Metric[] = [
    ["oldest_pending_delta_age_seconds", "gauge", pending.oldestMs / 1000, "Age of the oldest uncompacted delta."],
    ["pending_deltas", "gauge", pending.deltas, "Deltas that wait for compaction."],
    ["pending_bytes", "gauge", pending.bytes, "Bytes of the deltas that wait for compaction."],
    ["dirty_collections", "gauge", pending.collections, "Collections with deltas that wait for compaction."],
    ["dead_deltas", "gauge", pending.deadDeltas, "Deltas that could not be read."],
    ["compaction_failures_in_a_row", "gauge", vectors.compactionFailuresInARow, "Consecutive failed compactions."],
    [
      "gc_last_success_age_seconds",
      "gauge",
      seconds(vectors.lastCollectedAt),
      "Time since the last garbage collection.",
    ],
    [
      "last_sweep_age_seconds",
      "gauge",
      seconds(vectors.lastSweepAt),
      "Time since the last sweep of the work registry.",
    ],
    ["cache_bytes", "gauge", vectors.cacheBytes, "Bytes of opened vector files in memory."],
    ["compactions_total", "counter", vectors.compactions, "Compactor runs."],
    ["folds_total", "counter", vectors.folds, "Folds of deltas into segments."],
    ["merges_total", "counter", vectors.merges, "Merges of segments."],
    ["rows_written_total", "counter", vectors.rowsWritten, "Rows written into segments."],
    [
      "fenced_commits_total",
      "counter",
      vectors.fencedCommits,
      "Commits refused by a fence: another compactor took over.",
    ],
    ["compaction_failures_total", "counter", vectors.compactionFailures, "Failed compactions."],
    ["gc_runs_total", "counter", vectors.collections, "Garbage collections."],
    ["gc_objects_total", "counter", vectors.objectsCollected, "Objects removed by garbage collection."],
    ["purges_total", "counter", vectors.purges, "Purges of deleted collections."],
  ];
  return metrics.map(([name, type, value, help]) => [`pinakes_vectors_${name}`, type, value, help]);
}

function lifecycleMetrics(pinakes: Pinakes): readonly Metric[] {
  const { metrics } = pinakes.lifecycle;
  const { running, failed, oldestMs } = metrics.unfinished;
  return [
    ["pinakes_operations_running", "gauge", running, "Lifecycle operations in progress at the last sweep."],
    ["pinakes_operations_failed", "gauge", failed, "Lifecycle operations that a store fails repeatedly."],
    ["pinakes_deletion_lag_seconds", "gauge", oldestMs / 1000, "Age of the oldest delete in progress."],
    [
      "pinakes_deletion_lag_limit_seconds",
      "gauge",
      pinakes.deletionLagSecondsMax,
      "Threshold of the deletion lag alarm.",
    ],
    ["pinakes_orphans_removed_total", "counter", metrics.orphansRemoved, "Orphaned incarnations removed from a store."],
    [
      "pinakes_late_writes_total",
      "counter",
      pinakes.lateWrites(),
      "Writes refused because their collection was deleted.",
    ],
    ["pinakes_lifecycle_dropped_total", "counter", metrics.dropped, "Duplicate, late or unknown replies of stores."],
    ["pinakes_lifecycle_malformed_total", "counter", metrics.malformed, "Malformed lifecycle messages."],
  ];
}

function auditMetrics(pinakes: Pinakes, now: number): readonly Metric[] {
  const { lastPassAt } = pinakes.auditFigures();
  const age = lastPassAt === undefined ? undefined : (now - lastPassAt) / 1000;
  return [["pinakes_audit_last_pass_age_seconds", "gauge", age, "Time since the last complete background audit."]];
}

function placed(places: Pinakes["places"]): readonly string[] {
  const figures = [
    ["pinakes_slots_in_use", "places", "Running queries, searches, answers, exports and evaluations."],
    ["pinakes_slots_waiting", "waiting", "Requests that wait for a slot; beyond the limit they get 429."],
  ] as const;
  return figures.flatMap(([name, figure, help]) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} gauge`,
    ...(["queries", "searches", "answers", "exports", "evaluations"] as const).map(
      (kind) => `${name}{kind="${kind}"} ${places[kind].usage[figure]}`,
    ),
  ]);
}

/** One series per alarm, so that one rule covers all alarms. */
function alarmed(alarms: Pinakes["alarms"]): readonly string[] {
  const series = (name: string, help: string, value: (alarm: Alarm) => number): readonly string[] => [
    `# HELP pinakes_alarm_${name} ${help}`,
    `# TYPE pinakes_alarm_${name} gauge`,
    ...alarms.map((alarm) => `pinakes_alarm_${name}{alarm="${alarm.name}"} ${value(alarm)}`),
  ];
  return [
    ...series("value", "The value that an alarm watches.", (alarm) => alarm.read()),
    ...series("threshold", "The value above which an alarm fires.", ({ threshold }) => threshold),
    ...series("firing", "1 while an alarm fires.", (alarm) => Number(isFiring(alarm, alarm.read()))),
  ];
}

/** Every kind, including those without findings: an alert needs a 0 to return to. */
function audited(found: AuditFigures["found"]): readonly string[] {
  const name = "pinakes_audit_findings";
  const head = [`# HELP ${name} Findings of the last complete audit pass.`, `# TYPE ${name} gauge`];
  return [...head, ...findingKinds.map((kind) => `${name}{kind="${kind}"} ${found[kind] ?? 0}`)];
}
