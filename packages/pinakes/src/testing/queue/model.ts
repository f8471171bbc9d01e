/**
 * Random histories of the public API against a small model: per group a list of messages, at most one of them leased. After each step the
 * queue must return what the model expects; in the end both must be empty in the same way.
 */
import fc from "fast-check";
import { expect } from "vitest";
import type { Queue, ReceivedMessage } from "../../ports/queue.ts";
import { failure, type Handle, type QueueFixture } from "./fixture.ts";

const attemptsMax = 2;
const leaseLossesMax = 3;
const leaseMs = 1_000;

interface ModelMessage {
  readonly body: number;
  failures: number;
  losses: number;
  readyAt: number;
}

type Ending = "done" | "failed" | "release" | "heartbeat";

interface ModelGroup {
  readonly messages: ModelMessage[];
  lease: { readonly message: ReceivedMessage; until: number } | undefined;
  /** The last ending, which may be repeated. */
  settled: { readonly receipt: string; readonly as: Ending } | undefined;
  dead: number;
}

type Command =
  | { readonly do: "send"; readonly group: number; readonly delayMs: number }
  | { readonly do: "resend"; readonly group: number }
  | { readonly do: "receive"; readonly max: number }
  | { readonly do: "end"; readonly group: number; readonly how: Ending }
  | { readonly do: "zombie"; readonly how: Ending }
  | { readonly do: "elapse"; readonly ms: number };

const how = fc.constantFrom("done" as const, "failed" as const, "release" as const, "heartbeat" as const);
const group = fc.nat(2);
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("send" as const), group, delayMs: fc.constantFrom(0, 0, 700) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("resend" as const), group }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("receive" as const), max: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("end" as const), group, how }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("zombie" as const), how }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("elapse" as const), ms: fc.constantFrom(1, 500, 1_000) }) },
);

export function model(fixture: QueueFixture): void {
  fixture.test("R-CMP-08, R-CMP-09: random histories agree with a model of the queue", async () => {
    const queues = [
      await fixture.open({ attemptsMax, leaseLossesMax }),
      await fixture.open({ attemptsMax, leaseLossesMax }),
    ];
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 40 }), async (commands) => {
        const history = new History(fixture, queues);
        for (const step of commands) await history.run(step);
        await history.finish();
      }),
      { numRuns: fixture.harness.propertyRuns ?? 40 },
    );
  });
}

class History {
  readonly #fixture: QueueFixture;
  readonly #queues: readonly Queue[];
  readonly #handle: Handle;
  readonly #groups = new Map<string, ModelGroup>();
  readonly #zombies: ReceivedMessage[] = [];
  readonly #ids = new Map<string, string>();
  #bodies = 0;
  #calls = 0;

  constructor(fixture: QueueFixture, queues: readonly Queue[]) {
    this.#fixture = fixture;
    this.#queues = queues;
    this.#handle = fixture.named();
  }

