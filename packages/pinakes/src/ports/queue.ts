/**
 * Queue: named queues of JSON messages in groups, for work that must be done in order, survive its worker, and be visible when it fails.
 *
 * Scope. The first argument of every method; a call without one throws. A queue belongs to a tenant: the same name under another
 * scope is another queue, and a receipt or dead letter of another tenant answers exactly as one that does not exist.
 *
 * Order. Messages of a group are delivered in the order in which their sends were acknowledged, one at a time: the next only after the one
 * before is done, dead or discarded. So a delay or a retry holds up its own group, and never another.
 *
 * Delivery. At least once. A receiver owns a message while its lease runs; `heartbeat` extends it. Once the lease has expired another
 * receiver may take the message over, and from then on every call with the old receipt is PRECONDITION_FAILED: nothing that a stalled
 * worker does later has an effect. Until then a late call with the receipt may still succeed. Two workers may briefly both believe
 * they own a message, so their work must itself be idempotent or fenced.
 *
 * Endings. `done` removes it. `failed` counts a processing failure; after `attemptsMax` of them the message becomes a dead letter with the
 * reason, and its group continues. `release` ("busy", throttled, shutting down) counts nothing. An expired lease is counted separately:
 * after `leaseLossesMax` of them the message is dead too, so that a message that kills its worker does not kill workers for ever.
 *
 * Idempotence. Repeating `done`, `failed` or `release` after a lost answer is safe until the group's next ending. Repeating a send without
 * dedupId may enqueue the message twice. With one, the same dedupId in the same group is the same message for
 * `capabilities.dedupWindowMs`: the id of the first is returned; other content is a CONFLICT where `capabilities.dedupConflict`.
 * A repeated redrive returns the id of the first.
 *
 * Waiting. `receive` with `waitMs` is woken at once by sends of this process and finds others by polling, after `pollMsMax` (≤ 30 s)
 * at the latest. No message is missed because a notification was lost or an index is late: a sweep finds its group.
 *
 * Time. `capabilities.timing` tells whose clock decides on leases, delays and ages: the injected one or the service's.
 *
 * Limits. queues/queue-limits.ts; each is an INVALID or LIMIT_EXCEEDED error that names the field, and nothing is written.
 */
import type { JsonValue } from "../domain/json.ts";
import type { Scope } from "../domain/scope.ts";

export interface Queue {
  readonly capabilities: QueueCapabilities;
  /** Dead letters: kept until an operator decides. NOT_SUPPORTED without `capabilities.inspectDead`. */
  readonly dead: DeadLetters;

  send(scope: Scope, queue: string, message: NewMessage): Promise<SendResult>;
  /** Up to `max` messages, each of another group. Empty if there is nothing, also after `waitMs`. */
  receive(scope: Scope, queue: string, options: ReceiveOptions): Promise<readonly ReceivedMessage[]>;
  /** Extends the lease to its full length from now on (or to `leaseMs`). */
  heartbeat(scope: Scope, receipt: string, options?: { readonly leaseMs?: number }): Promise<void>;
  done(scope: Scope, receipt: string): Promise<void>;
  /** A processing failure. Retried after `retryInMs` (default: 1 s, doubled with each failure, up to 60 s), or dead. */
  failed(scope: Scope, receipt: string, failure: Failure): Promise<void>;
  /** Returns it unprocessed: it is offered again at once, or after `retryInMs`. Counts nothing. */
  release(scope: Scope, receipt: string, options?: { readonly retryInMs?: number }): Promise<void>;
  stats(scope: Scope, queue: string): Promise<QueueStats>;
  /** Ends waiting receivers, then waits for running calls. Later calls fail with UNAVAILABLE. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface DeadLetters {
  /** Oldest first, without bodies. May be as late as the engine's indexes are. */
  list(
    scope: Scope,
    queue: string,
    options?: { readonly limit?: number; readonly cursor?: string | undefined },
  ): Promise<DeadPage>;
  inspect(scope: Scope, queue: string, key: DeadKey): Promise<DeadLetter | undefined>;
  /** Moves it to the end of its group, with a new id and order and no failures. Exactly once: a repeat returns the same id (for 7 days). */
  redrive(scope: Scope, queue: string, key: DeadKey): Promise<SendResult>;
  /** Removes it for good. Returns whether it existed. */
  discard(scope: Scope, queue: string, key: DeadKey): Promise<boolean>;
}

