/** The dependencies of the vector store; open.ts provides them, tests replace some. */
import { setTimeout as sleep } from "node:timers/promises";
import type { SystemScope } from "../../domain/scope.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import type { ObjectStore } from "../../ports/object-store.ts";
import type { SegmentBuilder } from "../build/segment-builder.ts";
import type { SegmentFiles } from "./segment-files.ts";

export interface VectorDependencies {
  readonly items: ItemStore;
  readonly objects: ObjectStore;
  readonly clock: Clock;
  /** For leases: monotonic, of this process alone. */
  readonly monotonic: () => number;
  /** A unique name, ascending with time. */
  readonly uniqueName: () => string;
  readonly builder: SegmentBuilder;
  readonly files: SegmentFiles;
  /** Waiting and repeating, so that tests can control them. */
  readonly timers: Timers;
  /** For the work registry, which belongs to no tenant, and for work on behalf of one. */
  readonly system: SystemScope;
  readonly policy: VectorPolicy;
  readonly log: (line: string) => void;
}

export interface Timers {
  pause(ms: number): Promise<void>;
  /** Runs it repeatedly until the returned function is called. Keeps no process alive. */
  every(ms: number, run: () => Promise<void>): () => void;
}

export const systemTimers: Timers = Object.freeze({
  pause: async (ms: number) => void (await sleep(ms)),
  every: (ms: number, run: () => Promise<void>) => {
    const timer = setInterval(() => void run(), ms).unref();
    return () => clearInterval(timer);
  },
});

export interface VectorPolicy {
  readonly leaseMs: number;
  /** How long earlier versions stay readable after they were superseded. */
  readonly retentionMs: number;
  /** How long a delta is kept after it was applied, for readers with an older view. */
  readonly appliedDeltaMs: number;
  /** How long after a publish its garbage is collected. */
  readonly collectAfterMs: number;
  /** How long a session's read waits for its write to appear. */
  readonly sessionWaitMs: number;
  /** Whether a tombstone must be kept in the segments: while an older delta may still be retried. */
  readonly keepsTombstone: (seq: number, deadSeqs: readonly number[]) => boolean;
  /** Whether a version may be read at `now`; `supersededAt` is absent for the newest. */
  readonly isRetained: (
    version: { createdAt: number; supersededAt: number | undefined },
    now: number,
    retentionMs: number,
  ) => boolean;
}

export const defaultPolicy: VectorPolicy = Object.freeze({
  leaseMs: 30_000,
  retentionMs: 7 * 86_400_000,
  appliedDeltaMs: 3_600_000,
  collectAfterMs: 3_600_000,
  sessionWaitMs: 2_000,
  keepsTombstone: (seq: number, deadSeqs: readonly number[]) => deadSeqs.some((dead) => dead < seq),
  isRetained: ({ supersededAt }: { supersededAt: number | undefined }, now: number, retentionMs: number) =>
    supersededAt === undefined || now - supersededAt < retentionMs,
});
