/** Workflows: status, progress and recovery. RFC 0006 describes the items, the crash points and the leases. */
import type {
  Checkpoint,
  CreateOptions,
  Lease,
  LeaseHolder,
  NewCheckpoint,
  NewWorkflow,
  Page,
  Paging,
  Resumed,
  ResumeOptions,
  Stored,
  Workflow,
  WorkflowAgent,
  WorkflowChange,
  WorkflowError,
  WorkflowEvent,
  WorkflowQuery,
  WorkflowStats,
  WorkflowWrite,
} from "@pinakes/client";
import type { RegisteredWork } from "../../containers/index.ts";
import { requireCaller, type Caller } from "../../domain/caller.ts";
import { invalid, show } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Item, SessionTokens } from "../../ports/item-store.ts";
import type { StateDependencies } from "../dependencies.ts";
import { failed, moved, patched, resumed, retried, skipped, started, withAgent, type Action } from "./actions.ts";
import { processWorkflow } from "./process-workflow.ts";
import { Changes } from "./change-workflow.ts";
import { CheckpointReads, noCheckpoint } from "./checkpoint-reads.ts";
import { CheckpointWrites } from "./checkpoint-writes.ts";
import { clean } from "./clean.ts";
import { Creation } from "./create-workflow.ts";
import { followWorkflow, type FollowWorkflow } from "./events.ts";
import { latestOf, type LatestRecord } from "./latest.ts";
import { leaseOf, viewOf } from "./lease.ts";
import { Leases } from "./leases.ts";
import { workflowLimits } from "./limits.ts";
import { checkWorkflowId, noWorkflow, Partitions } from "./partitions.ts";
import { countWorkflows, listWorkflows } from "./queries.ts";
import { shown, shownAlone } from "./progress.ts";
import { storedText, type Version } from "./stored.ts";
import { workflowStates } from "./workflow-states.ts";

interface FoundWorkflow {
  readonly document: JsonObject;
  readonly version: Version;
  readonly latest: LatestRecord | undefined;
  /** The item that `latest` names, if it was read too. */
  readonly known: Item | undefined;
}

export class Workflows {
  readonly #deps: StateDependencies;
  readonly #partitions: Partitions;
  readonly #changes: Changes;
  readonly #reads: CheckpointReads;
  readonly #writes: CheckpointWrites;
  readonly #creation: Creation;
  readonly #leases: Leases;
  /** Number of checkpoints added to the result of `get`: two results with the same document may differ in it. */
  readonly #counts = new WeakMap<object, number>();

  constructor(deps: StateDependencies) {
    this.#deps = deps;
    this.#partitions = new Partitions(deps.items);
    this.#changes = new Changes(deps, this.#partitions);
    this.#reads = new CheckpointReads(deps);
    this.#writes = new CheckpointWrites(deps, this.#changes);
    this.#creation = new Creation(deps, this.#partitions, this.#writes);
    this.#leases = new Leases(deps, this.#partitions, this.#changes);
  }

  /** Opens the container. */
  async open(): Promise<void> {
    await this.#deps.items.openContainer(workflowStates.definition);
  }

  /** Processes due work. */
  async process(entry: RegisteredWork): Promise<void> {
    await processWorkflow(this.#deps, this.#partitions, this.#changes, entry as RegisteredWork<"workflow">);
  }

  async create(caller: Caller, input: NewWorkflow, options: CreateOptions = {}): Promise<Stored<Workflow>> {
    requireCaller(caller);
    return this.#creation.create(caller, input, options);
  }

  async get(
    caller: Caller,
    workflowId: string,
    options: { readonly checkpoints?: "recent" | "none" } = {},
  ): Promise<Stored<Workflow>> {
    const scope = requireCaller(caller);
    checkWorkflowId(workflowId);
    const { checkpoints = "recent" } = options;
    if (checkpoints !== "recent" && checkpoints !== "none")
      throw invalid(`checkpoints: must be "recent" or "none", got ${show(checkpoints)}.`);
    const { document, version, latest } = await this.#find(scope, workflowId);
    if (checkpoints === "none") return this.#counted(shownAlone(document, latest, version), latest);
    if (latest === undefined) return shown(document, latest, version);
    const recent = await this.#reads.recent(scope, document, latest);
    const { checkpoints_omitted: _all, ...whole } = shown(document, latest, version);
    return this.#counted(
      {
        ...whole,
        checkpoints: recent.checkpoints,
        ...(recent.omitted === 0 ? {} : { checkpoints_omitted: recent.omitted }),
      },
      latest,
    );
  }