export interface QueueCapabilities {
  readonly driver: string;
  /** Minimum time for which a dedupId is remembered. */
  readonly dedupWindowMs: number;
  /** Whether other content under a known dedupId is rejected as CONFLICT; otherwise it counts as the first message. */
  readonly dedupConflict: boolean;
  /** Whether `delayMs` works; otherwise it is NOT_SUPPORTED. */
  readonly delay: boolean;
  /** Whether dead letters can be listed, inspected, redriven and discarded here; otherwise use the service's own tools. */
  readonly inspectDead: boolean;
  /** Whether a receipt is checked against owner and epoch; otherwise the service's receipt handle expires. */
  readonly ownerHeartbeat: boolean;
  /** Whether `stats` is exact and has the oldest age; otherwise it is the service's estimate. */
  readonly exactStats: boolean;
  readonly timing: "clock" | "service";
  /** Whether messages survive the process. */
  readonly durable: boolean;
}

/** A driver's defaults. */
export const queueCapabilityDefaults = Object.freeze({
  dedupWindowMs: 7 * 86_400_000,
  dedupConflict: true,
  delay: true,
  inspectDead: true,
  ownerHeartbeat: true,
  exactStats: true,
  timing: "clock",
}) satisfies Omit<QueueCapabilities, "driver" | "durable">;

export interface NewMessage {
  /** Any JSON value, up to 200 KB. */
  readonly body: JsonValue;
  readonly group: string;
  readonly dedupId?: string;
  readonly delayMs?: number;
}

export interface SendResult {
  readonly id: string;
}

export interface ReceiveOptions {
  readonly max?: number | undefined;
  readonly leaseMs?: number | undefined;
  /** The worker: recorded in the lease, and checked with it. */
  readonly owner: string;
  readonly waitMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ReceivedMessage {
  readonly id: string;
  readonly group: string;
  readonly body: JsonValue;
  /** For heartbeat, done, failed and release. */
  readonly receipt: string;
  /** Sorts as text, in the order of the group. */
  readonly order: string;
  readonly sentAt: number;
  /** Processing failures so far. */
  readonly failures: number;
  /** Expired leases so far. */
  readonly leaseLosses: number;
  /** The first message, where this one is a redriven dead letter. */
  readonly origin?: Origin;
}

export interface Origin {
  readonly id: string;
  readonly order: string;
  readonly sentAt: number;
}

export interface Failure {
  readonly reason: string;
  readonly retryInMs?: number;
}

export interface DeadKey {
  readonly group: string;
  readonly id: string;
}

export interface DeadSummary extends DeadKey {
  readonly order: string;
  readonly sentAt: number;
  readonly deadAt: number;
  /** "failed": too many processing failures; "lease-lost": too many leases expired. */
  readonly cause: "failed" | "lease-lost";
  /** The reason of the last failure; absent if processing never got that far. */
  readonly reason?: string;
  readonly failures: number;
  readonly leaseLosses: number;
  readonly origin?: Origin;
}

export interface DeadLetter extends DeadSummary {
  readonly body: JsonValue;
}

export interface DeadPage {
  readonly letters: readonly DeadSummary[];
  /** Absent at the end. */
  readonly cursor?: string;
}

export interface QueueStats {
  /** Messages that wait only for a receiver, or for their turn in the group. */
  readonly ready: number;
  readonly inFlight: number;
  /** Messages of groups whose next message is delayed (by its sender or by a retry). */
  readonly delayed: number;
  readonly dead: number;
  /** Since the send of the oldest unfinished message; absent if there is none, or without `capabilities.exactStats`. */
  readonly oldestAgeMs?: number;
  /** Counted only up to the limit: there are more. */
  readonly truncated?: true;
}
