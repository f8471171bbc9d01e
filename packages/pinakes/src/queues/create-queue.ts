/**
 * A Queue over any QueueDriver. It does everything that must be the same on every driver: scope first, input checked, limits, waiting with
 * wake-ups and polling, abort, close. Drivers only store messages.
 */
import { PinakesError, invalid } from "../domain/errors.ts";
import { isJsonObject } from "../domain/json.ts";
import { requireScope, type Scope } from "../domain/scope.ts";
import type * as port from "../ports/queue.ts";
import {
  checkDeadKey,
  checkMessage,
  checkQueueName,
  checkReason,
  checkReceipt,
  checkText,
  checkWhole,
} from "./check-input.ts";
import type { DeadDriver, PollRequest, QueueDriver } from "./queue-driver.ts";
import { queueLimits } from "./queue-limits.ts";
import { WakeUps } from "./wake-ups.ts";
import { RunningCalls } from "../runtime/running-calls.ts";

export interface WaitingOptions {
  /** The longest pause between two polls for work of other processes (default 5 s, at most 30 s). */
  readonly pollMsMax?: number | undefined;
}

export function createQueue(driver: QueueDriver, options: WaitingOptions = {}): port.Queue {
  return new DriverQueue(
    driver,
    checkWhole(options.pollMsMax ?? queueLimits.pollMsDefault, "pollMsMax", 1, queueLimits.pollMsMax),
  );
}

class DriverQueue implements port.Queue {
  readonly capabilities: port.QueueCapabilities;
  readonly dead: port.DeadLetters;
  readonly #driver: QueueDriver;
  readonly #pollMsMax: number;
  readonly #wakeUps = new WakeUps();
  readonly #stopping = new AbortController();
  readonly #running = new RunningCalls();
  #closing: Promise<void> | undefined;

  constructor(driver: QueueDriver, pollMsMax: number) {
    this.capabilities = Object.freeze({ ...driver.capabilities });
    this.#driver = driver;
    this.#pollMsMax = pollMsMax;
    this.dead = Object.freeze<port.DeadLetters>({
      list: (scope, queue, page) => this.#listDead(scope, queue, page),
      inspect: (scope, queue, key) =>
        this.#onDead(scope, queue, key, (dead, checked) => dead.inspect(scope, queue, checked)),
      discard: (scope, queue, key) =>
        this.#onDead(scope, queue, key, (dead, checked) => dead.discard(scope, queue, checked)),
      redrive: async (scope, queue, key) => {
        const sent = await this.#onDead(scope, queue, key, (dead, checked) => dead.redrive(scope, queue, checked));
        this.#wake(scope, queue);
        return sent;
      },
    });
  }

  async send(scope: Scope, queue: string, message: port.NewMessage): Promise<port.SendResult> {
    requireScope(scope);
    checkQueueName(queue);
    const checked = checkMessage(message);
    if (checked.delayMs > 0 && !this.capabilities.delay)
      throw this.#unsupported("delay single messages", "Send it later");
    const sent = await this.#run(() => this.#driver.send(scope, queue, checked));
    this.#wake(scope, queue);
    return sent;
  }

  async receive(scope: Scope, queue: string, options: port.ReceiveOptions): Promise<readonly port.ReceivedMessage[]> {
    requireScope(scope);
    checkQueueName(queue);
    const given: unknown = options;
    if (typeof given !== "object" || given === null) throw invalid("options: must be an object with at least `owner`.");
    const waitMs = checkWhole(options.waitMs ?? 0, "waitMs", 0, queueLimits.waitMsMax);
    const request = {
      max: checkWhole(options.max ?? 1, "max", 1, queueLimits.receiveMessagesMax),
      leaseMs: checkWhole(
        options.leaseMs ?? queueLimits.leaseMsDefault,
        "leaseMs",
        queueLimits.leaseMsMin,
        queueLimits.leaseMsMax,
      ),
      owner: checkText(options.owner, "owner", queueLimits.ownerBytesMax),
      signal:
        options.signal === undefined ? this.#stopping.signal : AbortSignal.any([options.signal, this.#stopping.signal]),
    };
    options.signal?.throwIfAborted();
    return this.#run(() => this.#untilFound(scope, queue, request, waitMs, options.signal));
  }

  async heartbeat(scope: Scope, receipt: string, options: { readonly leaseMs?: number } = {}): Promise<void> {
    requireScope(scope);
    checkReceipt(receipt);
    const { leaseMs } = options;
    if (leaseMs !== undefined) checkWhole(leaseMs, "leaseMs", queueLimits.leaseMsMin, queueLimits.leaseMsMax);
    await this.#run(() => this.#driver.heartbeat(scope, receipt, leaseMs));
  }

