/**
 * Watches the folders of all event pipelines. One process at a time watches a folder (a lease); when it takes one over it runs the pipeline
 * once, to catch up. Likewise when a watch breaks, or files failed transiently.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Scope } from "../domain/scope.ts";
import type { KnowledgeDependencies } from "../knowledge/dependencies.ts";
import { FolderWatch } from "./folder-watch.ts";
import { pipelineLimits } from "./limits.ts";
import type { PipelineJobs } from "./pipeline-jobs.ts";
import type { Lease, PipelineRegistry, StoredEntry } from "./pipeline-registry.ts";
import type { EntryState } from "./pipelines.ts";
import type { RunResult } from "./run-pipeline.ts";
import { parseSource } from "./source.ts";

export interface WatchingOptions {
  readonly deps: KnowledgeDependencies;
  readonly registry: PipelineRegistry;
  readonly jobs: PipelineJobs;
  readonly stateOf: (entry: StoredEntry) => Promise<EntryState>;
}

/** Interval at which changes by other processes are noticed. Well within a lease. */
const refreshMs = 20_000;
/** Delay of a full run after a run that failed or left retryable failures; doubles each time in a row. */
const againMs = 30_000;
const againDoublingsMax = 7;

interface Watched {
  readonly lease: Lease;
  readonly scope: Scope;
  readonly entry: StoredEntry;
  readonly by: string;
  watch?: FolderWatch;
  /** Epoch milliseconds of the next full run. */
  allAt: number;
  /** Consecutive incomplete runs. */
  failed: number;
  broken: boolean;
}

export class Watching {
  readonly #with: WatchingOptions;
  readonly #watched = new Map<string, Watched>();
  #wake: (() => void) | undefined;

  constructor(deps: WatchingOptions) {
    this.#with = deps;
  }

  /** There is a new pipeline in this process. */
  hurry(): void {
    this.#wake?.();
  }

  /** Until the signal. */
  async run(signal: AbortSignal, succeeded: () => void = () => {}): Promise<void> {
    try {
      while (!signal.aborted) {
        const woken = Promise.withResolvers<void>();
        this.#wake = woken.resolve;
        await this.#refresh(signal);
        succeeded();
        await Promise.race([woken.promise, pause(refreshMs, undefined, { signal, ref: false }).catch(() => {})]);
      }
    } finally {
      this.#wake = undefined;
      await Promise.all([...this.#watched.keys()].map((id) => this.#stop(id)));
    }
  }

  async #refresh(signal: AbortSignal): Promise<void> {
    const seen = new Set<string>();
    for await (const entry of this.#with.registry.withTrigger("event")) {
      if (signal.aborted) return;
      if (!entry.source.startsWith("file:")) continue;
      seen.add(entry.id);
      try {
        await this.#see(entry);
      } catch (error) {
        this.#with.deps.log(
          `pipeline ${entry.pipeline_id}: ${entry.source} is not watched: ${error instanceof Error ? error.message : String(error)}`,
        );
        await this.#stop(entry.id);
      }
    }
    for (const id of this.#watched.keys()) if (!seen.has(id)) await this.#stop(id);
  }

  async #see(entry: StoredEntry): Promise<void> {
    const { registry, stateOf, deps } = this.#with;
    const state = await stateOf(entry);
    if (state.status !== "ready") return this.#stop(entry.id);
    const known = this.#watched.get(entry.id);
    const { tenant, incarnation, pipeline_id } = entry;
    const lease: Lease = known?.lease ?? {
      tenant,
      incarnation,
      pipeline_id,
      what: "watch",
      owner: deps.newId(),
    };
    if (!(await registry.hold(lease))) return this.#stop(entry.id);
    const scope = deps.system.forTenant(tenant);
    const watched: Watched = known ?? {
      lease,
      scope,
      entry,
      by: state.pipeline.created_by,
      allAt: 0,
      failed: 0,
      broken: false,
    };
    this.#watched.set(entry.id, watched);
    if (watched.broken || watched.watch === undefined) await this.#open(watched);
    if (watched.allAt <= deps.clock.now()) await this.#start(watched, undefined);
  }

  async #open(watched: Watched): Promise<void> {
    await watched.watch?.close();
    delete watched.watch;
    const { tenant, source } = watched.entry;
    // Checks that pipelines may read the folder.
    await this.#with.jobs.open(tenant, { source });
    const parsed = parseSource(source);
    if (parsed.kind !== "file") return;
    watched.broken = false;
    watched.allAt = 0;
    watched.watch = await FolderWatch.open({
      folder: parsed.path,
      onChange: (uris) => this.#start(watched, uris.length > pipelineLimits.changedFilesMax ? undefined : uris),
      onError: (error) => {
        watched.broken = true;
        this.#with.deps.log(`pipeline ${watched.entry.pipeline_id}: the watch of ${source} broke: ${String(error)}`);
      },
    });
  }

  async #start(watched: Watched, uris: readonly string[] | undefined): Promise<void> {
    const { jobs, deps } = this.#with;
    if (uris === undefined) watched.allAt = Infinity;
    const again = () => {
      watched.allAt = Math.min(
        watched.allAt,
        deps.clock.now() + againMs * 2 ** Math.min(watched.failed, againDoublingsMax),
      );
      watched.failed += 1;
    };
    try {
      const job = await jobs.start(watched.scope, watched.entry, watched.by, { uris });
      // Not awaited: the job is durable, and the next burst may come meanwhile.
      void jobs.finish(watched.scope, job).then(({ status, result }) => {
        if (status === "failed" || ((result as unknown as RunResult | null)?.retryable_failures ?? 0) > 0) again();
        else if (uris === undefined) watched.failed = 0;
      }, again);
    } catch (error) {
      again();
      throw error;
    }
  }

  async #stop(id: string): Promise<void> {
    const watched = this.#watched.get(id);
    if (watched === undefined) return;
    this.#watched.delete(id);
    await watched.watch?.close();
    await this.#with.registry.release(watched.lease);
  }
}
