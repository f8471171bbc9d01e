/**
 * The only way to change a workflow: read it with its lease, decide, and commit on condition that neither changed concurrently.
 * After a conflict it reads and decides again; with `ifMatch` the second read fails.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Stored, Workflow, WorkflowWrite } from "@pinakes/client";
import { PinakesError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { KeyedQueue } from "../../runtime/keyed-queue.ts";
import type { Scope } from "../../domain/scope.ts";
import { isConflict } from "../../runtime/expected-errors.ts";
import type { Item, Operation } from "../../ports/item-store.ts";
import type { StateDependencies } from "../dependencies.ts";
import { containerName } from "./definition.ts";
import { DueWork, nextDue } from "./due-work.ts";
import { latestId, latestOf, type LatestRecord } from "./latest.ts";
import { leaseOf, newLease, leaseOperation, requireToken, type LeaseRecord } from "./lease.ts";
import { workflowLimits } from "./limits.ts";
import { noWorkflow, type Partitions } from "./partitions.ts";
import { shown, stepReached, withProgress } from "./progress.ts";
import { versionOf, type Version } from "./stored.ts";
import { deadlineOf, type WorkflowDocument } from "./transitions.ts";

export interface Current {
  readonly workflow: Item;
  /** Progress according to its latest checkpoint. */
  readonly document: WorkflowDocument;
  /** The step of that checkpoint; 0 without one. */
  readonly done: number;
  readonly lease: LeaseRecord;
  readonly latestItem: Item | undefined;
  readonly now: number;
}

export interface Decision {
  /** The new document; absent: no change. */
  readonly document?: WorkflowDocument;
  /** Deletes the workflow. */
  readonly remove?: true;
  /** Sets its modification time only. */
  readonly touch?: boolean;
  readonly lease?: LeaseRecord;
  /** Further operations of the same batch. */
  readonly operations?: readonly Operation[];
}

export interface Changed {
  readonly workflow: Stored<Workflow>;
  readonly lease: LeaseRecord;
  /** Number of added checkpoints before this change; undefined if there was none. */
  readonly latest: LatestRecord | undefined;
}

export interface ChangeOptions extends WorkflowWrite {
  /** For the system, or a worker that acquires the lease: no token is required. */
  readonly anyToken?: boolean | undefined;
}

export class Changes {
  readonly #deps: StateDependencies;
  readonly #partitions: Partitions;
  readonly #due: DueWork;
  readonly #queue = new KeyedQueue();

  constructor(deps: StateDependencies, partitions: Partitions) {
    this.#deps = deps;
    this.#partitions = partitions;
    this.#due = new DueWork(deps);
  }

