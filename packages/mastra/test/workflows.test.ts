import type { StorageListWorkflowRunsInput, WorkflowRun } from "@mastra/core/storage";
import type { WorkflowRunState } from "@mastra/core/workflows";
import { describe, expect, it } from "vitest";
import { partCharsMax } from "../src/workflows/snapshot-parts.ts";
import { dateAt, domainsOf, openStores, ways } from "./support/stores.ts";

function snapshot(runId: string, more: Partial<WorkflowRunState> = {}): WorkflowRunState {
  return {
    runId,
    status: "running",
    value: {},
    context: { input: {} },
    activePaths: [],
    activeStepsPath: {},
    suspendedPaths: {},
    resumeLabels: {},
    waitingPaths: {},
    serializedStepGraph: [],
    timestamp: 1,
    ...more,
  } as WorkflowRunState;
}
const done = (output: unknown) => ({ status: "success" as const, output, payload: {}, startedAt: 1, endedAt: 2 });
const bare = ({ runId, workflowName, resourceId, snapshot: state, createdAt }: WorkflowRun) => ({
  runId,
  workflowName,
  resourceId,
  state,
  createdAt,
});

describe.each(ways)("workflows on %s, %s", (engine, via) => {
  it("R-AGT-95 Mastra workflows: runs are persisted, found, listed and filtered as Mastra's own store does", async () => {
    await using stores = await openStores(engine, via);
    for (const { workflows } of [stores.ours, stores.reference]) {
      for (let i = 0; i < 8; i += 1) {
        const memoryInfo = { threadId: `t${i % 2}`, resourceId: "r1" };
        const context = i < 4 ? { input: { messageListState: { memoryInfo } } } : { input: {} };
        await workflows.persistWorkflowSnapshot({
          workflowName: i % 2 === 0 ? "even/one ?" : "odd",
          runId: `run${i}`,
          ...(i % 4 === 0 ? { resourceId: "r1" } : {}),
          snapshot: snapshot(`run${i}`, { status: i < 3 ? "suspended" : "success", context: context as never }),
          createdAt: dateAt(i),
        });
      }
    }
    const wishes: readonly StorageListWorkflowRunsInput[] = [
      {},
      { workflowName: "odd" },
      { workflowName: "even/one ?", perPage: 2, page: 1 },
      { perPage: 3, page: 0 },
      { perPage: 3 },
      { status: "suspended" },
      { workflowName: "even/one ?", resourceId: "r1", status: "success" },
      { resourceId: "r1" },
      { fromDate: dateAt(2), toDate: dateAt(5) },
      { fromDate: dateAt(6) },
      { threadId: "t1" },
      { workflowName: "nothing" },
    ];
    for (const wish of wishes) {
      const [ours, theirs] = [
        await stores.ours.workflows.listWorkflowRuns(wish),
        await stores.reference.workflows.listWorkflowRuns(wish),
      ];
      expect({ ...ours, runs: ours.runs.map(bare) }, JSON.stringify(wish)).toEqual({
        ...theirs,
        runs: theirs.runs.map(bare),
      });
    }
    const { workflows } = stores.ours;
    await expect(workflows.listWorkflowRuns({ page: -1, perPage: 1 })).rejects.toThrow(/page must be >= 0/);
    expect((await workflows.getWorkflowRunById({ runId: "run3" }))?.workflowName).toBe("odd");
    expect(await workflows.getWorkflowRunById({ runId: "run3", workflowName: "even/one ?" })).toBeNull();
    expect(await workflows.loadWorkflowSnapshot({ workflowName: "odd", runId: "nobody" })).toBeNull();
    await workflows.deleteWorkflowRunById({ runId: "run3", workflowName: "odd" });
    await workflows.deleteWorkflowRunById({ runId: "run3", workflowName: "odd" });
    expect(await workflows.getWorkflowRunById({ runId: "run3" })).toBeNull();
  });

  it("R-AGT-95 Mastra workflows: a run that is persisted again keeps its beginning and its resource", async () => {
    await using stores = await openStores(engine, via);
    const { workflows } = stores.ours;
    const key = { workflowName: "w", runId: "1" };
    await workflows.persistWorkflowSnapshot({
      ...key,
      resourceId: "r1",
      snapshot: snapshot("1"),
      createdAt: dateAt(1),
      updatedAt: dateAt(1),
    });
    await workflows.persistWorkflowSnapshot({
      ...key,
      snapshot: snapshot("1", { status: "success" }),
      updatedAt: dateAt(2),
    });
    expect(await workflows.getWorkflowRunById(key)).toEqual({
      ...key,
      resourceId: "r1",
      createdAt: dateAt(1),
      updatedAt: dateAt(2),
      snapshot: snapshot("1", { status: "success" }),
    });
  });

  it("R-AGT-95 Mastra workflows: steps that end at once in two processes are all kept, and a state changes only from the one expected", async () => {
    await using stores = await openStores(engine, via);
    const { workflows } = stores.ours;
    const other = domainsOf(await stores.another()).workflows;
    expect(workflows.supportsConcurrentUpdates()).toBe(true);
    const key = { workflowName: "w", runId: "1" };
    expect(await workflows.updateWorkflowResults({ ...key, stepId: "s", result: done(1), requestContext: {} })).toEqual(
      {},
    );
    expect(await workflows.updateWorkflowState({ ...key, opts: { status: "success" } })).toBeUndefined();
    await workflows.persistWorkflowSnapshot({ ...key, snapshot: snapshot("1") });
    const steps = Array.from({ length: 12 }, (_, i) => `step${i}`);
    await Promise.all(
      steps.map((stepId, i) =>
        (i % 2 === 0 ? workflows : other).updateWorkflowResults({
          ...key,
          stepId,
          result: done(i),
          requestContext: { [stepId]: i },
        }),
      ),
    );
    const state = await other.loadWorkflowSnapshot(key);
    expect(steps.map((stepId) => (state?.context[stepId] as { output: unknown } | undefined)?.output)).toEqual(
      steps.map((_, i) => i),
    );
    expect(Object.keys(state?.requestContext ?? {}).sort()).toEqual([...steps].sort());
    const claims = await Promise.all(
      [workflows, other, workflows, other].map((own) =>
        own.updateWorkflowState({ ...key, opts: { status: "suspended", expectedStatus: "running" } as never }),
      ),
    );
    expect(claims.filter((claim) => claim !== undefined).length).toBe(1);
    expect((await workflows.loadWorkflowSnapshot(key))?.status).toBe("suspended");
  });

  it("R-AGT-95 Mastra workflows: a snapshot of many megabytes is kept whole, at the size of a part and beyond", async () => {
    await using stores = await openStores(engine, via);
    const { workflows } = stores.ours;
    const key = { workflowName: "w", runId: "1" };
    const empty = JSON.stringify(snapshot("1", { context: { input: { text: "" } } as never })).length;
    for (const chars of [partCharsMax - empty, partCharsMax - empty + 1, 12 * partCharsMax, 3]) {
      const text = "é😀"
        .repeat(Math.ceil(chars / 3))
        .slice(0, chars)
        .toWellFormed();
      const large = snapshot("1", { context: { input: { text } } as never });
      await workflows.persistWorkflowSnapshot({ ...key, snapshot: large });
      expect(await workflows.loadWorkflowSnapshot(key)).toEqual(large);
      const { runs } = await workflows.listWorkflowRuns({ workflowName: "w" });
      expect(runs.map(({ snapshot: state }) => state)).toEqual([large]);
    }
    const api = await stores.world.api();
    const left = await api.containers.query("mastra-workflow-runs", { equals: { run_id: "1" } });
    expect(left.items.length).toBe(1);
    await workflows.deleteWorkflowRunById(key);
    expect((await api.containers.query("mastra-workflow-runs", { equals: { run_id: "1" } })).items).toEqual([]);
  });
});
