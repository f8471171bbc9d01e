/** Runs of workflows as documents: in the partition of the run, under the name of the workflow. */
import { getSnapshotMemoryInfo, type WorkflowRun } from "@mastra/core/storage";
import type { WorkflowRunState } from "@mastra/core/workflows";
import type { ContainersApi } from "@pinakes/client";
import { Container, isStartAgain } from "../container.ts";
import { SnapshotParts, type RunDocument } from "./snapshot-parts.ts";

export interface RunKey {
  readonly workflowName: string;
  readonly runId: string;
}

/** A run; the snapshot is the text as stored. */
export interface RunState {
  readonly resourceId: string | undefined;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly snapshot: WorkflowRunState;
}

/** A reader that encounters a concurrent replacement reads again. */
const readsMax = 10;

export class RunStore {
  readonly container: Container<RunDocument>;
  readonly #parts: SnapshotParts;

  constructor(api: ContainersApi, prefix: string) {
    this.container = new Container(api, `${prefix}-workflow-runs`, {
      partition_key: "/run_id",
      indexes: {
        byCreated: { partition: ["/kind"], sort: ["/createdAt"] },
        ofWorkflow: { partition: ["/workflow_name"], sort: ["/createdAt"] },
        ofResource: { partition: ["/resourceId"], sort: ["/createdAt"] },
      },
    });
    this.#parts = new SnapshotParts(this.container);
  }

  async find({ runId, workflowName }: RunKey): Promise<WorkflowRun | null> {
    return this.#complete(() => this.container.read({ pk: runId, id: idOf(workflowName) }));
  }

  /** Of any workflow; the newest if several share the id. */
  async findByRunId(runId: string): Promise<WorkflowRun | null> {
    return this.#complete(async () => {
      let newest: RunDocument | null = null;
      for await (const document of this.container.walk({ equals: { run_id: runId } })) {
        if (document["kind"] === "run" && (newest === null || createdAtOf(document) > createdAtOf(newest)))
          newest = document;
      }
      return newest;
    });
  }

  /** Atomic read-modify-write. `change` returns undefined to change nothing. */
  async change(key: RunKey, change: (before: RunState | null) => RunState | undefined): Promise<RunState | undefined> {
    const id = idOf(key.workflowName);
    const written: RunDocument[] = [];
    let replaced: RunDocument | null = null;
    let result: RunState | undefined;
    await this.container.modify({ pk: key.runId, id }, async (before) => {
      replaced = before;
      result = change(before === null ? null : stateOf(await this.#asRun(before)));
      if (result === undefined) return undefined;
      const document = await this.#toDocument(id, key, result);
      written.push(document);
      return document;
    });
    // Only after a write that succeeded: then the run names its parts and no earlier ones, whatever became of earlier attempts.
    if (result !== undefined) await this.#forget([...written.slice(0, -1), replaced]);
    return result;
  }

  /** The change is committed and must not fail because of the cleanup; leftover parts are harmless. */
  async #forget(runs: readonly (RunDocument | null)[]): Promise<void> {
    await Promise.allSettled(runs.map((run) => this.#parts.remove(run)));
  }

  async delete({ runId, workflowName }: RunKey): Promise<void> {
    await this.#parts.remove(await this.container.take({ pk: runId, id: idOf(workflowName) }));
  }

  /** Newest first. */
  walk({ workflowName, resourceId, from, to, status }: RunQuery): AsyncGenerator<RunDocument> {
    const where = workflowName
      ? { index: "ofWorkflow", equals: { workflow_name: workflowName } }
      : resourceId
        ? { index: "ofResource", equals: { resourceId } }
        : { index: "byCreated", equals: { kind: "run" } };
    const filter = { ...(resourceId && workflowName ? { resourceId } : {}), ...(status ? { status } : {}) };
    return this.container.walk({
      ...where,
      range: { ...(from ? { gte: from.toISOString() } : {}), ...(to ? { lte: to.toISOString() } : {}) },
      order: "desc",
      ...(Object.keys(filter).length > 0 ? { filter } : {}),
    });
  }

  /** With its snapshot; null if it was removed meanwhile. */
  async complete(document: RunDocument): Promise<WorkflowRun | null> {
    let first: RunDocument | null = document;
    return this.#complete(async () => {
      const current = first ?? (await this.container.read({ pk: document.run_id, id: document.id }));
      first = null;
      return current;
    });
  }

  async #complete(read: () => Promise<RunDocument | null>): Promise<WorkflowRun | null> {
    for (let attempt = 1; ; attempt += 1) {
      const document = await read();
      if (document === null) return null;
      try {
        return await this.#asRun(document);
      } catch (error) {
        if (attempt === readsMax || !isStartAgain(error)) throw error;
      }
    }
  }

  async #asRun(document: RunDocument): Promise<WorkflowRun> {
    const { resourceId } = document;
    return {
      runId: document.run_id,
      workflowName: document["workflow_name"] as string,
      ...(resourceId === undefined ? {} : { resourceId: resourceId as string }),
      snapshot: JSON.parse(await this.#parts.load(document)) as WorkflowRunState,
      createdAt: new Date(createdAtOf(document)),
      updatedAt: new Date(document["updatedAt"] as string),
    };
  }

  async #toDocument(id: string, { workflowName, runId }: RunKey, state: RunState): Promise<RunDocument> {
    const { resourceId, snapshot, createdAt, updatedAt } = state;
    const threadId: unknown = getSnapshotMemoryInfo(snapshot)?.threadId;
    return {
      id,
      kind: "run",
      run_id: runId,
      workflow_name: workflowName,
      ...(resourceId === undefined ? {} : { resourceId }),
      ...(typeof threadId === "string" ? { threadId } : {}),
      status: snapshot.status,
      createdAt: createdAt.toISOString(),
      updatedAt: updatedAt.toISOString(),
      ...(await this.#parts.store(runId, id, JSON.stringify(snapshot))),
    };
  }
}

export interface RunQuery {
  readonly workflowName?: string | undefined;
  readonly resourceId?: string | undefined;
  readonly status?: string | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

const createdAtOf = (document: RunDocument) => document["createdAt"] as string;

function stateOf({ resourceId, createdAt, updatedAt, snapshot }: WorkflowRun): RunState {
  return { resourceId, createdAt, updatedAt, snapshot: snapshot as WorkflowRunState };
}

/** Parts of snapshots are stored beside it under ids with another prefix. */
const idOf = (workflowName: string) => `run-${workflowName}`;
