/**
 * Ingestion slots are shared fairly between workspaces: endless files, or an endless stream of them, delay only their own workspace.
 * Parsers here end when the test says so, so nothing depends on time. With the item queue and with SQS.
 */
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { makeCaller, type Caller } from "../../src/domain/caller.ts";
import { systemScope } from "../../src/domain/scope.ts";
import { openMemoryItems } from "../../src/drivers/memory/index.ts";
import { openMemoryObjects } from "../../src/drivers/memory-objects/index.ts";
import { openSqsQueue } from "../../src/drivers/sqs/index.ts";
import { startSqs, testConnection } from "../../src/drivers/sqs/test-server.ts";
import { laneOf, sharedQueue } from "../../src/knowledge/documents/lanes.ts";
import { knowledgeTenant } from "../../src/knowledge/records/work-registry.ts";
import { openKnowledge, quotaDefaults, type OpenedKnowledge } from "../../src/knowledge/index.ts";
import type { Embedder } from "../../src/ports/embedder.ts";
import { systemClock } from "../../src/ports/clock.ts";
import type { ItemStore } from "../../src/ports/item-store.ts";
import type { Parser } from "../../src/ports/parser.ts";
import type { Queue } from "../../src/ports/queue.ts";
import { openItemQueue } from "../../src/queues/item-queue/index.ts";
import { openItemTriples } from "../../src/triples/on-items/index.ts";
import { openVectors } from "../../src/vectors/index.ts";
import { until } from "../support/until.ts";
import { forAllTests } from "../support/for-tests.ts";

const system = systemScope("tests of fairness", () => {});
const places = 3;

const embedder: Embedder = {
  model: { id: "flat", provider: "test", dims: 2, metric: "cosine", tokensMax: 512 },
  embed: async (texts) => texts.map(() => Float32Array.of(1, 0)),
  tokenizer: async () => ({
    words: (text) => ({ starts: Uint32Array.of(0), ends: Uint32Array.of(text.length), tokens: Uint32Array.of(1) }),
  }),
  close: async () => {},
};

/** Files whose text starts with "slow" end when `finish` is called. A deaf one does not even end when interrupted. */
class Gate implements Parser {
  /** By share, the texts that are being parsed. */
  readonly inside = new Map<string, string[]>();
  isDeaf = false;
  readonly #waiting = new Map<string, () => void>();

  async parse({ bytes }: Parameters<Parser["parse"]>[0], { signal, share = "" }: Parameters<Parser["parse"]>[1] = {}) {
    const text = Buffer.from(bytes).toString();
    if (text.startsWith("slow")) {
      this.inside.set(share, [...(this.inside.get(share) ?? []), text]);
      const open = Promise.withResolvers<void>();
      this.#waiting.set(text, open.resolve);
      if (!this.isDeaf) signal?.addEventListener("abort", () => open.reject(signal.reason), { once: true });
      await open.promise.finally(() => {
        this.inside.set(
          share,
          (this.inside.get(share) ?? []).filter((one) => one !== text),
        );
      });
    }
    return { text, pages: [], sections: [], rows: [], warnings: [] };
  }

  finish(text: string): void {
    this.#waiting.get(text)?.();
  }

  count(share: string): number {
    return this.inside.get(share)?.length ?? 0;
  }

  async close(): Promise<void> {}
}

class Bench implements AsyncDisposable {
  readonly gate = new Gate();
  readonly opened: OpenedKnowledge;
  readonly queue: Queue;
  readonly #stop = new AbortController();
  #working: Promise<void> | undefined;
  readonly #close: () => Promise<void>;

  private constructor(opened: OpenedKnowledge, queue: Queue, gate: Gate, close: () => Promise<void>) {
    this.opened = opened;
    this.queue = queue;
    this.gate = gate;
    this.#close = close;
  }

