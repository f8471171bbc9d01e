/** The protocol of the vector store under schedules chosen by a seed: order, crashes, stalls, lost answers. See simulation/. */
import { describe, expect, it } from "vitest";
import { explore } from "./simulation/explore.ts";
import { profiles } from "./simulation/profiles.ts";
import { runSchedule } from "./simulation/schedule.ts";

const timeout = 1_800_000;

describe("simulated schedules", () => {
  it("R-CMP-42 a seed determines its schedule, step by step", async () => {
    const first = await runSchedule(profiles.everything, 4711);
    await runSchedule(profiles.everything, 4712);
    const second = await runSchedule(profiles.everything, 4711);
    expect({ ...second }).toEqual({ ...first });
    expect((await runSchedule(profiles.everything, 4712)).fingerprint).not.toBe(first.fingerprint);
  });

  it(
    "R-CMP-42 R-CMP-01 R-CMP-05 writers, compactors, readers and a collector in any order lose nothing, and seq has no gap (races)",
    { timeout },
    async () => {
      await explore("races", 0.1, ["commits", "publishes", "merges", "collected", "reads", "earlierReads"]);
    },
  );

  it(
    "R-CMP-42 R-CMP-19 processes die at any call, before it, after it or half-way, and the next ones finish (crashes)",
    { timeout },
    async () => {
      await explore("crashes", 0.12, ["crashes", "repeated", "publishes", "merges", "collected"]);
    },
  );

  it(
    "R-CMP-42 R-CMP-12 R-CMP-14 R-CMP-15 owners stall for longer than their lease and continue, with clocks hours apart (stalls)",
    { timeout },
    async () => {
      await explore("stalls", 0.16, ["stalls", "fenced", "publishes", "collected"]);
    },
  );

  it(
    "R-CMP-42 R-CMP-20 R-CMP-21 answers are lost, and calls arrive after their callers have given up (answers)",
    { timeout },
    async () => {
      await explore("answers", 0.12, ["errors", "repeated", "publishes", "collected"]);
    },
  );
});
