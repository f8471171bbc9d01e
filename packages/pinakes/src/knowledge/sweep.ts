/** One round over everything that is unfinished, of all tenants: what a crash left behind, what waits for its time, what a store has not confirmed. */
import type { Scope } from "../domain/scope.ts";
import type { LifecycleMetrics } from "../lifecycle/index.ts";
import type { KnowledgeWork, RegisteredUnfinished } from "./ingest/knowledge-work.ts";
import type { Watchdog } from "./ingest/watchdog.ts";
import { tellJob } from "./jobs/operation-jobs.ts";
import { lifeOf } from "./model/collection-catalogue.ts";
import type { KnowledgeParts } from "./parts.ts";
import type { Services } from "./services.ts";

export interface SweepPieces extends Pick<Services, "deletion" | "jobs" | "library" | "lifecycle"> {
  readonly parts: KnowledgeParts;
  readonly registry: KnowledgeWork;
  readonly watchdog: Watchdog;
}

type Found = { -readonly [Name in keyof LifecycleMetrics["unfinished"]]: LifecycleMetrics["unfinished"][Name] };

export class Sweep {
  readonly #pieces: SweepPieces;

  constructor(pieces: SweepPieces) {
    this.#pieces = pieces;
  }

  /** What fails does not stop the rest; the last error is thrown at the end. */
  async run(signal: AbortSignal): Promise<void> {
    const { registry, parts, lifecycle } = this.#pieces;
    let error: Error | undefined;
    const found: Found = { running: 0, failed: 0, oldestMs: 0 };
    for await (const entry of registry.due(parts.clock.now())) {
      if (signal.aborted) return;
      try {
        await this.#carryOn(entry, signal, found);
      } catch (cause) {
        error = cause instanceof Error ? cause : new Error(String(cause));
      }
    }
    lifecycle.metrics.unfinished = found;
    if (error !== undefined) throw error;
  }

  async #carryOn(entry: RegisteredUnfinished, signal: AbortSignal, found: Found): Promise<void> {
    const { parts, registry, watchdog } = this.#pieces;
    const scope = parts.system.forTenant(entry.tenant);
    switch (entry.kind) {
      case "documents":
        return watchdog.sweepDocuments(entry, signal);
      case "operation":
        return this.#operation(scope, entry, found);
      case "job":
        return this.#job(scope, entry);
      case "purge":
        await this.#purge(scope, entry);
        await registry.remove(entry);
    }
  }

  async #operation(scope: Scope, entry: RegisteredUnfinished, found: Found): Promise<void> {
    const { lifecycle, parts, registry } = this.#pieces;
    const operation = await lifecycle.carryOn(scope, lifeOf(entry));
    if (operation === undefined || operation.status === "done") return registry.remove(entry);
    found[operation.status] += 1;
    // The lag of deletions: nobody waits for an archiving.
    if (operation.action === "delete-collection") found.oldestMs = Math.max(found.oldestMs, parts.clock.now() - Date.parse(operation.created_at));
  }

  async #job(scope: Scope, entry: RegisteredUnfinished): Promise<void> {
    const { jobs, registry } = this.#pieces;
    const state = await jobs.stateOf(scope, entry.incarnation);
    if (state === "alive") return;
    // One that waits for something else goes on at a later sweep.
    if (state === "silent" && (await jobs.run(scope, entry.incarnation)).status === "running") return;
    return registry.remove(entry);
  }

  /** A deleted collection whose time has come; a restored one is left alone. */
  async #purge(scope: Scope, entry: RegisteredUnfinished): Promise<void> {
    const { library, deletion, jobs, lifecycle } = this.#pieces;
    const found = await library.life(scope, entry);
    if (found?.record.status !== "DELETED") return;
    const operation = await deletion.begin(scope, lifeOf(entry), { createdBy: "system", dueAt: found.record.purge_at as string });
    if (operation === undefined) return;
    await tellJob(jobs, scope, operation);
    await lifecycle.carryOn(scope, lifeOf(entry));
  }
}
