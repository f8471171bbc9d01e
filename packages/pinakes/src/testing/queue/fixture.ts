/** What every part of the queue suite uses: one backing store, a clock moved by hand (or waited for), one queue per test. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonValue } from "../../domain/json.ts";
import { tenantScope, type Scope } from "../../domain/scope.ts";
import type {
  DeadSummary,
  NewMessage,
  Queue,
  QueueCapabilities,
  ReceivedMessage,
  ReceiveOptions,
  SendResult,
} from "../../ports/queue.ts";
import { ManualClock } from "../item-store/fixture.ts";

export { failure } from "../item-store/fixture.ts";

export interface QueueOpenOptions {
  readonly attemptsMax?: number | undefined;
  readonly leaseLossesMax?: number | undefined;
  readonly pollMsMax?: number | undefined;
}

export interface QueueBacking {
  /** As another process would open it: only the stored data is shared. The suite closes it. */
  open(options?: QueueOpenOptions): Promise<Queue>;
  stop(): Promise<void>;
}

export interface QueueHarness {
  readonly name: string;
  start(options: { clock: ManualClock }): Promise<QueueBacking>;
  /** How many random histories the model test tries (default 40). */
  readonly propertyRuns?: number;
}

/** A test that a driver cannot pass, and why. The reason is printed. */
export interface QueueSkip {
  readonly test: string;
  readonly reason: string;
  readonly capability: keyof QueueCapabilities;
}

export class QueueFixture {
  readonly clock = new ManualClock();
  readonly scope: Scope = tenantScope("acme");
  readonly otherScope: Scope = tenantScope("acme2");
  readonly harness: QueueHarness;
  readonly #skip: readonly QueueSkip[];
  readonly #opened: Queue[] = [];
  #backing: QueueBacking | undefined;
  #queue: Queue | undefined;
  #names = 0;

  constructor(harness: QueueHarness, skip: readonly QueueSkip[]) {
    this.harness = harness;
    this.#skip = skip;
    beforeAll(async () => {
      this.#backing = await harness.start({ clock: this.clock });
      this.#queue = await this.open();
    });
    afterAll(async () => {
      for (const queue of this.#opened) await queue.close();
      await this.#backing?.stop();
    });
  }

  get queue(): Queue {
    if (this.#queue === undefined) throw new Error("the queue is not open yet");
    return this.#queue;
  }

  async open(options: QueueOpenOptions = {}): Promise<Queue> {
    if (this.#backing === undefined) throw new Error("the backing has not started yet");
    const queue = await this.#backing.open(options);
    this.#opened.push(queue);
    return queue;
  }

  /** Lets time pass on the clock that decides. */
  async elapse(ms: number): Promise<void> {
    this.clock.advance(ms);
    if (this.queue.capabilities.timing === "service") await new Promise((resolve) => setTimeout(resolve, ms + 150));
  }

  test(title: string, run: () => Promise<void>): void {
    const skipped = this.#skip.find(({ test }) => title.includes(test));
    if (skipped === undefined) it(title, run);
    else
      describe(`not on ${this.harness.name}: ${skipped.reason} (${skipped.capability})`, () =>
        void it.skipIf(true)(title, run));
  }

  /** A queue that no other test uses. */
  named(queue: Queue = this.queue): Handle {
    this.#names += 1;
    return new Handle(this.scope, queue, `q${this.#names}`);
  }
}

/** One queue as one tenant sees it through one process. */
export class Handle {
  readonly scope: Scope;
  readonly queue: Queue;
  readonly name: string;

  constructor(scope: Scope, queue: Queue, name: string) {
    this.scope = scope;
    this.queue = queue;
    this.name = name;
  }

  through(queue: Queue): Handle {
    return new Handle(this.scope, queue, this.name);
  }

  as(scope: Scope): Handle {
    return new Handle(scope, this.queue, this.name);
  }

  send(group: string, body: JsonValue, more: Partial<NewMessage> = {}): Promise<SendResult> {
    return this.queue.send(this.scope, this.name, { group, body, ...more });
  }

  /** The lease is long, so that it expires only where a test says so, however slow the machine. */
  receive(more: Partial<ReceiveOptions> = {}): Promise<readonly ReceivedMessage[]> {
    return this.queue.receive(this.scope, this.name, { owner: "tester", max: 10, leaseMs: 60_000, ...more });
  }

  /** The only message. */
  async one(more: Partial<ReceiveOptions> = {}): Promise<ReceivedMessage> {
    const messages = await this.receive(more);
    expect(messages).toHaveLength(1);
    return messages[0] as ReceivedMessage;
  }

  done({ receipt }: ReceivedMessage): Promise<void> {
    return this.queue.done(this.scope, receipt);
  }

  failed({ receipt }: ReceivedMessage, reason = "broken", retryInMs = 0): Promise<void> {
    return this.queue.failed(this.scope, receipt, { reason, retryInMs });
  }

  release({ receipt }: ReceivedMessage): Promise<void> {
    return this.queue.release(this.scope, receipt);
  }

  heartbeat({ receipt }: ReceivedMessage, leaseMs?: number): Promise<void> {
    return this.queue.heartbeat(this.scope, receipt, leaseMs === undefined ? {} : { leaseMs });
  }

  stats() {
    return this.queue.stats(this.scope, this.name);
  }

  /** Receives and finishes until nothing remains; the bodies in their order. */
  async drain(): Promise<JsonValue[]> {
    const bodies: JsonValue[] = [];
    for (let messages = await this.receive(); messages.length > 0; messages = await this.receive()) {
      for (const message of messages) {
        bodies.push(message.body);
        await this.done(message);
      }
    }
    return bodies;
  }

  /** Sends a message and fails it until it is dead. */
  async kill(group: string, body: JsonValue, more: Partial<NewMessage> = {}): Promise<string> {
    const { id } = await this.send(group, body, more);
    for (;;) {
      const messages = await this.receive();
      if (messages.length === 0) return id;
      for (const message of messages) await this.failed(message, `cannot do ${JSON.stringify(body)}`);
    }
  }

  async deadLetters(limit = 100): Promise<DeadSummary[]> {
    const letters: DeadSummary[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await this.queue.dead.list(
        this.scope,
        this.name,
        cursor === undefined ? { limit } : { limit, cursor },
      );
      expect(page.letters.length).toBeLessThanOrEqual(limit);
      letters.push(...page.letters);
      cursor = page.cursor;
      if (cursor === undefined) return letters;
    }
  }
}
