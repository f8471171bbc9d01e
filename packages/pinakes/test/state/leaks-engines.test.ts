/** The same attempts on the other engines: whoever keeps the rows, another workspace finds, changes and erases none of them. */
import { beforeAll, describe, expect, it } from "vitest";
import type { Caller } from "../../src/domain/caller.ts";
import { openTestPinakes } from "../knowledge/support/test-pinakes.ts";
import { making, onEverything, onThings, type Attempt, type Target } from "./support/attempts.ts";
import { outcome } from "./support/outcome.ts";
import { fillState, namesOf, newMarker } from "./support/secret-state.ts";
import { useServers } from "../support/servers.ts";
import { forAllTests } from "../support/for-tests.ts";

const { postgres, dynamo } = useServers();

/** Reads that together show all there is. */
const whole: readonly Attempt[] = [
  (s, who, t) => s.workflows.get(who, t.wid),
  (s, who, t) => s.workflows.checkpoints(who, t.wid),
  (s, who) => s.workflows.list(who),
  (s, who, t) => s.memories.list(who, t.aid),
  (s, who, t) => s.memories.sessions(who, t.aid),
  (s, who, t) => s.threads.list(who, t.threadId),
  (s, who, t) => s.systemThreads.list(who, t.threadId),
  (s, who, t) => s.entities.get(who, t.agentId),
  (s, who) => s.metrics.list(who),
  (s, who, t) => s.metrics.rollups(who, { from: `${t.dayBefore}T00:00:00Z` }),
  (s, who) => s.tools.list(who),
  (s, who) => s.tools.rules(who),
  (s, who) => s.tools.settings(who),
  (s, who, t) => s.tools.verifyChain(who, t.date),
  (s, who) => s.containers.list(who),
  (s, who, t) => s.containers.query(who, t.c, { query: "SELECT * FROM c" }),
  async (s, who, t) => (await s.containers.changes(who, t.c, { mode: "all" })).items,
  ...["workflow-states", "agent-memories", "tool-invocations", "thread-message-store"].map(
    (name): Attempt =>
      async (s, who) =>
        (await s.containers.changes(who, name, { mode: "all", limit: 1000 })).items,
  ),
];

describe.each([
  ["memory", () => "memory:"],
  ["PostgreSQL", postgres],
  ["DynamoDB", () => dynamo("leaks")],
])("on %s", (_, address) => {
  const [marker, neverMarker, secret] = [newMarker(), newMarker(), newMarker()];
  let target: Target;
  let never: Target;
  let before: readonly string[];

  const test = forAllTests(() => openTestPinakes("elsewhere", { items: address(), background: false }));
  beforeAll(async () => {
    const now = Date.now();
    const etags = await fillState(test.pinakes.state, test.admin, namesOf(marker, now), secret, now);
    // Each engine's server is shared, so the store has a database of its own, and the default one its name.
    const home = test.pinakes.info().database;
    target = { ...namesOf(marker, now), home, etags };
    never = { ...namesOf(neverMarker, now), home, etags };
    before = await everything();
  });

  const tried = async (attempt: Attempt | undefined, caller: Caller, of: Target): Promise<string> =>
    (await outcome(test.pinakes.state, attempt, caller, of)).replaceAll(neverMarker, marker);
  const everything = (): Promise<readonly string[]> =>
    Promise.all(whole.map((attempt) => tried(attempt, test.admin, target)));

  it("R-AGT-09 every method answers another workspace as if nothing had ever been there", async () => {
    const eve = test.as("root", { tenant: "other", role: "admin" });
    for (const [name, attempt] of Object.entries({ ...onThings, ...onEverything })) {
      const real = await tried(attempt, eve, target);
      expect(real, name).toBe(await tried(attempt, eve, never));
      expect(real, name).toMatch(name in onThings ? /^NOT_FOUND/ : /^answered/);
      for (const trace of [secret, "31415", "27182", '"acme"']) expect(real, name).not.toContain(trace);
    }
    expect(await everything()).toEqual(before);
  });

  it("R-AGT-09 the same names are free there; made, changed and cleared there they stay here as they were", async () => {
    for (const [name, attempt] of Object.entries(making)) {
      const own = test.as("root", { tenant: `fresh-${name.replaceAll(/[^\w.]/g, "-")}`, role: "admin" });
      const real = await tried(attempt, own, target);
      expect(real, name).toMatch(/^answered/);
      expect(real, name).not.toContain(secret);
    }
    const rival = test.as("root", { tenant: "rival", role: "admin" });
    await fillState(test.pinakes.state, rival, target, newMarker(), Date.now());
    let worked = 0;
    for (const [name, attempt] of Object.entries({ ...onThings, ...onEverything })) {
      const real = await tried(attempt, rival, target);
      expect(real, name).not.toContain(secret);
      if (real.startsWith("answered")) worked += 1;
    }
    expect(worked).toBeGreaterThan(40);
    expect(before.every((text) => text.startsWith("answered"))).toBe(true);
    expect(before.filter((text) => text.includes(secret)).length).toBeGreaterThan(12);
    expect(await everything()).toEqual(before);
  });
});