  async done(scope: Scope, receipt: string): Promise<void> {
    requireScope(scope);
    checkReceipt(receipt);
    this.#wake(scope, await this.#run(() => this.#driver.done(scope, receipt)));
  }

  async failed(scope: Scope, receipt: string, failure: port.Failure): Promise<void> {
    requireScope(scope);
    checkReceipt(receipt);
    if (!isJsonObject(failure)) throw invalid("failure: must be an object with `reason`.");
    const reason = checkReason(failure.reason);
    const retryInMs =
      failure.retryInMs === undefined
        ? undefined
        : checkWhole(failure.retryInMs, "retryInMs", 0, queueLimits.retryMsMax);
    this.#wake(scope, await this.#run(() => this.#driver.failed(scope, receipt, reason, retryInMs)));
  }

  async release(scope: Scope, receipt: string, options: { readonly retryInMs?: number } = {}): Promise<void> {
    requireScope(scope);
    checkReceipt(receipt);
    const retryInMs = checkWhole(options.retryInMs ?? 0, "retryInMs", 0, queueLimits.retryMsMax);
    this.#wake(scope, await this.#run(() => this.#driver.release(scope, receipt, retryInMs)));
  }

  async stats(scope: Scope, queue: string): Promise<port.QueueStats> {
    requireScope(scope);
    checkQueueName(queue);
    return this.#run(() => this.#driver.stats(scope, queue));
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    this.#closing ??= this.#running.settled().then(() => this.#driver.close());
    await this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #untilFound(
    scope: Scope,
    queue: string,
    request: Omit<PollRequest, "waitMs">,
    waitMs: number,
    signal: AbortSignal | undefined,
  ) {
    const waiting = this.#wakeUps.join(channelOf(scope, queue));
    try {
      const deadline = performance.now() + waitMs;
      for (
        let pauseMs = Math.min(queueLimits.pollMsFirst, this.#pollMsMax);
        ;
        pauseMs = Math.min(pauseMs * 2, this.#pollMsMax)
      ) {
        const seen = waiting.version();
        const left = () => Math.max(0, deadline - performance.now());
        const { messages, dueInMs } = await this.#driver.poll(scope, queue, { ...request, waitMs: left() });
        // A claimed message is returned even if the caller aborted meanwhile: the caller can still release it.
        if (messages.length > 0) return messages;
        signal?.throwIfAborted();
        if (left() === 0 || this.#stopping.signal.aborted) return [];
        const pause = Math.min(pauseMs, Math.max(dueInMs ?? Infinity, queueLimits.pollMsMin));
        await waiting.wait(seen, Math.min(pause, left()), request.signal);
        signal?.throwIfAborted();
      }
    } finally {
      waiting.leave();
    }
  }

  async #listDead(
    scope: Scope,
    queue: string,
    page: { readonly limit?: number; readonly cursor?: string | undefined } = {},
  ): Promise<port.DeadPage> {
    requireScope(scope);
    checkQueueName(queue);
    const limit = checkWhole(page.limit ?? queueLimits.deadPageItemsMax, "limit", 1, queueLimits.deadPageItemsMax);
    const dead = this.#deadDriver();
    return this.#run(() => dead.list(scope, queue, limit, page.cursor));
  }

  async #onDead<T>(
    scope: Scope,
    queue: string,
    key: port.DeadKey,
    call: (dead: DeadDriver, key: port.DeadKey) => Promise<T>,
  ): Promise<T> {
    requireScope(scope);
    checkQueueName(queue);
    const checked = checkDeadKey(key);
    const dead = this.#deadDriver();
    return this.#run(() => call(dead, checked));
  }

  #deadDriver(): DeadDriver {
    if (this.#driver.dead === undefined)
      throw this.#unsupported("list, inspect, redrive or discard dead letters", "Use the service's own tools");
    return this.#driver.dead;
  }

  #unsupported(what: string, instead: string): PinakesError {
    return new PinakesError("NOT_SUPPORTED", `The ${this.capabilities.driver} queue cannot ${what}. ${instead}.`);
  }

  #wake(scope: Scope, queue: string): void {
    this.#wakeUps.wake(channelOf(scope, queue));
  }

  async #run<T>(call: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined)
      throw new PinakesError("UNAVAILABLE", "The queue is closed.", { retryable: false });
    return this.#running.run(call);
  }
}

function channelOf(scope: Scope, queue: string): string {
  return `${scope.tenant}/${queue}`;
}
