/** Mastra's workflows domain: the snapshot of each run, which is what suspended runs are resumed from. */
import {
  createEmptyWorkflowSnapshot,
  matchesExpectedWorkflowStatus,
  mergeWorkflowStepResult,
  WorkflowsStorage,
  type StorageListWorkflowRunsInput,
  type UpdateWorkflowStateOptions,
  type WorkflowRun,
  type WorkflowRuns,
} from "@mastra/core/storage";
import type { WorkflowRunState } from "@mastra/core/workflows";
import type { ContainersApi } from "@pinakes/client";
import { takePage, windowOf } from "../page.ts";
import { RunStore, type RunState } from "./run-store.ts";

type ResultsInput = Parameters<WorkflowsStorage["updateWorkflowResults"]>[0];
type Results = Awaited<ReturnType<WorkflowsStorage["updateWorkflowResults"]>>;
type PersistInput = Parameters<WorkflowsStorage["persistWorkflowSnapshot"]>[0];

export class PinakesWorkflows extends WorkflowsStorage {
  readonly #runs: RunStore;

  constructor(api: ContainersApi, prefix: string) {
    super();
    this.#runs = new RunStore(api, prefix);
  }

  override async init(): Promise<void> {
    await this.#runs.container.ready();
  }

  async dangerouslyClearAll(): Promise<void> {
    await this.#runs.container.clear();
  }

  /** Each change is conditional on the version it is based on, so steps that end concurrently lose nothing. */
  supportsConcurrentUpdates(): boolean {
    return true;
  }

  async updateWorkflowResults({ workflowName, runId, stepId, result, requestContext }: ResultsInput): Promise<Results> {
    let context: Results = {};
    await this.#runs.change({ workflowName, runId }, (before) => {
      if (before === null) return undefined;
      const snapshot = snapshotOf(before, runId);
      context = mergeWorkflowStepResult({ snapshot, stepId, result, requestContext });
      return { ...before, snapshot, updatedAt: new Date() };
    });
    return context;
  }

  async updateWorkflowState(args: {
    workflowName: string;
    runId: string;
    opts: UpdateWorkflowStateOptions;
  }): Promise<WorkflowRunState | undefined> {
    const { expectedStatus, ...state } = args.opts;
    const changed = await this.#runs.change(args, (before) => {
      if (before === null) return undefined;
      const snapshot = snapshotOf(before, args.runId);
      if (!matchesExpectedWorkflowStatus(snapshot.status, expectedStatus)) return undefined;
      return { ...before, snapshot: { ...snapshot, ...state }, updatedAt: new Date() };
    });
    return changed?.snapshot;
  }

  async persistWorkflowSnapshot({
    workflowName,
    runId,
    resourceId,
    snapshot,
    createdAt,
    updatedAt,
  }: PersistInput): Promise<void> {
    const now = new Date();
    await this.#runs.change({ workflowName, runId }, (before) => ({
      resourceId: resourceId ?? before?.resourceId,
      snapshot,
      createdAt: createdAt ?? before?.createdAt ?? now,
      updatedAt: updatedAt ?? now,
    }));
  }

  async loadWorkflowSnapshot(key: { workflowName: string; runId: string }): Promise<WorkflowRunState | null> {
    return ((await this.#runs.find(key))?.snapshot as WorkflowRunState | undefined) ?? null;
  }

  async getWorkflowRunById({
    runId,
    workflowName,
  }: {
    runId: string;
    workflowName?: string;
  }): Promise<WorkflowRun | null> {
    return workflowName ? this.#runs.find({ runId, workflowName }) : this.#runs.findByRunId(runId);
  }

  async deleteWorkflowRunById(key: { runId: string; workflowName: string }): Promise<void> {
    await this.#runs.delete(key);
  }

  async listWorkflowRuns(args: StorageListWorkflowRunsInput = {}): Promise<WorkflowRuns> {
    const { workflowName, resourceId, status, threadId, page, perPage } = args;
    // Mastra numbers pages only if both are present; otherwise it wants all.
    const window =
      page === undefined || perPage === undefined
        ? windowOf(page ?? 0, false, 0)
        : windowOf(page, perPage, Number.MAX_SAFE_INTEGER);
    const source = this.#runs.walk({ workflowName, resourceId, status, from: args.fromDate, to: args.toDate });
    const { items, total } = await takePage(source, window, {
      matches: (run) => !threadId || run["threadId"] === threadId,
    });
    const runs: WorkflowRun[] = [];
    for (const document of items) {
      const run = await this.#runs.complete(document);
      if (run !== null) runs.push(run);
    }
    return { runs, total };
  }
}

function snapshotOf({ snapshot }: RunState, runId: string): WorkflowRunState {
  const known = snapshot ?? createEmptyWorkflowSnapshot(runId);
  if (!known.context) throw new Error(`Snapshot not found for runId ${runId}`);
  return known;
}