  static async open(openQueue: (items: ItemStore) => Promise<Queue>): Promise<Bench> {
    const items = await openMemoryItems();
    const objects = openMemoryObjects();
    const vectors = await openVectors({ items, objects, clock: systemClock, system, threads: 1 });
    const queue = await openQueue(items);
    const gate = new Gate();
    const opened = await openKnowledge({
      items,
      objects,
      queue,
      vectors: vectors.vectors,
      triples: await openItemTriples({ items, scope: system }),
      embedders: { defaultModel: "flat", models: [embedder.model], get: async () => embedder },
      parser: gate,
      clock: systemClock,
      system,
      quotas: quotaDefaults,
      callerOf: makeCaller,
      newId: () => randomUUID(),
      log: () => {},
      owner: "fairness",
      ingestPlaces: places,
      yieldMs: 1,
    });
    return new Bench(opened, queue, gate, async () => {
      await opened.close();
      await queue.close();
      await vectors.close();
    });
  }

  /** A workspace with a collection. */
  async workspace(tenant: string): Promise<Workspace> {
    const caller = makeCaller({ tenant, userId: "root", role: "admin" });
    await this.opened.knowledge.repositories.create(caller, { repository_id: "kb" });
    await this.opened.knowledge.collections.create(caller, "kb", { collection_id: "c" });
    return new Workspace(this.opened, caller);
  }

  work(): void {
    this.#working = this.opened.work(this.#stop.signal).catch((error: unknown) => {
      if (!this.#stop.signal.aborted) throw error;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#working;
    await this.#close();
  }
}

class Workspace {
  readonly tenant: string;
  readonly #opened: OpenedKnowledge;
  readonly #caller: Caller;

  constructor(opened: OpenedKnowledge, caller: Caller) {
    this.#opened = opened;
    this.#caller = caller;
    this.tenant = caller.scope.tenant;
  }

