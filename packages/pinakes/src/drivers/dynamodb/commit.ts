/**
 * Commits: read, plan, write on the condition that everything read is unchanged; otherwise start over.
 *
 * Why they are serialisable: every row that the plan examined is written on a condition on its etag or checked in the same transaction, and
 * so are unique values and the feed's counter. Etags never repeat, so an equal etag is the same state.
 *
 * If an answer is lost, the next attempt finds out what happened: our own etag on any row means that the commit took effect; an unchanged
 * row that it would have replaced, or an unchanged feed counter, means that it did not (and should it still arrive, the conditions let only
 * one of the two succeed). A row that is absent, as before, proves nothing: it may have been created by us and deleted by another writer
 * since. If the outcome stays unknown, the caller gets an error and must not just retry.
 *
 * A lone create is a plain conditional write all the same. As a transaction, whose token makes it safe to send again, every create would
 * cost twice the write units, for the sake of answers that are hardly ever lost.
 */
import { hasCode, PinakesError } from "../../domain/errors.ts";
import type { CommitOutcome, CommittedOperation } from "../../items/item-engine.ts";
import { touchedIds, type CommitRequest } from "../../items/plan-batch.ts";
import { send } from "./actions.ts";
import type { Dynamo } from "./client.ts";
import { CommitPlanner, type Current, type PlannedCommit } from "./commit-plan.ts";
import type { Definition, Definitions } from "./definitions.ts";
import { unknownOutcome } from "./errors.ts";
import { headOf, shardOf } from "./feed.ts";
import { KeyedQueue } from "../../runtime/keyed-queue.ts";
import { serviceLimits } from "./service-limits.ts";
import type { Documents } from "./spill.ts";
import { backoffMs, monotonicMs, sleep } from "./waiting.ts";
import { RunningCalls } from "../../runtime/running-calls.ts";

const commitMsMax = 10_000;
/** The feed's counter, entry and registration. */
const feedActionsMax = 3;

/** A commit whose answer was lost. */
interface Pending {
  readonly commit: PlannedCommit;
  readonly cause: unknown;
}

/** The result of one attempt: an outcome, or why there has to be another attempt. */
type Step = { readonly outcome: CommitOutcome } | { readonly cause: unknown; readonly pending?: Pending };

export class Committer {
  readonly #dynamo: Dynamo;
  readonly #definitions: Definitions;
  readonly #documents: Documents;
  readonly #planner: CommitPlanner;
  readonly #queue = new KeyedQueue();
  readonly #running = new RunningCalls();
  #closed = false;

  constructor(dynamo: Dynamo, definitions: Definitions, documents: Documents) {
    this.#dynamo = dynamo;
    this.#definitions = definitions;
    this.#documents = documents;
    this.#planner = new CommitPlanner(dynamo, documents);
  }

