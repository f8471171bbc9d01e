/**
 * Group commit: appends of one process to one collection share their commits. While one batch is running the next ones queue. A batch takes
 * the next seqs on the condition that they are unused, so commit order is seq order, without gaps.
 */
import { PinakesError } from "../../domain/errors.ts";
import type { Operation } from "../../ports/item-store.ts";
import type { CollectionSite } from "../store/collection-site.ts";
import { itemIds, type Delta, type DeltaId, type Fence, type Log } from "../store/records.ts";
import type { VectorWork } from "./vector-work.ts";

/** A batch has at most 25 operations: fence and log, and two for each delta. */
const deltasPerBatch = 11;
const attemptsMax = 100;

export type NewDelta = Omit<Delta, "seq" | "committedAt" | "failures">;

export interface Committed {
  readonly seq: number;
  readonly logId: string;
  /** The delta existed already, with the same content. */
  readonly repeated: boolean;
}

/** The object may have been garbage-collected meanwhile: put it again, under a new name. */
export class Overtaken extends Error {}

interface Waiting {
  readonly delta: NewDelta;
  readonly generation: number;
  readonly outcome: PromiseWithResolvers<Committed>;
}

export class GroupCommit {
  readonly #site: CollectionSite;
  readonly #work: VectorWork;
  readonly #waiting: Waiting[] = [];
  #log: Log | undefined;
  #flushing: Promise<void> | undefined;

  constructor(site: CollectionSite, work: VectorWork) {
    this.#site = site;
    this.#work = work;
  }

  get idle(): boolean {
    return this.#flushing === undefined && this.#waiting.length === 0;
  }

  async commit(delta: NewDelta, generation: number): Promise<Committed> {
    const waiting: Waiting = { delta, generation, outcome: Promise.withResolvers<Committed>() };
    this.#waiting.push(waiting);
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = undefined;
    });
    return waiting.outcome.promise;
  }

  async #flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, deltasPerBatch);
      try {
        await this.#commitGroup(group);
      } catch (error) {
        for (const { outcome } of group) outcome.reject(error);
      }
    }
  }

  async #commitGroup(group: Waiting[]): Promise<void> {
    for (let attempt = 0; group.length > 0; attempt += 1) {
      if (attempt >= attemptsMax)
        throw new PinakesError("UNAVAILABLE", "Too many others append to this collection at once; try again.");
      if (attempt > 1) await this.#site.deps.timers.pause(Math.random() * Math.min(100, 2 ** attempt)); // With jitter, so that writers do not collide again.
      let log = await this.#readLog();
      if (group.some(({ generation }) => generation !== log.generation)) {
        this.#log = undefined; // The cached state may be older than what they have read.
        log = await this.#readLog();
      }
      dropOvertaken(group, log);
      if (group.length === 0) return;
      if (!log.dirty) await this.#announce();
      try {
        const next = await this.#write(group, log);
        for (const [i, { outcome }] of group.entries())
          outcome.resolve({ seq: log.nextSeq + i, logId: log.logId, repeated: false });
        this.#log = next;
        return;
      } catch (error) {
        this.#log = undefined;
        await this.#settle(group, error);
      }
    }
  }

  async #readLog(): Promise<Log> {
    this.#log ??= await this.#site.read<Log>(itemIds.log);
    if (this.#log === undefined) throw this.#site.notFound();
    return this.#log;
  }

  /** Before the commit that makes the collection dirty: so a crash between the two leaves no deltas that no sweep finds. */
  async #announce(): Promise<void> {
    const { tenant, collection } = this.#site;
    await this.#work.put({ kind: "compact", tenant, key: collection, due_at: 0 });
  }

  async #write(group: readonly Waiting[], log: Log): Promise<Log> {
    const { clock, policy } = this.#site.deps;
    const bytes = group.reduce((sum, { delta }) => sum + delta.bytes, 0);
    const next: Log = {
      nextSeq: log.nextSeq + group.length,
      logId: log.logId,
      generation: log.generation,
      rests: log.rests,
      restored: log.restored,
      dirty: true,
      bytes: log.bytes + bytes,
    };
    const operations: Operation[] = [
      { op: "check", id: itemIds.fence, where: { status: "active" } },
      {
        op: "replace",
        document: this.#site.document(itemIds.log, next),
        where: {
          nextSeq: log.nextSeq,
          generation: log.generation,
          rests: log.rests,
          restored: log.restored,
          logId: log.logId,
          dirty: log.dirty,
        },
      },
    ];
    for (const [i, { delta }] of group.entries()) {
      const seq = log.nextSeq + i;
      const entry: Delta = { ...delta, seq, committedAt: clock.now(), failures: 0 };
      const known: DeltaId = { seq, contentHash: delta.contentHash };
      const ttl = Math.max(86_400, Math.ceil(policy.retentionMs / 1000));
      operations.push(
        { op: "create", document: this.#site.document(itemIds.delta(seq), entry) },
        { op: "create", document: this.#site.document(itemIds.deltaId(delta.deltaId), { ...known, ttl }) },
      );
    }
    await this.#site.batch(operations);
    return next;
  }

  /**
   * The batch failed, or its outcome is unknown: deltas whose id exists are settled, the rest is retried. That is safe even if the first
   * batch arrives late: it and the repeat cannot both create the ids.
   */
  async #settle(group: Waiting[], error: unknown): Promise<void> {
    if (!PinakesError.isInstance(error) || !settleable.has(error.code)) throw error;
    const fence = await this.#site.read<Fence>(itemIds.fence);
    if (fence?.status === "diverged") throw diverged(fence);
    if (fence?.status !== "active") throw this.#site.notFound();
    const log = await this.#site.read<Log>(itemIds.log);
    for (const waiting of group.slice()) {
      const known = await this.#site.read<DeltaId>(itemIds.deltaId(waiting.delta.deltaId));
      if (known === undefined) continue;
      group.splice(group.indexOf(waiting), 1);
      if (known.contentHash === waiting.delta.contentHash)
        waiting.outcome.resolve({ seq: known.seq, logId: log?.logId ?? "", repeated: true });
      else waiting.outcome.reject(otherContent(waiting.delta.deltaId));
    }
  }
}

const settleable = new Set(["PRECONDITION_FAILED", "CONFLICT", "NOT_FOUND", "UNAVAILABLE"]);

export function otherContent(deltaId: string): PinakesError {
  return new PinakesError(
    "CONFLICT",
    `The delta id "${deltaId}" was used before, with other content; choose another id.`,
  );
}

export function diverged(fence: Fence): PinakesError {
  return new PinakesError(
    "UNAVAILABLE",
    `This collection is read-only until it is repaired: ${fence.reason ?? "its items and its bucket differ"}.`,
    {
      retryable: false,
    },
  );
}

function dropOvertaken(group: Waiting[], log: Log): void {
  for (const waiting of group.slice()) {
    if (waiting.generation === log.generation) continue;
    group.splice(group.indexOf(waiting), 1);
    waiting.outcome.reject(new Overtaken());
  }
}
