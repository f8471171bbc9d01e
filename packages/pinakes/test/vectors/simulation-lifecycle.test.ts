/** As simulation.test.ts, for the lifecycle of a collection: retention, restores, dead deltas, deletion. */
import { describe, it } from "vitest";
import { explore } from "./simulation/explore.ts";

const timeout = 1_800_000;

describe("simulated schedules", () => {
  it(
    "R-CMP-42 R-CMP-28 earlier versions stay readable within their retention, while garbage is collected (retention)",
    { timeout },
    async () => {
      await explore("retention", 0.08, ["earlierReads", "collected", "publishes"]);
    },
  );

  it(
    "R-CMP-42 the sweep always finds a collection that becomes idle and active again (quiet)",
    { timeout },
    async () => {
      await explore("quiet", 0.08, ["stalls", "crashes", "fenced", "publishes"]);
    },
  );

  it(
    "R-CMP-42 an earlier version is restored while others write, compact and collect (restores)",
    { timeout },
    async () => {
      await explore("restores", 0.1, ["restores", "fenced", "crashes", "collected"]);
    },
  );

  it(
    "R-CMP-42 R-CMP-24 corrupt deltas die and are redriven, and nothing deleted since is resurrected (dead)",
    { timeout },
    async () => {
      await explore("dead", 0.08, ["deaths", "redrives", "discards", "merges", "collected"]);
    },
  );

  it(
    "R-CMP-42 a collection is trashed, undeleted and purged under its writers, and nothing is left (deletion)",
    { timeout },
    async () => {
      await explore("deletion", 0.1, ["commits", "fenced", "collected", "errors"]);
    },
  );

  it("R-CMP-42 all of it at once (everything)", { timeout }, async () => {
    await explore("everything", 0.06, ["crashes", "stalls", "errors", "restores", "deaths", "redrives", "fenced"]);
  });
});
