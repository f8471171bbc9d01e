/**
 * An operation: what is done to one incarnation of a collection in all stores, and the progress of each store. A state machine that only
 * goes forward; the functions here are its transitions, and pure.
 *
 * Invariants
 * - a confirmed row stays confirmed unless a count of the store itself contradicts it;
 * - `attempts` only grows, and a failure of an attempt that was already answered changes nothing;
 * - `done` is the final state, without waiting rows.
 */
import type { OperationAction, OperationStatus, StoreStatus } from "@pinakes/client";
import { lifecycleLimits } from "./limits.ts";
import type { Incarnation } from "./participant.ts";

export type Action = OperationAction;
export type { OperationStatus };

export interface ReplyError {
  readonly type: string;
  readonly message: string;
}

export interface StoreRow {
  readonly store: string;
  readonly topic: string;
  /** `left`: the store cannot do it, or is no longer registered; the operation is then partial. */
  readonly status: StoreStatus;
  /** Messages sent. */
  readonly attempts: number;
  /** The highest attempt that was answered. */
  readonly answered: number;
  /** Consecutive failures. */
  readonly failures: number;
  readonly deleted: number;
  /** The store's last count; null until then. Older rows start with 0 instead of null. */
  readonly remaining: number | null;
  readonly duration_ms: number;
  readonly error: ReplyError | null;
  /** Epoch milliseconds. */
  readonly sent_at: number | null;
  readonly next_at: number;
}

export interface Operation extends Incarnation {
  readonly kind: "operation";
  readonly operation_id: string;
  readonly action: Action;
  readonly status: OperationStatus;
  /** Some store was skipped. */
  readonly partial: boolean;
  readonly allow_partial: boolean;
  readonly created_by: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly finished_at: string | null;
  readonly stores: readonly StoreRow[];
  /** Seconds; only of a finished operation. */
  readonly ttl?: number;
}

/** The relevant fields of a reply. */
export interface Answer {
  readonly store: string;
  readonly attempt: number;
  readonly success: boolean;
  readonly error: ReplyError | null;
  readonly deleted: number;
  /** Absent or null: the store could not count, which is not zero. */
  readonly remaining?: number | null | undefined;
  readonly duration_ms: number;
  /** A heartbeat: the store is still working. */
  readonly working?: boolean | undefined;
}

export interface Seat {
  readonly store: string;
  readonly topic: string;
  readonly able: boolean;
}

export function newRow({ store, topic, able }: Seat, now: number): StoreRow {
  const status = able ? "waiting" : "left";
  const none = {
    attempts: 0,
    answered: 0,
    failures: 0,
    deleted: 0,
    remaining: null,
    duration_ms: 0,
    error: null,
    sent_at: null,
  };
  return { store, topic, status, ...none, next_at: now };
}

/** Rows whose message is due. */
export function dueRows({ stores }: Operation, now: number): readonly StoreRow[] {
  return stores.filter(({ status, next_at }) => status === "waiting" && next_at <= now);
}

/** When the next action without a reply is due. */
export function nextDue({ stores }: Operation): number {
  const times = stores.flatMap(({ status, next_at, sent_at }) =>
    status === "waiting" ? [next_at] : status === "sent" ? [(sent_at ?? 0) + lifecycleLimits.replyMsMax] : [],
  );
  return Math.min(...times, Number.MAX_SAFE_INTEGER);
}

export function isConfirmed({ stores }: Operation): boolean {
  return stores.every(({ status }) => status === "confirmed" || status === "left");
}

/** Applies the current registrations: new stores join, missing ones are skipped. Undefined: nothing changed. */
export function withSeats(operation: Operation, seats: readonly Seat[], now: number): Operation | undefined {
  const known = new Set(operation.stores.map(({ store }) => store));
  const registered = new Set(seats.map(({ store }) => store));
  const added = seats.filter(({ store }) => !known.has(store)).map((seat) => newRow(seat, now));
  const gone = operation.stores.some(
    ({ store, status }) => !registered.has(store) && (status === "waiting" || status === "sent"),
  );
  if (added.length === 0 && !gone) return undefined;
  const stores = operation.stores.map((row): StoreRow =>
    registered.has(row.store) || row.status === "confirmed" || row.status === "left" ? row : { ...row, status: "left" },
  );
  return settled({ ...operation, stores: [...stores, ...added] });
}

/** Records that the message of a row's next attempt was sent. */
export function markSent(operation: Operation, sent: readonly StoreRow[], now: number): Operation | undefined {
  let changed = false;
  const stores = operation.stores.map((row): StoreRow => {
    const same = sent.some(({ store, attempts }) => store === row.store && attempts === row.attempts);
    if (!same || row.status !== "waiting") return row;
    changed = true;
    return { ...row, status: "sent", attempts: row.attempts + 1, sent_at: now };
  });
  return changed ? { ...operation, stores } : undefined;
}