  /** The result of `get` as JSON text, which avoids parsing; undefined if it must be composed first. */
  async getText(
    caller: Caller,
    workflowId: string,
  ): Promise<{ readonly etag: string; readonly json: Uint8Array<ArrayBuffer> } | undefined> {
    const raw = await this.#partitions.raw(requireCaller(caller), checkWorkflowId(workflowId));
    return raw === undefined ? undefined : { etag: raw.etag, json: storedText(raw) };
  }

  /** Distinguishes two results of `get`: the document's etag, and after a dot the number of added checkpoints. */
  versionOf(workflow: Stored<Workflow>): string {
    const count = this.#counts.get(workflow);
    return count === undefined ? workflow._etag : `${workflow._etag}.${count}`;
  }

  async list(
    caller: Caller,
    query: WorkflowQuery & { readonly session?: SessionTokens | undefined } = {},
  ): Promise<Page<Stored<Workflow>>> {
    return listWorkflows(this.#deps.items, requireCaller(caller), query);
  }

  async stats(caller: Caller): Promise<WorkflowStats> {
    return countWorkflows(this.#deps.items, requireCaller(caller));
  }

  async patch(
    caller: Caller,
    workflowId: string,
    change: WorkflowChange,
    options: WorkflowWrite = {},
  ): Promise<Stored<Workflow>> {
    return this.#act(caller, workflowId, options, () => patched(change));
  }

  async delete(caller: Caller, workflowId: string, options: WorkflowWrite = {}): Promise<void> {
    const scope = requireCaller(caller);
    checkWorkflowId(workflowId);
    const { latest } = await this.#changes.run(scope, workflowId, options, () => ({ remove: true }));
    if (latest === undefined) return;
    // It is deleted, whatever happens now: the work registry names the leftovers.
    await clean(this.#deps, scope, workflowId).catch((error: unknown) =>
      this.#deps.log(
        `state: the leftovers of workflow ${workflowId} of ${scope.tenant} are removed later: ${String(error)}`,
      ),
    );
  }

  async start(caller: Caller, workflowId: string, options: WorkflowWrite = {}): Promise<Stored<Workflow>> {
    return this.#act(caller, workflowId, options, () => started);
  }

  async pause(caller: Caller, workflowId: string, options: WorkflowWrite = {}): Promise<Stored<Workflow>> {
    return this.#act(caller, workflowId, options, () => moved("paused"));
  }

  async cancel(caller: Caller, workflowId: string, options: WorkflowWrite = {}): Promise<Stored<Workflow>> {
    return this.#act(caller, workflowId, options, () => moved("cancelled"));
  }

  async complete(caller: Caller, workflowId: string, options: WorkflowWrite = {}): Promise<Stored<Workflow>> {
    return this.#act(caller, workflowId, options, () => moved("completed"));
  }

  async fail(
    caller: Caller,
    workflowId: string,
    error: Partial<WorkflowError>,
    options: WorkflowWrite = {},
  ): Promise<Stored<Workflow>> {
    return this.#act(caller, workflowId, options, () => failed(error));
  }

  async retry(caller: Caller, workflowId: string, options: WorkflowWrite = {}): Promise<Stored<Workflow>> {
    return this.#act(caller, workflowId, options, () => retried);
  }

  async skip(caller: Caller, workflowId: string, options: WorkflowWrite = {}): Promise<Stored<Workflow>> {
    return this.#act(caller, workflowId, options, () => skipped);
  }

  async resume(caller: Caller, workflowId: string, options: ResumeOptions = {}): Promise<Resumed> {
    const scope = requireCaller(caller);
    checkWorkflowId(workflowId);
    const { owner, leaseSeconds, ...write } = options;
    const take = owner === undefined ? undefined : this.#leases.taking(owner, leaseSeconds, write.fencingToken);
    const { workflow, lease, latest } = await this.#changes.run(
      scope,
      workflowId,
      { ...write, anyToken: take !== undefined },
      (current) => {
        const next = resumed(current.document, current.now);
        return {
          ...(next === undefined ? {} : { document: next }),
          ...(take === undefined ? {} : { lease: take(current.lease, current.now) }),
        };
      },
    );
    const checkpoint = (await this.#reads.at(scope, workflow as unknown as JsonObject, latest, "latest")) ?? null;
    const { state = {}, agent_context = {} } = checkpoint ?? {};
    return { workflow, checkpoint, state, agent_context, lease: take === undefined ? null : viewOf(lease) };
  }

  async setAgent(
    caller: Caller,
    workflowId: string,
    agentId: string,
    agent: Partial<WorkflowAgent>,
    options: WorkflowWrite = {},
  ): Promise<Stored<Workflow>> {
    return this.#act(caller, workflowId, options, () => withAgent(agentId, agent));
  }

  async checkpoint(
    caller: Caller,
    workflowId: string,
    checkpoint: NewCheckpoint,
    options: WorkflowWrite = {},
  ): Promise<Checkpoint> {
    const scope = requireCaller(caller);
    return this.#writes.append(scope, checkWorkflowId(workflowId), checkpoint, options);
  }

  async checkpoints(
    caller: Caller,
    workflowId: string,
    query: Paging & { readonly order?: "asc" | "desc" | undefined } = {},
  ): Promise<Page<Checkpoint>> {
    const scope = requireCaller(caller);
    const { document, latest } = await this.#find(scope, checkWorkflowId(workflowId));
    return this.#reads.page(scope, document, latest, query);
  }

  async checkpointAt(caller: Caller, workflowId: string, step: number | "latest"): Promise<Checkpoint> {
    const scope = requireCaller(caller);
    checkWorkflowId(workflowId);
    if (step !== "latest" && !(Number.isInteger(step) && step >= 0 && step <= workflowLimits.checkpointStepMax))
      throw invalid(
        `step: must be "latest" or a whole number from 0 to ${workflowLimits.checkpointStepMax}, got ${show(step)}.`,
      );
    const { document, latest, known } = await this.#find(scope, workflowId, { withCheckpoint: step === "latest" });
    const checkpoint = await this.#reads.at(scope, document, latest, step, known);
    if (checkpoint === undefined) throw noCheckpoint(workflowId, step);
    return checkpoint;
  }

  async lease(caller: Caller, workflowId: string): Promise<LeaseHolder> {
    const scope = requireCaller(caller);
    return this.#leases.holder(scope, checkWorkflowId(workflowId));
  }

  async acquireLease(
    caller: Caller,
    workflowId: string,
    options: { readonly owner: string; readonly leaseSeconds?: number | undefined },
  ): Promise<Lease> {
    const scope = requireCaller(caller);
    return this.#leases.acquire(scope, checkWorkflowId(workflowId), options);
  }

  async renewLease(
    caller: Caller,
    workflowId: string,
    options: { readonly fencingToken: number; readonly leaseSeconds?: number | undefined },
  ): Promise<Lease> {
    const scope = requireCaller(caller);
    return this.#leases.renew(scope, checkWorkflowId(workflowId), options);
  }

  async releaseLease(caller: Caller, workflowId: string, options: { readonly fencingToken: number }): Promise<void> {
    const scope = requireCaller(caller);
    await this.#leases.release(scope, checkWorkflowId(workflowId), options);
  }

  events(caller: Caller, workflowId: string, options: FollowWorkflow): AsyncIterable<WorkflowEvent> {
    const scope = requireCaller(caller);
    return followWorkflow(this.#deps, this.#partitions, scope, checkWorkflowId(workflowId), options);
  }

  #counted(workflow: Stored<Workflow>, latest: LatestRecord | undefined): Stored<Workflow> {
    if (latest !== undefined) this.#counts.set(workflow, latest.count);
    return workflow;
  }

  async #find(
    scope: Scope,
    workflowId: string,
    options?: { readonly withCheckpoint: boolean },
  ): Promise<FoundWorkflow> {
    const { workflow, lease, latest: item, checkpoint } = await this.#partitions.all(scope, workflowId, options);
    if (workflow === undefined) throw noWorkflow(workflowId);
    const latest = latestOf(item, leaseOf(lease, workflowId));
    const known = checkpoint?.id === latest?.checkpoint_id ? checkpoint : undefined;
    if (known === undefined && latest !== undefined)
      this.#partitions.remember(scope, workflowId, workflow.id, latest.checkpoint_id);
    return { document: workflow.document, version: workflow, latest, known };
  }

  /** The action runs after the caller is validated: it may reject its input. */
  async #act(
    caller: Caller,
    workflowId: string,
    options: WorkflowWrite,
    make: () => Action,
  ): Promise<Stored<Workflow>> {
    const scope = requireCaller(caller);
    checkWorkflowId(workflowId);
    const action = make();
    const { workflow } = await this.#changes.run(scope, workflowId, options, ({ document, now, done }) => ({
      document: action(document, now, done),
    }));
    return workflow;
  }
}
