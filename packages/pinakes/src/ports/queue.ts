/**
 * Queue: named queues of JSON messages in groups, for work that must be done in order, survive its worker, and be visible when it fails.
 *
 * Scope. The first argument of every method; a call without one throws. A queue belongs to a tenant: the same name under another
 * scope is another queue, and a receipt or dead letter of another tenant answers exactly as one that does not exist.
 *
 * Order. Messages of a group are delivered in the order in which their sends were acknowledged, one at a time: the next only after the one
 * before is done, dead or discarded. So a delay or a retry holds up its own group, and never another.
 *
 * Delivery. At least once. A message is the receiver's while its lease runs; `heartbeat` extends it. Once the lease has run out another
 * receiver may take it over, and from then on every call with the old receipt is PRECONDITION_FAILED: nothing that a stalled worker does
 * later has an effect. Until somebody took it over, a late call with the receipt may still succeed. Two workers may for a moment
 * both believe to hold a message, so what they do must itself be idempotent or fenced.
 *
 * Endings. `done` removes it. `failed` counts a processing failure; after `attemptsMax` of them the message becomes a dead letter with the
 * reason, and its group goes on. `release` ("busy", throttled, shutting down) counts nothing. A lease that ran out counts apart:
 * after `leaseLossesMax` of them the message is dead too, so that one that kills its worker does not kill workers for ever.
 *
 * Idempotence. Repeating `done`, `failed` or `release` after a lost answer is fine until the group's next ending. A send without dedupId
 * that is repeated may put the message in twice. With one, the same dedupId in the same group is the same message for
 * `capabilities.dedupWindowMs`: the id of the first is returned; other content is a CONFLICT where `capabilities.dedupConflict`.
 * A redrive that is repeated gives the id of the first.
 *
 * Waiting. `receive` with `waitMs` is woken at once by sends of this process and finds others by polling, at the latest after `pollMsMax`
 * (≤ 30 s). No message is ever missed because a notification was lost or an index is late: a sweep finds its group.
 *
 * Time. `capabilities.timing` tells whose clock decides on leases, delays and ages: the injected one or the service's.
 *
 * Limits. queues/queue-limits.ts; each is an INVALID or LIMIT_EXCEEDED error that names the field, and nothing is written.
 */
import type { JsonValue } from "../domain/json.ts";
import type { Scope } from "../domain/scope.ts";

export interface Queue {
  readonly capabilities: QueueCapabilities;
  /** Dead letters: kept until somebody decides. NOT_SUPPORTED without `capabilities.inspectDead`. */
  readonly dead: DeadLetters;

  send(scope: Scope, queue: string, message: NewMessage): Promise<SendResult>;
  /** Up to `max` messages, each of another group. Empty when there is nothing, also after `waitMs`. */
  receive(scope: Scope, queue: string, options: ReceiveOptions): Promise<readonly ReceivedMessage[]>;
  /** The lease runs for its full length from now on (or for `leaseMs`, where given). */
  heartbeat(scope: Scope, receipt: string, options?: { readonly leaseMs?: number }): Promise<void>;
  done(scope: Scope, receipt: string): Promise<void>;
  /** A processing failure. Tried again after `retryInMs` (default: 1 s, doubled with each failure, up to 60 s), or dead. */
  failed(scope: Scope, receipt: string, failure: Failure): Promise<void>;
  /** Gives it back untried: it is offered again at once, or after `retryInMs`. Counts nothing. */
  release(scope: Scope, receipt: string, options?: { readonly retryInMs?: number }): Promise<void>;
  stats(scope: Scope, queue: string): Promise<QueueStats>;
  /** Ends waiting receivers, then waits for the calls under way. Later calls are refused as UNAVAILABLE. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface DeadLetters {
  /** Oldest first, without bodies. May be as late as the engine's indexes are. */
  list(scope: Scope, queue: string, options?: { readonly limit?: number; readonly cursor?: string }): Promise<DeadPage>;
  inspect(scope: Scope, queue: string, key: DeadKey): Promise<DeadLetter | undefined>;
  /** Back to the end of its group, with a new id and order and no failures. Exactly once: a repeat gives the same id (for 7 days). */
  redrive(scope: Scope, queue: string, key: DeadKey): Promise<SendResult>;
  /** Removes it for good. Tells whether it was there. */
  discard(scope: Scope, queue: string, key: DeadKey): Promise<boolean>;
}

export interface QueueCapabilities {
  readonly driver: string;
  /** How long a dedupId is remembered, at least. */
  readonly dedupWindowMs: number;
  /** Whether other content under a known dedupId is refused as CONFLICT; otherwise it is taken for the first message. */
  readonly dedupConflict: boolean;
  /** Whether `delayMs` works; otherwise it is NOT_SUPPORTED. */
  readonly delay: boolean;
  /** Whether dead letters can be listed, inspected, redriven and discarded here; otherwise by the service's own tools. */
  readonly inspectDead: boolean;
  /** Whether a receipt is checked against owner and epoch; otherwise it is the service's receipt handle that runs out. */
  readonly ownerHeartbeat: boolean;
  /** Whether `stats` is exact and has the oldest age; otherwise it is the service's estimate. */
  readonly exactStats: boolean;
  readonly timing: "clock" | "service";
  /** Whether messages outlive the process. */
  readonly durable: boolean;
}

/** What a driver has unless it says otherwise. */
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
  readonly max?: number;
  readonly leaseMs?: number;
  /** Who works on it: told in the lease, and checked with it. */
  readonly owner: string;
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
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
  /** Leases that ran out so far. */
  readonly leaseLosses: number;
  /** The first message, where this one is a dead letter sent again. */
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
  /** "failed": too many processing failures; "lease-lost": too many leases ran out. */
  readonly cause: "failed" | "lease-lost";
  /** What the last failure said; absent when it never got as far. */
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
  /** Messages that wait for nothing but a receiver, or their turn in the group. */
  readonly ready: number;
  readonly inFlight: number;
  /** Messages of groups whose next message waits for its time (a delay or a retry). */
  readonly delayed: number;
  readonly dead: number;
  /** Since the send of the oldest message that is not done; absent when there is none, or without `capabilities.exactStats`. */
  readonly oldestAgeMs?: number;
  /** Counted only as far as the limit: there are more. */
  readonly truncated?: true;
}
