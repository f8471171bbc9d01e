/**
 * The management handler of a store: executes a request in bounded steps, counts, and replies. It does not know how data gets into the
 * store. It checks the operation first: only an incarnation whose operation says so is touched.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { operationActions } from "@pinakes/client";
import { PinakesError } from "../domain/errors.ts";
import type { Scope, SystemScope } from "../domain/scope.ts";
import type { Clock } from "../ports/clock.ts";
import type { Catalogue } from "./catalogue.ts";
import { lifecycleLimits } from "./limits.ts";
import {
  Malformed,
  type ManagementReply,
  type ManagementRequest,
  type MatchedRequest,
  type PlainReply,
  readRequest,
} from "./messages.ts";
import type { Action, Answer, Operation } from "./operation.ts";
import type { Operations } from "./operations.ts";
import type { Participant } from "./participant.ts";

export interface HandlerOptions {
  readonly system: SystemScope;
  readonly clock: Clock;
  readonly catalogue: Catalogue;
  readonly operations: Operations;
}

type Outcome = Omit<Answer, "store" | "attempt">;
const uncounted: Outcome = { success: false, error: null, deleted: 0, duration_ms: 0 };
const nothing: Outcome = { ...uncounted, success: true, remaining: 0 };

export class Handler {
  readonly #parts: HandlerOptions;
  readonly #pace: Pace;

  constructor(parts: HandlerOptions) {
    this.#parts = parts;
    this.#pace = new Pace(parts.clock);
  }

  /** The replies to one message; several if a message from LISA means several incarnations. */
  async handle(
    participant: Participant,
    body: unknown,
    signal: AbortSignal,
  ): Promise<readonly (ManagementReply | PlainReply)[]> {
    const request = readRequest(body);
    if (request.operation_id === undefined) return this.#plain(participant, request, signal);
    if (request.store !== participant.store)
      throw new Malformed(`This message is for the store "${request.store}", not for "${participant.store}".`);
    return [{ ...request, ...(await this.#matched(participant, request, signal)), timestamp: this.#now() }];
  }

  /** The reply of a store that is still working. */
  working(body: unknown): ManagementReply | undefined {
    const request = readRequest(body);
    if (request.operation_id === undefined) return undefined;
    return { ...request, ...uncounted, working: true, timestamp: this.#now() };
  }

  async #matched(participant: Participant, request: MatchedRequest, signal: AbortSignal): Promise<Outcome> {
    if (!isAction(request.operation)) return unsupported(participant, request.operation);
    const { repository_id, incarnation } = request;
    const key = { repository_id, collection_id: request.collection, incarnation };
    const scope = this.#scope(request);
    const operation = (await this.#parts.operations.read(scope, key))?.operation;
    // Only the catalog decides what is deleted.
    if (operation?.operation_id !== request.operation_id || operation.action !== request.operation)
      return refused("unknown_operation", `There is no operation "${request.operation_id}" on this collection.`);
    if (operation.status === "done") return nothing;
    return this.#run(participant, scope, operation, signal);
  }

  async #plain(
    participant: Participant,
    request: ManagementRequest,
    signal: AbortSignal,
  ): Promise<readonly (ManagementReply | PlainReply)[]> {
    const { operation, user, collection } = request;
    const base = { operation, user, collection, timestamp: this.#now(), store: participant.store };
    if (!isAction(operation)) return [{ ...base, ...unsupported(participant, operation) }];
    const incarnations =
      operation === "delete-collection" ? await this.#parts.catalogue.incarnationsOf(user, collection) : [];
    const replies: (ManagementReply | PlainReply)[] = [];
    for (const { scope, key } of incarnations) {
      const found = (await this.#parts.operations.read(scope, key))?.operation;
      const row = found?.stores.find(({ store }) => store === participant.store);
      if (found === undefined || row === undefined || found.action !== operation || found.status === "done") continue;
      const { operation_id, incarnation, repository_id } = found;
      const matched = {
        operation_id,
        incarnation,
        repository_id,
        attempt: Math.max(1, row.attempts),
        workspace_id: scope.tenant,
      };
      replies.push({ ...base, ...matched, ...(await this.#run(participant, scope, found, signal)) });
    }
    return replies.length > 0 ? replies : [{ ...base, ...nothing }];
  }

  async #run(
    participant: Participant,
    scope: Scope,
    { action, repository_id, collection_id, incarnation }: Operation,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const key = { repository_id, collection_id, incarnation };
    const began = this.#parts.clock.now();
    const tookMs = () => Math.max(0, Math.round(this.#parts.clock.now() - began));
    let deleted = 0;
    try {
      if (action === "archive-collection") {
        const { count } = await participant.archive(scope, key);
        return { ...nothing, remaining: count, duration_ms: tookMs() };
      }
      for (let done = false; !done && tookMs() < lifecycleLimits.handleMsMax;) {
        const step = await this.#pace.step(
          () => participant.deleteStep(scope, key, { limit: lifecycleLimits.stepRowsMax }),
          signal,
        );
        deleted += step.deleted;
        ({ done } = step);
      }
      const remaining = await participant.count(scope, key);
      return { success: remaining === 0, error: null, deleted, remaining, duration_ms: tookMs() };
    } catch (error) {
      if (signal.aborted) throw error;
      const message = (error instanceof Error ? error.message : String(error)).slice(0, lifecycleLimits.errorCharsMax);
      const type = PinakesError.isInstance(error) ? error.code.toLowerCase() : "error";
      // A store that is down cannot count either. The reply then has no count: zero would mean that nothing remains.
      const remaining = await participant.count(scope, key).catch(() => undefined);
      const counted = remaining === undefined ? {} : { remaining };
      return { success: false, error: { type, message }, deleted, ...counted, duration_ms: tookMs() };
    }
  }

  #scope({ workspace_id }: MatchedRequest): Scope {
    try {
      return this.#parts.system.forTenant(workspace_id);
    } catch (error) {
      throw new Malformed(error instanceof Error ? error.message : String(error), { cause: error });
    }
  }

  #now(): string {
    return new Date(this.#parts.clock.now()).toISOString();
  }
}

function isAction(operation: string): operation is Action {
  return (operationActions as readonly string[]).includes(operation);
}

function unsupported({ store }: Participant, operation: string): Outcome {
  return refused(
    "unsupported_operation",
    `The store "${store}" does not support "${operation}"; supported are ${operationActions.join(", ")}.`,
  );
}

function refused(type: string, message: string): Outcome {
  return { ...uncounted, error: { type, message } };
}

/**
 * Limits the rate of deletes, so that they do not slow readers of other collections. All stores of a process share one pace: each step gets
 * a slot three times as long as the previous step took, and slots are consecutive, so two thirds of the time remain free. A slot that was
 * too short or too long is compensated by the next one. Only after a very long step is less time free: the rest after it is bounded.
 * Nothing is held while a step runs: a store that hangs does not block others.
 */
const slotSteps = 3;
const restSteps = slotSteps - 1;

type Pause = (ms: number, value: undefined, options: { readonly signal: AbortSignal }) => Promise<unknown>;

export class Pace {
  readonly #clock: Clock;
  readonly #pause: Pause;
  /** Start of the next slot, in epoch milliseconds. */
  #next = 0;
  #lastTookMs = 0;

  /** Tests advance time themselves. */
  constructor(clock: Clock, pause: Pause = sleep) {
    this.#clock = clock;
    this.#pause = pause;
  }

  async step<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    const now = this.#clock.now();
    const slot = Math.min(Math.max(this.#next, now), now + lifecycleLimits.slotWaitMsMax);
    const expectedMs = this.#lastTookMs;
    this.#next = slot + slotSteps * expectedMs;
    if (slot > now) await this.#pause(slot - now, undefined, { signal });
    signal.throwIfAborted();
    const began = this.#clock.now();
    try {
      return await work();
    } finally {
      const ended = this.#clock.now();
      const tookMs = Math.min(Math.max(0, ended - began), lifecycleLimits.stepCountedMsMax);
      this.#next = Math.max(this.#next + slotSteps * (tookMs - expectedMs), ended + restSteps * tookMs);
      this.#lastTookMs = tookMs;
    }
  }
}
