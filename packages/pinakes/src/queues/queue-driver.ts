/**
 * QueueDriver: the part of a queue that differs between engines. `create-queue.ts` makes a Queue of it: scope, checks, limits, waiting,
 * wake-ups, abort and close are there, once, for every driver.
 *
 * A driver gets checked input and keeps the port's promises on order, leases, counting and dedup.
 */
import type { JsonValue } from "../domain/json.ts";
import type { Scope } from "../domain/scope.ts";
import type {
  DeadKey,
  DeadLetter,
  DeadPage,
  QueueCapabilities,
  QueueStats,
  ReceivedMessage,
  SendResult,
} from "../ports/queue.ts";

export interface QueueDriver {
  readonly capabilities: QueueCapabilities;
  send(scope: Scope, queue: string, message: CheckedMessage): Promise<SendResult>;
  /** One poll for work. It may wait up to `waitMs` itself, if the service supports it. */
  poll(scope: Scope, queue: string, request: PollRequest): Promise<PollResult>;
  heartbeat(scope: Scope, receipt: string, leaseMs: number | undefined): Promise<void>;
  /** Each ending returns the queue whose group continues, for its waiting receivers. */
  done(scope: Scope, receipt: string): Promise<string>;
  failed(scope: Scope, receipt: string, reason: string, retryInMs: number | undefined): Promise<string>;
  release(scope: Scope, receipt: string, retryInMs: number): Promise<string>;
  stats(scope: Scope, queue: string): Promise<QueueStats>;
  /** Absent where `capabilities.inspectDead` is false. */
  readonly dead?: DeadDriver;
  close(): Promise<void>;
}

export interface DeadDriver {
  list(scope: Scope, queue: string, limit: number, cursor: string | undefined): Promise<DeadPage>;
  inspect(scope: Scope, queue: string, key: DeadKey): Promise<DeadLetter | undefined>;
  redrive(scope: Scope, queue: string, key: DeadKey): Promise<SendResult>;
  discard(scope: Scope, queue: string, key: DeadKey): Promise<boolean>;
}

export interface CheckedMessage {
  readonly body: JsonValue;
  readonly group: string;
  readonly dedupId: string | undefined;
  readonly delayMs: number;
}

export interface PollRequest {
  readonly max: number;
  readonly leaseMs: number;
  readonly owner: string;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

export interface PollResult {
  readonly messages: readonly ReceivedMessage[];
  /** If nothing was found: how long until something known becomes due. */
  readonly dueInMs?: number;
}
