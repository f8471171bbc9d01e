/**
 * The one list of alarms. Readiness, `/metrics`, `GET /v1/alarms` and the console all read it, so an alarm added here appears everywhere.
 */
import type { AlarmState } from "@pinakes/client";
import { requireCaller, type Caller } from "../domain/caller.ts";
import { PinakesError } from "../domain/errors.ts";
import type { Knowledge } from "../knowledge/index.ts";
import type { Lifecycle } from "../lifecycle/index.ts";

export interface Alarm {
  readonly name: string;
  readonly unit: "seconds" | "operations";
  readonly help: string;
  /** The alarm fires above this value. */
  readonly threshold: number;
  /** For the whole server, from metrics that background work maintains. */
  read(): number;
  /** For the caller's workspace, computed now. */
  readFor(caller: Caller): Promise<number>;
  /** The problem, and where to look. */
  describe(value: number): string;
}

export interface AlarmSources {
  readonly lifecycle: Pick<Lifecycle, "metrics">;
  readonly knowledge: Pick<Knowledge, "queue">;
  readonly deletionLagSecondsMax: number;
}

export function alarmsOf({ lifecycle, knowledge, deletionLagSecondsMax }: AlarmSources): readonly Alarm[] {
  const lagOf = (caller: Caller) => knowledge.queue.lag(caller, deletionLagSecondsMax);
  return [
    {
      name: "deletion_lag",
      unit: "seconds",
      help: "Age of the oldest delete that some store has not confirmed.",
      threshold: deletionLagSecondsMax,
      read: () => Math.floor(lifecycle.metrics.unfinished.oldestMs / 1_000),
      readFor: async (caller) => (await lagOf(caller)).lag_seconds,
      describe: (value) => `A delete is not complete after ${value} s; the limit is ${deletionLagSecondsMax} s.`,
    },
    {
      name: "failed_deletions",
      unit: "operations",
      help: "Deletes that a store failed repeatedly.",
      threshold: 0,
      read: () => lifecycle.metrics.unfinished.failed,
      readFor: async (caller) => (await lagOf(caller)).failed,
      describe: (value) => `${value} deletes are not confirmed by some store; see the failed operations.`,
    },
  ];
}

export function isFiring({ threshold }: Pick<Alarm, "threshold">, value: number): boolean {
  return value > threshold;
}

/** For the whole server: firing alarms, by name. */
export function firing(alarms: readonly Alarm[]): readonly (readonly [name: string, text: string])[] {
  return alarms.flatMap((alarm) => {
    const value = alarm.read();
    return isFiring(alarm, value) ? [[alarm.name, alarm.describe(value)] as const] : [];
  });
}

/** For a workspace, for its admins. */
export async function alarmStates(alarms: readonly Alarm[], caller: Caller): Promise<readonly AlarmState[]> {
  requireCaller(caller);
  if (caller.role !== "admin")
    throw new PinakesError("FORBIDDEN", "Only an admin of the workspace can read its alarms.");
  return Promise.all(
    alarms.map(async (alarm) => {
      const value = await alarm.readFor(caller);
      const fires = isFiring(alarm, value);
      return {
        name: alarm.name,
        help: alarm.help,
        unit: alarm.unit,
        value,
        threshold: alarm.threshold,
        firing: fires,
        detail: fires ? alarm.describe(value) : null,
      };
    }),
  );
}
