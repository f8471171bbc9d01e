/** Background work and its intervals: expiry, compaction, ingestion, and recovery of what crashes and other processes left behind. */
import { hostname } from "node:os";
import type { Log } from "./domain/log.ts";
import type { SystemScope } from "./domain/scope.ts";
import { Periodic } from "./runtime/periodic.ts";
import { sweepExpired } from "./items/sweeper.ts";
import type { OpenedKnowledge } from "./knowledge/index.ts";
import type { Governance } from "./governance/index.ts";
import type { Migrations } from "./migrations/index.ts";
import type { OpenOptions } from "./open-options.ts";
import type { ItemStore } from "./ports/item-store.ts";
import type { ObjectStore } from "./ports/object-store.ts";
import type { Queue } from "./ports/queue.ts";
import type { OpenedState } from "./state/index.ts";
import { processDropBox, type OpenedVectors } from "./vectors/index.ts";

/** Pending work of other processes is found within the first interval; that of this process within the second. */
const vectorSweepMs = 15_000;
const vectorWakeMs = 2_000;
const dropBoxWaitMs = 20_000;
const dropBoxPauseMs = 1_000;
const watchdogMs = 10_000;
const ingestPauseMs = 1_000;
const pipelinePauseMs = 1_000;
/** Between two polls of the lifecycle for due work, and after a failed listener. */
const lifecycleTickMs = 1_000;
/** Maximum delay of a scheduled run. */
const pipelineScheduleMs = 10_000;
/** Between two rounds of the audit, each of which is bounded. */
const auditRoundMs = 60_000;
/** Maximum delay until a migration step left by another process is found. */
const migrationSweepMs = 15_000;
const migrationWakeMs = 50;
/** Maximum delay of a timeout or an expiry of agents' state. */
const stateSweepMs = 5_000;

/** Maximum delay until an archive whose record expired is removed. */
const subjectExportSweepMs = 60_000;

export interface BackgroundOptions {
  readonly items: ItemStore;
  readonly objects: ObjectStore;
  readonly queue: Queue;
  readonly vectors: OpenedVectors;
  readonly knowledge: OpenedKnowledge;
  readonly state: OpenedState;
  readonly migrations: Migrations;
  readonly governance: Governance;
  /** The containers that were opened in this process: their expired items are purged. */
  readonly containers: ReadonlySet<string>;
  readonly sweepMs: number;
  readonly dropBoxes: NonNullable<OpenOptions["dropBoxes"]>;
  /** Created by open.ts alone, and only for work that exists. */
  readonly scopes: { readonly ttl: () => SystemScope; readonly dropBoxes: () => SystemScope };
  readonly log: Log;
}

/** All background work, not yet started. */
export function backgroundWork(parts: BackgroundOptions): Periodic[] {
  const { knowledge, state, log } = parts;
  return [
    ttlSweep(parts),
    vectorWork(parts.vectors, log),
    new Periodic({
      name: "ingestion",
      everyMs: ingestPauseMs,
      run: (signal, succeeded) => knowledge.work(signal, succeeded),
      log,
    }),
    new Periodic({ name: "watchdog", everyMs: watchdogMs, run: (signal) => knowledge.sweep(signal), log }),
    new Periodic({ name: "state", everyMs: stateSweepMs, run: (signal) => state.sweep(signal), log }),
    new Periodic({
      name: "lifecycle stores",
      everyMs: lifecycleTickMs,
      run: (signal, succeeded) => knowledge.lifecycle.listen(signal, succeeded),
      log,
    }),
    new Periodic({
      name: "lifecycle",
      everyMs: lifecycleTickMs,
      run: (signal) => knowledge.lifecycle.tick(signal),
      log,
    }),
    new Periodic({ name: "audit", everyMs: auditRoundMs, run: (signal) => knowledge.audit.round(signal), log }),
    migrationWork(parts.migrations, log),
    new Periodic({
      name: "erasure fences",
      everyMs: parts.governance.seenMs,
      run: () => parts.governance.erasures.seeFences(),
      log,
    }),
    new Periodic({
      name: "subject exports",
      everyMs: subjectExportSweepMs,
      run: async (signal) => void (await parts.governance.subjectExports.sweep(signal)),
      log,
    }),
    ...pipelineWork(knowledge, log),
    ...dropBoxWork(parts),
  ];
}

function pipelineWork({ pipelines }: OpenedKnowledge, log: Log): Periodic[] {
  const { watch, listen, schedule } = pipelines.background;
  return [
    ...(watch
      ? [
          new Periodic({
            name: "pipeline folders",
            everyMs: pipelinePauseMs,
            run: (signal, succeeded) => pipelines.startWatching(signal, succeeded),
            log,
          }),
        ]
      : []),
    ...(listen
      ? [
          new Periodic({
            name: "pipeline events",
            everyMs: pipelinePauseMs,
            run: (signal, succeeded) => pipelines.listen(signal, succeeded),
            log,
          }),
        ]
      : []),
    ...(schedule
      ? [
          new Periodic({
            name: "pipeline schedules",
            everyMs: pipelineScheduleMs,
            run: (signal) => pipelines.sweepSchedules(signal),
            log,
          }),
        ]
      : []),
  ];
}

function vectorWork(vectors: OpenedVectors, log: Log): Periodic {
  const work = new Periodic({
    name: "vector work",
    everyMs: vectorSweepMs,
    run: (signal) => vectors.sweep(signal),
    log,
  });
  vectors.onWake(() => work.hurry(vectorWakeMs));
  return work;
}

function migrationWork(migrations: Migrations, log: Log): Periodic {
  const work = new Periodic({
    name: "migrations",
    everyMs: migrationSweepMs,
    run: (signal) => migrations.tick(signal),
    log,
  });
  migrations.onWake(() => work.hurry(migrationWakeMs));
  return work;
}

function ttlSweep({ items, containers, sweepMs: everyMs, scopes, log }: BackgroundOptions): Periodic {
  const scope = scopes.ttl();
  return new Periodic({
    name: "ttl sweep",
    everyMs,
    run: async (signal) => void (await sweepExpired({ items, scope, containers, signal })),
    log,
  });
}

function dropBoxWork({
  dropBoxes,
  vectors: { vectors },
  knowledge,
  objects,
  queue,
  scopes,
  log,
}: BackgroundOptions): Periodic[] {
  if (dropBoxes.length === 0) return [];
  const system = scopes.dropBoxes();
  const owner = `${hostname()}.${process.pid}`;
  return dropBoxes.map(({ tenant, collection }) => {
    const scope = system.forTenant(tenant);
    const options = { owner, waitMs: dropBoxWaitMs, collection };
    const boxParts = { vectors, objects, queue, log, place: knowledge.dropBoxPlace };
    const run = async (signal: AbortSignal): Promise<void> =>
      void (await processDropBox(boxParts, scope, { ...options, signal }));
    return new Periodic({ name: `drop-box of ${tenant}`, everyMs: dropBoxPauseMs, run, log });
  });
}