  /** Alternates between two processes. */
  get #through(): Handle {
    this.#calls += 1;
    return this.#handle.through(this.#queues[this.#calls % this.#queues.length] as Queue);
  }

  get #now(): number {
    return this.#fixture.clock.now();
  }

  async run(step: Command): Promise<void> {
    switch (step.do) {
      case "send":
        return this.#send(`g${step.group}`, step.delayMs);
      case "resend":
        return this.#resend(`g${step.group}`);
      case "receive":
        return this.#receive(step.max);
      case "end":
        return this.#end(`g${step.group}`, step.how);
      case "zombie":
        for (const zombie of this.#zombies) await this.#zombie(zombie, step.how);
        return;
      case "elapse":
        return this.#fixture.elapse(step.ms);
    }
  }

  /** Everything is delivered in the end, in order; dead messages are counted. */
  async finish(): Promise<void> {
    await this.#fixture.elapse(100_000);
    for (let rounds = 0; [...this.#groups.values()].some(({ messages }) => messages.length > 0); rounds += 1) {
      expect(rounds).toBeLessThan(200);
      await this.#receive(3);
      for (const [name, { lease }] of this.#groups) if (lease !== undefined) await this.#end(name, "done");
    }
    const dead = [...this.#groups.values()].reduce((sum, one) => sum + one.dead, 0);
    const { truncated: _truncated, ...stats } = await this.#handle.stats();
    expect(stats).toEqual({ ready: 0, inFlight: 0, delayed: 0, dead });
  }

  async #send(name: string, delayMs: number): Promise<void> {
    const body = (this.#bodies += 1);
    const { id } = await this.#through.send(name, body, { delayMs, dedupId: `d${body}` });
    this.#ids.set(`${name}/${body}`, id);
    const now = this.#now;
    const at = this.#groups.get(name) ?? { messages: [], lease: undefined, settled: undefined, dead: 0 };
    at.messages.push({ body, failures: 0, losses: 0, readyAt: now + delayMs });
    this.#groups.set(name, at);
  }

  async #resend(name: string): Promise<void> {
    const known = [...this.#ids].findLast(([key]) => key.startsWith(`${name}/`));
    if (known === undefined) return;
    const body = Number(known[0].split("/")[1]);
    expect(await this.#through.send(name, body, { dedupId: `d${body}` })).toEqual({ id: known[1] });
  }

  async #receive(max: number): Promise<void> {
    const expected = new Map([...this.#groups].flatMap(([name, at]) => this.#available(name, at)));
    const messages = await this.#through.receive({ max, leaseMs });
    expect(messages).toHaveLength(Math.min(max, expected.size));
    expect(new Set(messages.map((message) => message.group)).size).toBe(messages.length);
    for (const message of messages) {
      const at = this.#groups.get(message.group) as ModelGroup;
      this.#takeOver(at);
      const [head] = at.messages;
      expect(message).toMatchObject({ body: head?.body, failures: head?.failures, leaseLosses: head?.losses });
      at.lease = { message, until: this.#now + leaseMs };
    }
  }

  /** What a receive may return from this group: its head, after an expired lease, and after the messages that this makes dead. */
  #available(name: string, at: ModelGroup): [string, ModelMessage][] {
    const [head, next] = at.messages;
    if (head === undefined) return [];
    if (at.lease === undefined) return head.readyAt <= this.#now ? [[name, head]] : [];
    if (at.lease.until > this.#now) return [];
    if (head.losses + 1 < leaseLossesMax) return [[name, head]];
    return next !== undefined && next.readyAt <= this.#now ? [[name, next]] : [];
  }

  /** What the queue did on the way to the message it returned. */
  #takeOver(at: ModelGroup): void {
    const [head] = at.messages;
    if (at.lease === undefined || head === undefined) return;
    this.#zombies.push(at.lease.message);
    at.lease = undefined;
    head.losses += 1;
    if (head.losses < leaseLossesMax) return;
    at.messages.shift();
    at.dead += 1;
  }

  /** A repeat of the last ending changes nothing; everything else is rejected. */
  async #zombie(zombie: ReceivedMessage, ending: Ending): Promise<void> {
    const settled = this.#groups.get(zombie.group)?.settled;
    if (settled?.receipt === zombie.receipt && settled.as === ending) await this.#call(zombie, ending);
    else await failure(this.#call(zombie, ending), "PRECONDITION_FAILED");
  }

  async #end(name: string, ending: Ending): Promise<void> {
    const at = this.#groups.get(name);
    const head = at?.messages[0];
    if (at?.lease === undefined || head === undefined) return;
    if (at.lease.until <= this.#now) return; // Whether a late ending succeeds depends on whether another receiver polled meanwhile.
    await this.#call(at.lease.message, ending);
    if (ending === "heartbeat") {
      at.lease.until = this.#now + leaseMs;
      return;
    }
    if (ending !== "done") head.readyAt = this.#now;
    if (ending === "failed") head.failures += 1;
    const dies = head.failures >= attemptsMax;
    if (ending === "done" || dies) at.messages.shift();
    if (dies && ending !== "done") at.dead += 1;
    this.#zombies.push(at.lease.message);
    at.settled = { receipt: at.lease.message.receipt, as: ending };
    at.lease = undefined;
  }

  #call(message: ReceivedMessage, ending: Ending): Promise<void> {
    return this.#through[ending](message);
  }
}
