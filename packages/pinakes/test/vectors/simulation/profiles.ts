/** What can happen in a schedule: the participants, and the faults. */
import type { Faults } from "./scheduler.ts";

export interface Profile {
  readonly name: string;
  readonly writers: number;
  readonly appends: readonly [number, number];
  readonly compactors: number;
  readonly runs: readonly [number, number];
  readonly collectors: number;
  /** Processes that do whatever the work registry says. */
  readonly sweepers: number;
  readonly readers: number;
  readonly reads: readonly [number, number];
  readonly faults: Faults;
  /** Wall clocks up to an hour apart. */
  readonly skew: boolean;
  readonly restores: number;
  /** Deltas that are corrupted in the store, die, and are redriven or discarded. */
  readonly damages: number;
  readonly deletion: "never" | "undone" | "purged" | "any";
  readonly retentionMs: readonly [number, number];
  /** Few ids: more writes conflict. */
  readonly ids: number;
}

const noFaults: Faults = { crash: 0, stall: 0, errorBefore: 0, errorAfter: 0, late: 0, faultsMax: 0, jump: 0.002 };

const base: Profile = {
  name: "races",
  writers: 3,
  appends: [2, 3],
  compactors: 2,
  runs: [1, 2],
  collectors: 1,
  sweepers: 0,
  readers: 1,
  reads: [2, 4],
  faults: noFaults,
  skew: false,
  restores: 0,
  damages: 0,
  deletion: "never",
  retentionMs: [0, 1_500],
  ids: 5,
};

function profile(name: string, changes: Partial<Omit<Profile, "faults">> & { faults?: Partial<Faults> }): Profile {
  return { ...base, ...changes, name, faults: { ...noFaults, ...changes.faults } };
}

export const profiles = {
  /** Only the order varies. */
  races: profile("races", {}),
  /** Processes die at any call, before it, after it or in the middle. */
  crashes: profile("crashes", { faults: { crash: 0.02, faultsMax: 5 } }),
  /** Processes stall for longer than a lease, and continue. */
  stalls: profile("stalls", { skew: true, faults: { stall: 0.03, faultsMax: 8, jump: 0.01 } }),
  /** Calls fail, answers are lost, calls arrive after their callers have given up. */
  answers: profile("answers", { faults: { errorBefore: 0.01, errorAfter: 0.02, late: 0.02, faultsMax: 10 } }),
  /** Little work and many workers: a collection becomes idle and active again. */
  quiet: profile("quiet", {
    writers: 1,
    appends: [3, 5],
    compactors: 2,
    runs: [3, 5],
    sweepers: 1,
    collectors: 0,
    faults: { stall: 0.02, crash: 0.004, faultsMax: 5 },
  }),
  /** Short retention, much garbage, readers of earlier versions. */
  retention: profile("retention", {
    writers: 2,
    collectors: 2,
    readers: 2,
    runs: [2, 3],
    retentionMs: [200, 1_200],
    faults: { jump: 0.01 },
  }),
  restores: profile("restores", {
    restores: 2,
    collectors: 1,
    faults: { crash: 0.004, stall: 0.008, errorAfter: 0.004, faultsMax: 4 },
  }),
  /** Deltas die and are redriven. */
  dead: profile("dead", {
    damages: 2,
    ids: 3,
    collectors: 1,
    runs: [3, 4],
    faults: { crash: 0.004, stall: 0.006, errorBefore: 0.004, errorAfter: 0.004, faultsMax: 4 },
  }),
  deletion: profile("deletion", {
    deletion: "any",
    compactors: 1,
    sweepers: 1,
    faults: { crash: 0.006, stall: 0.012, errorAfter: 0.004, late: 0.006, faultsMax: 5 },
  }),
  /** All of it. */
  everything: profile("everything", {
    skew: true,
    restores: 1,
    damages: 1,
    deletion: "undone",
    compactors: 1,
    sweepers: 1,
    faults: {
      crash: 0.008,
      stall: 0.012,
      errorBefore: 0.006,
      errorAfter: 0.008,
      late: 0.008,
      faultsMax: 10,
      jump: 0.005,
    },
  }),
} as const satisfies Record<string, Profile>;

export type ProfileName = keyof typeof profiles;
