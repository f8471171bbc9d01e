/**
 * Drives operations: sends what is due, applies replies, verifies and completes (RFC 0007, "Delete"). It keeps no essential state in
 * memory: the next call of `carry`, in any process, continues from the record.
 */
import { PinakesError } from "../domain/errors.ts";
import type { Scope } from "../domain/scope.ts";
import type { Clock } from "../ports/clock.ts";
import type { Operation as ItemOperation } from "../ports/item-store.ts";
import type { Queue } from "../ports/queue.ts";
import type { Catalogue } from "./catalogue.ts";
import type { ManagementReply } from "./messages.ts";
import type { LifecycleMetrics } from "./metrics.ts";
import {
  applyAnswer,
  dueRows,
  ended,
  isConfirmed,
  markSent,
  markSilent,
  newRow,
  recounted,
  retried,
  withSeats,
  type Action,
  type Operation,
  type Seat,
  type StoreRow,
} from "./operation.ts";
import type { Operations } from "./operations.ts";
import type { Incarnation, Participant } from "./participant.ts";
import type { Participants, RegisteredParticipant } from "./participants.ts";

export interface CoordinatorOptions {
  readonly queue: Queue;
  /** Of the system's own tenant, which owns the topics. */
  readonly scope: Scope;
  readonly clock: Clock;
  readonly catalogue: Catalogue;
  readonly operations: Operations;
  readonly participants: Participants;
  /** Participants of this process, which are counted at the end. */
  readonly local: readonly Participant[];
  readonly metrics: LifecycleMetrics;
}

export interface NewOperation extends Incarnation {
  readonly operation_id: string;
  readonly action: Action;
  readonly created_by: string;
  /** Continue although a store cannot do it; the operation is then partial. */
  readonly allow_partial?: boolean | undefined;
}

export class Coordinator {
  readonly #parts: CoordinatorOptions;

  constructor(parts: CoordinatorOptions) {
    this.#parts = parts;
  }

  /** With the currently registered stores. CONFLICT before any change if one of them cannot do it. */
  async plan({ allow_partial = false, ...input }: NewOperation): Promise<Operation> {
    const seats = await this.#seats(input.action);
    const unable = seats.filter(({ able }) => !able).map(({ store }) => store);
    if (unable.length > 0 && !allow_partial)
      throw new PinakesError(
        "CONFLICT",
        `store_cannot_delete: ${unable.join(", ")} cannot do "${input.action}". With allow_partial the other stores do it.`,
      );
    const now = this.#parts.clock.now();
    const at = new Date(now).toISOString();
    const stores = seats.map((seat) => newRow(seat, now));
    return {
      kind: "operation",
      ...input,
      status: "running",
      partial: unable.length > 0,
      allow_partial,
      created_at: at,
      updated_at: at,
      finished_at: null,
      stores,
    };
  }

  /** The commit point: the operation and the caller's record changes, in one batch. */
  async begin(scope: Scope, operation: Operation, beside: readonly ItemOperation[], earlier?: string): Promise<void> {
    await this.#parts.operations.begin(scope, operation, beside, earlier);
    this.#parts.metrics.begun += 1;
  }

  /** Does everything that needs no reply. Undefined: there is no such operation. */
  async carry(scope: Scope, incarnation: Incarnation): Promise<Operation | undefined> {
    for (;;) {
      const found = await this.#parts.operations.read(scope, incarnation);
      if (found === undefined) return undefined;
      const { operation } = found;
      if (operation.status === "done") {
        await this.#parts.catalogue.statusChanged(scope, operation);
        return operation;
      }
      const seats = await this.#seats(operation.action);
      const now = this.#parts.clock.now();
      const current = await this.#change(scope, incarnation, (one) =>
        both(withSeats(one, seats, now), one, (next) => markSilent(next, now)),
      );
      if (current?.status === "failed" && operation.status !== "failed")
        await this.#parts.catalogue.statusChanged(scope, current);
      const due = dueRows(current ?? operation, now);
      if (due.length > 0) await this.#send(scope, current ?? operation, due);
      else if (!isConfirmed(current ?? operation) || !(await this.#end(scope, current ?? operation)))
        return current ?? operation;
    }
  }

  /** Undefined: the reply changed nothing. */
  async answer(scope: Scope, reply: ManagementReply): Promise<Incarnation | undefined> {
    const incarnation = {
      repository_id: reply.repository_id,
      collection_id: reply.collection,
      incarnation: reply.incarnation,
    };
    let before: Operation["status"] | undefined;
    const changed = await this.#change(scope, incarnation, (operation) => {
      before = operation.status;
      return operation.operation_id === reply.operation_id
        ? applyAnswer(operation, reply, this.#parts.clock.now())
        : undefined;
    });
    if (changed === undefined) {
      this.#parts.metrics.dropped += 1;
      return undefined;
    }
    if (changed.status !== before) await this.#parts.catalogue.statusChanged(scope, changed);
    return incarnation;
  }

