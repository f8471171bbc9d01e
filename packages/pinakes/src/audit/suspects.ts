/**
 * Orphaned data without a timestamp: an overtaken worker may be about to remove it. It is reported when no worker is active, or when it was
 * first seen long enough ago, by any process.
 */
import { hash } from "node:crypto";
import type { Scope } from "../domain/scope.ts";
import type { Clock } from "../ports/clock.ts";
import type { ContainerDefinition, ItemStore } from "../ports/item-store.ts";
import type { IngestQueue } from "../knowledge/documents/ingest-queue.ts";
import type { FindingKind } from "./finding.ts";
import { auditLimits } from "./limits.ts";

/** No caller can have this tenant: `tenantScope` refuses names with this prefix. */
export const auditTenant = "pinakes.audit";
/** Suspicions, and the progress of the background audit. */
export const auditContainer: ContainerDefinition = Object.freeze({ name: "audit", partitionKey: ["part"], ttl: -1 });

interface SuspectOptions {
  readonly items: ItemStore;
  readonly clock: Clock;
  /** Pending work of the audit's own tenant. */
  readonly system: Scope;
  readonly queue: IngestQueue;
}

export class Suspects {
  readonly #parts: SuspectOptions;

  constructor(parts: SuspectOptions) {
    this.#parts = parts;
  }

  /** Nothing of this tenant is being ingested now: nobody will remove orphaned data. SQS only estimates, so it never qualifies. */
  async isQuiet(tenant: string): Promise<boolean> {
    const { queue, scope } = this.#parts.queue;
    if (!queue.capabilities.exactStats) return false;
    const stats = await Promise.all(this.#parts.queue.queuesOf(tenant).map((name) => queue.stats(scope, name)));
    return stats.every(({ inFlight, truncated }) => inFlight === 0 && truncated !== true);
  }

  /** Whether it was seen before, at least this long ago. Records that it was seen now. */
  async isOld(
    tenant: string,
    kind: FindingKind,
    what: string,
    oldMs: number = auditLimits.suspectMs,
  ): Promise<boolean> {
    const { items, clock, system } = this.#parts;
    const key = { part: `suspects:${tenant}`, id: hash("sha256", `${kind} ${what}`, "hex") };
    const known = await items.read(system, auditContainer.name, { partition: [key.part], id: key.id });
    const now = clock.now();
    if (known !== undefined) return now - (known.document["since"] as number) >= oldMs;
    await items.write(system, auditContainer.name, [key.part], {
      op: "upsert",
      document: { ...key, since: now, ttl: auditLimits.suspectSecondsMax },
    });
    return false;
  }
}
