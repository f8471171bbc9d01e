/**
 * Things without a time of their own that no record names: a worker that was overtaken may be about to take them back. They are told of
 * when nobody is at work, or when they were seen before, long enough ago; whoever saw them, in whichever process.
 */
import { hash } from "node:crypto";
import type { Scope } from "../domain/scope.ts";
import type { Clock } from "../ports/clock.ts";
import type { ContainerDefinition, ItemStore } from "../ports/item-store.ts";
import type { IngestQueue } from "../knowledge/documents/ingest-queue.ts";
import type { FindingKind } from "./finding.ts";
import { auditLimits } from "./limits.ts";

/** No caller can have it: `tenantScope` refuses names that begin so. */
export const auditTenant = "pinakes.audit";
/** Suspicions, and how far the background is. */
export const auditContainer: ContainerDefinition = Object.freeze({ name: "audit", partitionKey: ["part"], ttl: -1 });

interface SuspectOptions {
  readonly items: ItemStore;
  readonly clock: Clock;
  /** Of the audit's own tenant. */
  readonly system: Scope;
  readonly queue: IngestQueue;
}

export class Suspects {
  readonly #parts: SuspectOptions;

  constructor(parts: SuspectOptions) {
    this.#parts = parts;
  }

  /** Nothing of this tenant is ingested just now: what is there and named by nothing will not be taken back. SQS only estimates, so it never says so. */
  async isQuiet(tenant: string): Promise<boolean> {
    const { queue, scope } = this.#parts.queue;
    if (!queue.capabilities.exactStats) return false;
    const stats = await Promise.all(this.#parts.queue.queuesOf(tenant).map((name) => queue.stats(scope, name)));
    return stats.every(({ inFlight, truncated }) => inFlight === 0 && truncated !== true);
  }

  /** Whether it was seen before, at least so long ago. Remembers that it was seen now. */
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