  async send(text: string): Promise<string> {
    return (await this.#opened.knowledge.documents.upload(this.#caller, "kb", "c", { name: `${text}.txt`, body: text }))
      .document_id;
  }

  async view(id: string) {
    return this.#opened.knowledge.documents.get(this.#caller, "kb", "c", id);
  }

  async indexed(id: string): Promise<void> {
    await until(async () => (await this.view(id)).status === "indexed");
  }
}

const sqs = forAllTests(() => startSqs());

describe.each([
  ["the item store's queue", (items: ItemStore) => openItemQueue({ items })],
  [
    "SQS",
    (items: ItemStore) =>
      openSqsQueue({ ...testConnection, endpoint: sqs.endpoint, prefix: randomUUID().slice(0, 8), items }),
  ],
] as const)("ingestion on %s", (_name, openQueue) => {
  it("a workspace alone has all slots; with another it keeps its share, and the other's document is indexed while its own never end", async () => {
    await using bench = await Bench.open(openQueue);
    const { gate } = bench;
    const [a, b] = [await bench.workspace("a"), await bench.workspace("b")];
    const slow = await Promise.all(Array.from({ length: 5 }, (_, i) => a.send(`slow a${i}`)));
    bench.work();
    await until(async () => gate.count("a") === places);
    await b.indexed(await b.send("b's only one"));
    // The slot returns to a, now that nobody else waits.
    await until(async () => gate.count("a") === places);
    expect(bench.opened.metrics()).toMatchObject({ yielded: 1, retried: 0, failed: 0 });
    await until(async () => {
      for (const text of gate.inside.get("a") ?? []) gate.finish(text);
      return (await Promise.all(slow.map((id) => a.view(id)))).every(({ status }) => status === "indexed");
    });
    // Interrupted once, attempted once.
    for (const id of slow) expect(await a.view(id)).toMatchObject({ status: "indexed", attempts: 1, error: null });
  });

  it("two endless workspaces have half of the slots each, and neither loses its oldest document", async () => {
    await using bench = await Bench.open(openQueue);
    const { gate } = bench;
    const [a, b] = [await bench.workspace("a"), await bench.workspace("b")];
    for (let i = 0; i < 4; i += 1) await a.send(`slow a${i}`);
    bench.work();
    await until(async () => gate.count("a") === places);
    const oldest = gate.inside.get("a")?.[0];
    for (let i = 0; i < 4; i += 1) await b.send(`slow b${i}`);
    await until(async () => gate.count("b") === 1 && gate.count("a") === places - 1);
    expect(gate.inside.get("a")).toContain(oldest);
    // A third one gets a slot of the one that has two.
    const c = await bench.workspace("c");
    await c.indexed(await c.send("c's only one"));
    expect(gate.inside.get("a")).toContain(oldest);
    expect(gate.count("b")).toBe(1);
  });

  it("a workspace with an endless stream of documents does not delay another", async () => {
    await using bench = await Bench.open(openQueue);
    const [a, b] = [await bench.workspace("a"), await bench.workspace("b")];
    let sent = 0;
    let isOver = false;
    const stream = async (): Promise<void> => {
      // Always more of them than slots.
      while (!isOver) {
        const ids = await Promise.all(Array.from({ length: 2 * places }, () => a.send(`a${(sent += 1)}`)));
        await a.indexed(ids[0] as string);
      }
    };
    for (let i = 0; i < 20; i += 1) await a.send(`a's earlier one ${i}`);
    bench.work();
    const streaming = stream();
    for (let i = 0; i < 3; i += 1) await b.indexed(await b.send(`b${i}`));
    isOver = true;
    await streaming;
  });

  it("a document interrupted more often than a message may fail or lose its lease is not dead: it is indexed at its next turn", async () => {
    await using bench = await Bench.open(openQueue);
    const { gate } = bench;
    const [a, b] = [await bench.workspace("a"), await bench.workspace("b")];
    const ids = await Promise.all(Array.from({ length: places }, (_, i) => a.send(`slow a${i}`)));
    bench.work();
    for (let turn = 1; turn <= 12; turn += 1) {
      await until(async () => gate.count("a") === places);
      await b.indexed(await b.send(`b${turn}`));
      expect(bench.opened.metrics().yielded).toBe(turn);
    }
    await until(async () => gate.count("a") === places);
    for (const [i, id] of ids.entries()) {
      gate.finish(`slow a${i}`);
      await a.indexed(id);
      expect(await a.view(id)).toMatchObject({ attempts: 1, error: null });
    }
    for (const name of [laneOf("a"), laneOf("b"), sharedQueue])
      expect(await bench.queue.stats(system.forTenant(knowledgeTenant), name), name).toMatchObject({ dead: 0 });
  });

  it("a parser that ignores the interruption occupies nobody's slot", async () => {
    await using bench = await Bench.open(openQueue);
    const { gate } = bench;
    gate.isDeaf = true;
    const [a, b] = [await bench.workspace("a"), await bench.workspace("b")];
    const ids = await Promise.all(Array.from({ length: places }, (_, i) => a.send(`slow a${i}`)));
    bench.work();
    await until(async () => gate.count("a") === places);
    await b.indexed(await b.send("b's first"));
    await b.indexed(await b.send("b's second"));
    await until(async () => {
      // The interrupted one returns, and waits again.
      for (const text of gate.inside.get("a") ?? []) gate.finish(text);
      return (await Promise.all(ids.map((id) => a.view(id)))).every(({ status }) => status === "indexed");
    });
  });

  it("a preview of chunks uses a parser in its workspace's share", async () => {
    await using bench = await Bench.open(openQueue);
    const { gate, opened } = bench;
    const caller = makeCaller({ tenant: "a", userId: "u", role: "user" });
    const shown = opened.knowledge.search.previewChunking(caller, {
      text: "slow preview",
      chunking_strategy: { type: "NONE" },
    });
    await until(async () => gate.count("a") === 1);
    gate.finish("slow preview");
    expect(await shown).toHaveLength(1);
  });

  it("messages in the queue that all workspaces shared before are processed, too", async () => {
    await using bench = await Bench.open(openQueue);
    const a = await bench.workspace("a");
    const id = await a.send("an earlier one");
    const scope = system.forTenant(knowledgeTenant);
    const [message] = await bench.queue.receive(scope, laneOf("a"), { owner: "mover", leaseMs: 60_000 });
    await bench.queue.send(scope, sharedQueue, { group: message?.group as string, body: message?.body ?? null });
    await bench.queue.done(scope, message?.receipt as string);
    bench.work();
    await a.indexed(id);
  });
});