  async retry(scope: Scope, incarnation: Incarnation): Promise<Operation> {
    const changed = await this.#change(scope, incarnation, (operation) => {
      if (operation.status === "done")
        throw new PinakesError("CONFLICT", `Operation "${operation.operation_id}" is done; there is nothing to retry.`);
      return retried(operation, this.#parts.clock.now());
    });
    if (changed === undefined) throw new PinakesError("NOT_FOUND", "There is no such operation.");
    await this.#parts.catalogue.statusChanged(scope, changed);
    return changed;
  }

  /** Sends one message per row, before the row says so: a crash in between leaves a duplicate, never a gap. */
  async #send(scope: Scope, operation: Operation, due: readonly StoreRow[]): Promise<void> {
    const { operation_id, action, incarnation, collection_id, repository_id, created_by, created_at } = operation;
    for (const { store, topic, attempts } of due) {
      const attempt = attempts + 1;
      const body = {
        operation: action,
        user: created_by,
        collection: collection_id,
        // Of the operation, not of this attempt: resending gives the same message.
        timestamp: created_at,
        operation_id,
        incarnation,
        store,
        attempt,
        workspace_id: scope.tenant,
        repository_id,
      };
      await this.#parts.queue.send(this.#parts.scope, topic, {
        body,
        group: incarnation,
        dedupId: `${operation_id}:${store}:${attempt}`,
      });
      this.#parts.metrics.sent += 1;
    }
    await this.#change(scope, operation, (one) => markSent(one, due, this.#parts.clock.now()));
  }

  /** Counts the local stores again; then one batch deletes the record and completes the operation. */
  async #end(scope: Scope, operation: Operation): Promise<boolean> {
    if (operation.action === "delete-collection") {
      for (const { store, status } of operation.stores) {
        const participant = this.#parts.local.find((one) => one.store === store);
        if (status !== "confirmed" || participant === undefined) continue;
        const remaining = await participant.count(scope, operation);
        if (remaining === 0) continue;
        await this.#change(scope, operation, (one) =>
          isConfirmed(one) ? recounted(one, store, remaining, this.#parts.clock.now()) : undefined,
        );
        return true;
      }
    }
    const at = new Date(this.#parts.clock.now()).toISOString();
    const done = await this.#change(scope, operation, (one) =>
      isConfirmed(one) && one.status !== "done" ? ended(one, at) : undefined,
    );
    if (done !== undefined) this.#parts.metrics.ended += 1;
    return true;
  }

  async #change(
    scope: Scope,
    incarnation: Incarnation,
    plan: (operation: Operation) => Operation | undefined,
  ): Promise<Operation | undefined> {
    return this.#parts.operations.change(scope, incarnation, (operation) => {
      const next = plan(operation);
      return next === undefined ? undefined : { ...next, updated_at: new Date(this.#parts.clock.now()).toISOString() };
    });
  }

  async #seats(action: Action): Promise<readonly Seat[]> {
    return (await this.#parts.participants.list()).map((participant) => ({
      store: participant.store,
      topic: participant.topic,
      able: isAble(participant, action),
    }));
  }
}

function isAble({ capabilities }: RegisteredParticipant, action: Action): boolean {
  return action === "delete-collection" ? capabilities.delete : capabilities.archive;
}

/** Applies both changes, if either changed something. */
function both(
  first: Operation | undefined,
  before: Operation,
  then: (operation: Operation) => Operation | undefined,
): Operation | undefined {
  return then(first ?? before) ?? first;
}