  async commit(name: string, request: CommitRequest): Promise<CommitOutcome> {
    if (this.#closed)
      throw new PinakesError("UNAVAILABLE", "This store was closed; open it again.", { retryable: false });
    return this.#running.run(() => this.#commit(name, request));
  }

  async #commit(name: string, request: CommitRequest): Promise<CommitOutcome> {
    const { compiled } = await this.#definitions.current(name);
    if (!isSystemWork(request)) return this.#inTurn(name, compiled.feed, request);
    // Deletes and purges need not be atomic, and must not fail because of how many unique values the rows hold.
    const rowsMax = Math.floor(
      (serviceLimits.transactionActionsMax - feedActionsMax) / (1 + compiled.uniqueKeys.length),
    );
    const results: CommittedOperation[] = [];
    for (let start = 0; start < request.operations.length; start += rowsMax) {
      const outcome = await this.#inParts(name, compiled.feed, {
        ...request,
        operations: request.operations.slice(start, start + rowsMax),
      });
      if (!outcome.ok) return outcome;
      results.push(...outcome.results);
    }
    return { ok: true, results };
  }

  /** The service does not document whether the size of what is deleted counts. If it does, less at a time. */
  async #inParts(name: string, feed: boolean, request: CommitRequest): Promise<CommitOutcome> {
    try {
      return await this.#inTurn(name, feed, request);
    } catch (error) {
      if (!hasCode(error, "LIMIT_EXCEEDED") || request.operations.length === 1) throw error;
    }
    const half = Math.ceil(request.operations.length / 2);
    const first = await this.#inParts(name, feed, { ...request, operations: request.operations.slice(0, half) });
    if (!first.ok) return first;
    const second = await this.#inParts(name, feed, { ...request, operations: request.operations.slice(half) });
    return second.ok ? { ok: true, results: [...first.results, ...second.results] } : second;
  }

  /** Accepts no more commits, and waits for running ones, also for their work after they left the queue. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running.settled();
    // Their callers get the error first.
    await sleep(0);
  }

  #inTurn(name: string, feed: boolean, request: CommitRequest): Promise<CommitOutcome> {
    const rows = touchedIds(request).map((idKey) => `${name}\0${request.pk}\0${idKey}`);
    const shard = feed ? [`${name}\0${request.tenant}\0${shardOf(request.pk)}`] : [];
    return this.#queue.run([...rows, ...shard], () => this.#untilSettled(name, request));
  }

  async #untilSettled(name: string, request: CommitRequest): Promise<CommitOutcome> {
    const deadline = monotonicMs() + commitMsMax;
    let pending: Pending | undefined;
    for (let attempt = 0; ; attempt += 1) {
      try {
        const step = await this.#attempt(name, request, attempt === 0, pending);
        if ("outcome" in step) {
          if (!step.outcome.ok && pending !== undefined) throw unknownOutcome(pending.cause);
          return step.outcome;
        }
        pending = step.pending ?? pending;
        if (monotonicMs() >= deadline) throw contended(step.cause);
      } catch (error) {
        // Whatever failed afterwards, the write before it may have taken effect. Retrying a delete is always safe.
        throw pending === undefined || isSystemWork(request) ? error : unknownOutcome(pending.cause);
      }
      await sleep(backoffMs(attempt));
    }
  }

  async #attempt(name: string, request: CommitRequest, first: boolean, pending: Pending | undefined): Promise<Step> {
    const definition = await this.#definitions.current(name);
    const current = await this.#current(definition, request, first);
    if (pending !== undefined && tookEffect(pending, request, definition, current))
      return { outcome: await this.#done(pending.commit) };
    const planned = await this.#planner.plan(definition, request, current);
    if (planned === "again") return { cause: undefined };
    if ("outcome" in planned) return planned;
    const sent = await this.#send(definition, planned.commit);
    if (sent.outcome === "done") return { outcome: await this.#done(planned.commit) };
    if (sent.outcome === "unknown")
      return { cause: sent.cause, pending: { commit: planned.commit, cause: sent.cause } };
    await this.#documents.discard(planned.commit.written);
    return { cause: sent.cause };
  }

  /** A create in a plain container first tries without reading: usually the id is new, and the condition fails if it is not. */
  async #current(definition: Definition, request: CommitRequest, first: boolean): Promise<Current> {
    const plain = !definition.compiled.feed && definition.compiled.uniqueKeys.length === 0;
    if (first && plain && request.operations.every(({ op }) => op === "create"))
      return { rows: new Map(), counter: undefined };
    return this.#planner.read(definition, request);
  }

  async #send(definition: Definition, { actions }: PlannedCommit): ReturnType<typeof send> {
    // A single check was answered by the read itself.
    if (actions.length === 0 || (actions.length === 1 && actions[0]?.do === "check")) return { outcome: "done" };
    const inForce = async () =>
      (await this.#definitions.current(definition.compiled.name)).stored.version === definition.stored.version;
    return send(this.#dynamo, definition.table, actions, inForce);
  }

  async #done({ plan, replaced }: PlannedCommit): Promise<CommitOutcome> {
    await this.#documents.discard(replaced);
    return { ok: true, results: plan.results };
  }
}

function isSystemWork({ operations }: CommitRequest): boolean {
  return operations.every(({ op }) => op === "remove" || op === "purge");
}

function tookEffect(
  { commit, cause }: Pending,
  request: CommitRequest,
  { compiled }: Definition,
  { rows, counter }: Current,
): boolean {
  const touched = new Set(touchedIds(request));
  const writes = commit.plan.writes.filter(({ idKey }) => touched.has(idKey));
  if (writes.some(({ idKey, put }) => put !== undefined && rows.get(idKey)?.etag === put.etag)) return true;
  // Retrying a delete is always safe, and checks alone change nothing.
  if (isSystemWork(request) || commit.plan.writes.length === 0) return false;
  if (writes.some(({ idKey, before }) => before !== undefined && rows.get(idKey)?.etag === before.etag)) return false;
  // Counters only grow and are never deleted, so even one that does not exist yet is evidence.
  const counted = compiled.feed ? commit.actions.find((action) => action.do === "set") : undefined;
  if (counted !== undefined && headOf(request.tenant, request.pk, counter).last === counted.if?.value) return false;
  throw unknownOutcome(cause);
}

function contended(cause: unknown): PinakesError {
  return new PinakesError(
    "UNAVAILABLE",
    `The write did not succeed within ${commitMsMax} ms: others write the same items, or DynamoDB is throttling. Try again.`,
    { cause },
  );
}