  /** Changes of one workflow are serialized in a process, so that only other processes cause conflicts. */
  async run(
    scope: Scope,
    workflowId: string,
    options: ChangeOptions,
    decide: (current: Current) => Decision | Promise<Decision>,
  ): Promise<Changed> {
    return this.#queue.run([`${scope.tenant} ${workflowId}`], async () => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await this.#once(scope, workflowId, options, decide);
        } catch (error) {
          if (!(error instanceof Outrun)) throw error;
          if (attempt >= workflowLimits.changeAttemptsMax) throw error.cause;
          await sleep(Math.random() * Math.min(100, 2 ** attempt));
        }
      }
    });
  }

  async #once(
    scope: Scope,
    workflowId: string,
    options: ChangeOptions,
    decide: (current: Current) => Decision | Promise<Decision>,
  ): Promise<Changed> {
    const { workflow, lease: leaseItem, latest: latestItem } = await this.#partitions.all(scope, workflowId);
    if (workflow === undefined) throw noWorkflow(workflowId);
    const now = this.#deps.clock.now();
    const lease =
      leaseItem === undefined ? newLease(workflowId, { workflow: workflow.id }) : leaseOf(leaseItem, workflowId);
    if (options.anyToken !== true) requireToken(lease, options.fencingToken, now);
    if (options.ifMatch !== undefined && options.ifMatch !== workflow.etag) throw outdated(workflowId, workflow.etag);
    const latest = latestOf(latestItem, lease);
    const document = withProgress(workflow.document as unknown as WorkflowDocument, latest);
    const current: Current = { workflow, document, done: stepReached(document, latest), lease, latestItem, now };
    const decision = await decide(current);
    const next = decision.lease === undefined ? lease : { ...decision.lease, workflow: workflow.id };
    if (isNothing(decision)) return { workflow: shown(workflow.document, latest, workflow), lease, latest };
    const due = await this.#markDue(scope, current, decision, leaseItem);
    const last =
      decision.remove === true
        ? removal(leaseItem, current)
        : [workflowOperation(current, decision), leaseOperation(leaseItem, lease, next)];
    const version = await this.#commit(scope, workflowId, [...last, ...(decision.operations ?? [])]);
    if (due !== null) await this.#due.confirm(scope.tenant, workflowId, due);
    const written = decision.document as JsonObject | undefined;
    return {
      workflow: shown(written ?? workflow.document, latest, written === undefined ? workflow : version),
      lease: next,
      latest,
    };
  }

  /** The work registry is updated before the workflow changes: a crash in between causes an extra check, not a missed timeout. */
  async #markDue(
    scope: Scope,
    { workflow, document, lease, latestItem, now }: Current,
    decision: Decision,
    leaseItem: Item | undefined,
  ): Promise<number | null> {
    if (decision.remove === true) {
      if (latestItem !== undefined) await this.#due.mark(scope.tenant, lease.workflow_id, now);
      return null;
    }
    const next = decision.document ?? document;
    const deadline = decision.document === undefined ? null : deadlineOf(next, now);
    const before = deadlineOf(document, workflow.modifiedAt);
    const sooner = deadline !== null && (before === null || deadline < before) ? deadline : null;
    const adopted =
      leaseItem === undefined || lease.ttl !== -1 || (decision.operations !== undefined && latestItem === undefined);
    if (sooner === null && !adopted) return null;
    const ttl = this.#deps.items.defaultTtl(scope, containerName);
    const due = nextDue(next, { modifiedAt: now, now, ttl });
    if (due !== null) await this.#due.mark(scope.tenant, lease.workflow_id, due);
    return sooner;
  }

  async #commit(scope: Scope, workflowId: string, operations: readonly Operation[]): Promise<Version> {
    try {
      const { results } = await this.#deps.items.batch(scope, containerName, [workflowId], operations);
      return versionOf(results[0]);
    } catch (error) {
      const outrun = isConflict(error);
      throw outrun ? new Outrun("changed meanwhile", { cause: error }) : error;
    }
  }
}

/** Another writer committed between our read and our write. */
class Outrun extends Error {}

function isNothing({ document, remove, touch, lease, operations }: Decision): boolean {
  return document === undefined && remove !== true && touch !== true && lease === undefined && operations === undefined;
}

function workflowOperation({ workflow, now }: Current, { document, touch }: Decision): Operation {
  if (document !== undefined)
    return { op: "replace", document: document as unknown as JsonObject, ifMatch: workflow.etag };
  if (touch === true)
    return {
      op: "patch",
      id: workflow.id,
      patch: [{ op: "set", path: "/updated_at", value: new Date(now).toISOString() }],
    };
  return { op: "check", id: workflow.id };
}

function removal(leaseItem: Item | undefined, { workflow, latestItem }: Current): readonly Operation[] {
  const lease = leaseOf(leaseItem, "").id;
  const guard: Operation =
    leaseItem === undefined
      ? { op: "check", id: lease, exists: false }
      : { op: "delete", id: lease, ifMatch: leaseItem.etag };
  const latest: Operation[] =
    latestItem === undefined ? [] : [{ op: "delete", id: latestId, ifMatch: latestItem.etag }];
  return [{ op: "delete", id: workflow.id, ifMatch: workflow.etag }, guard, ...latest];
}

function outdated(workflowId: string, currentEtag: string): PinakesError {
  return new PinakesError(
    "PRECONDITION_FAILED",
    `Workflow "${workflowId}" changed since it was read. Read it again and repeat the change; its etag is now "${currentEtag}".`,
    { currentEtag },
  );
}