/** Rows without a reply for too long count as failed: the message may be lost. */
export function markSilent(operation: Operation, now: number): Operation | undefined {
  const silent = ({ status, sent_at }: StoreRow) =>
    status === "sent" && (sent_at ?? 0) + lifecycleLimits.replyMsMax <= now;
  if (!operation.stores.some(silent)) return undefined;
  const error = {
    type: "no_reply",
    message: `No reply within ${lifecycleLimits.replyMsMax / 1_000} seconds.`,
  };
  const stores = operation.stores.map((row) => (silent(row) ? failedRow(row, error, now) : row));
  return settled({ ...operation, stores });
}

/** Undefined: not for this operation, or already known. */
export function applyAnswer(operation: Operation, answer: Answer, now: number): Operation | undefined {
  const row = operation.stores.find(({ store }) => store === answer.store);
  if (operation.status === "done" || row === undefined) return undefined;
  // One attempt ahead of the row: the message was sent, but its sender died before recording it.
  if (row.status === "confirmed" || row.status === "left" || answer.attempt > row.attempts + 1) return undefined;
  if (answer.working === true)
    return row.status === "sent" ? replaceRow(operation, { ...row, sent_at: now }) : undefined;
  // Only a count of zero confirms a delete; for other operations the count is informational.
  const success = answer.success && (operation.action !== "delete-collection" || answer.remaining === 0);
  // A failure of an answered attempt is known already; a count of zero is valid whichever attempt found it.
  if (!success && answer.attempt <= row.answered) return undefined;
  const heard: StoreRow = {
    ...row,
    answered: Math.max(row.answered, answer.attempt),
    attempts: Math.max(row.attempts, answer.attempt),
    deleted: row.deleted + answer.deleted,
    remaining: answer.remaining ?? row.remaining,
    duration_ms: row.duration_ms + answer.duration_ms,
  };
  return replaceRow(operation, answeredRow(heard, { ...answer, success }, now));
}

function answeredRow(row: StoreRow, answer: Answer, now: number): StoreRow {
  if (answer.success) return { ...row, status: "confirmed", error: null, failures: 0 };
  // It made progress, and there is more to do.
  if (answer.error === null && answer.deleted > 0)
    return { ...row, status: "waiting", failures: 0, error: null, next_at: now };
  return failedRow(row, answer.error ?? shortfall(answer.remaining), now);
}

/** Why a reply without an error confirms nothing. */
function shortfall(remaining: Answer["remaining"]): ReplyError {
  if (typeof remaining !== "number")
    return {
      type: "not_counted",
      message: "The store removed nothing, and did not report how much remains. A reply needs `remaining`.",
    };
  return { type: "remaining", message: `${remaining} rows remain, and none was removed.` };
}

/** A count after everything was confirmed: newly found rows must be removed. */
export function recounted(operation: Operation, store: string, remaining: number, now: number): Operation {
  const row = operation.stores.find((one) => one.store === store) as StoreRow;
  const error = { type: "remaining", message: `${remaining} rows were found by the final count.` };
  return replaceRow(operation, failedRow({ ...row, remaining }, error, now));
}

/** Immediately, regardless of earlier failures. */
export function retried(operation: Operation, now: number): Operation {
  const stores = operation.stores.map((row): StoreRow =>
    row.status === "waiting" ? { ...row, failures: 0, next_at: now } : row,
  );
  return settled({ ...operation, stores });
}

export function ended(operation: Operation, at: string): Operation {
  const partial = operation.stores.some(({ status }) => status === "left");
  return { ...operation, status: "done", partial, finished_at: at, ttl: lifecycleLimits.reportDaysMax * 86_400 };
}

function replaceRow(operation: Operation, row: StoreRow): Operation {
  return settled({ ...operation, stores: operation.stores.map((one) => (one.store === row.store ? row : one)) });
}

function failedRow(row: StoreRow, error: ReplyError, now: number): StoreRow {
  const failures = row.failures + 1;
  const { retryMsFirst, retryMsMax } = lifecycleLimits;
  const waitMs = Math.min(retryMsMax, retryMsFirst * 2 ** Math.min(failures - 1, 20));
  return { ...row, status: "waiting", failures, error, next_at: now + waitMs };
}

/** Derives the status from the rows. */
function settled(operation: Operation): Operation {
  const stuck = operation.stores.some(
    ({ status, failures }) => status !== "confirmed" && status !== "left" && failures >= lifecycleLimits.failuresMax,
  );
  return {
    ...operation,
    status: stuck ? "failed" : "running",
    partial: operation.stores.some(({ status }) => status === "left"),
  };
}

/** Errors by store. */
export function failureOf({ stores }: Operation): string | null {
  const failing = stores.filter(({ status, error }) => error !== null && status !== "confirmed");
  return failing.length === 0
    ? null
    : failing.map(({ store, error }) => `${store}: ${error?.message ?? ""}`).join("; ");
}

export interface StoreReport {
  readonly store: string;
  readonly deleted: number;
  /** Null: not counted yet. */
  readonly remaining: number | null;
  readonly duration_ms: number;
  readonly attempts: number;
}

export function reportOf({ stores }: Operation): readonly StoreReport[] {
  return stores
    .filter(({ status }) => status !== "left")
    .map(({ store, deleted, remaining, duration_ms, attempts }) => ({
      store,
      deleted,
      remaining,
      duration_ms,
      attempts,
    }));
}
