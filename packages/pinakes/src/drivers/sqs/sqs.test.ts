import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tenantScope } from "../../domain/scope.ts";
import { failure, ManualClock } from "../../testing/item-store/fixture.ts";
import { Handle } from "../../testing/queue/fixture.ts";
import { queueSuite } from "../../testing/queue-suite.ts";
import { openMemoryItems } from "../memory/index.ts";
import { connect } from "./client.ts";
import { openSqsQueue } from "./index.ts";
import { sqsDedupId, sqsGroup, sqsNames } from "./names.ts";
import { startSqs, testConnection, type SqsServer } from "./test-server.ts";

queueSuite(
  {
    name: "sqs",
    async start({ clock }) {
      const server = await startSqs();
      const items = await openMemoryItems({ clock });
      return {
        open: (options) =>
          openSqsQueue({ ...testConnection, endpoint: server.endpoint, prefix: "suite", items, ...options }),
        async stop() {
          await items.close();
          await server.stop();
        },
      };
    },
  },
  {
    skip: [
      { test: "dead letter:", reason: "dead letters are handled with the tools of SQS", capability: "inspectDead" },
      {
        test: "a dedupId is remembered while its message is stored",
        reason: "SQS remembers 5 minutes from the send",
        capability: "dedupWindowMs",
      },
      {
        test: "an ending repeated",
        reason: "SQS forgets a receipt handle with its lease",
        capability: "ownerHeartbeat",
      },
      { test: "idle for months", reason: "the time of the service cannot be moved", capability: "timing" },
      { test: "without a retry time", reason: "the time of the service cannot be moved", capability: "timing" },
      { test: "random histories", reason: "the time of the service cannot be moved", capability: "timing" },
    ],
  },
);

describe("sqs: names", () => {
  it("fit SQS's limits and never collide, whatever the names of tenants, queues and groups", () => {
    const longest = sqsNames("p".repeat(20), "t".repeat(128), "q".repeat(60));
    for (const name of Object.values(longest)) expect(name).toMatch(/^[A-Za-z0-9_-]{1,75}\.fifo$/);
    expect(sqsNames("p", "a", "q").main).not.toBe(sqsNames("p", "b", "q").main);
    expect(sqsNames("p", "a", `${"q".repeat(59)}1`).main).not.toBe(sqsNames("p", "a", `${"q".repeat(59)}2`).main);
    const groups = [
      sqsGroup("a", "b/c"),
      sqsGroup("a", "b"),
      sqsGroup("ab", "c"),
      sqsGroup("a", "ü"),
      sqsGroup("a", "g".repeat(200)),
      sqsGroup("b", "g".repeat(200)),
    ];
    expect(new Set(groups).size).toBe(groups.length);
    for (const group of groups) expect(group).toMatch(/^[\x21-\x7e]{1,128}$/);
    expect(sqsGroup("acme", "collection-1")).toBe("acme/collection-1");
    expect(sqsDedupId("a", "bc")).not.toBe(sqsDedupId("ab", "c"));
  });
});

describe("sqs: names of the lifecycle's queues", () => {
  it("are those that docs/operations.md documents for other programs, and must not change: queues with these names exist", async () => {
    const page = await readFile(new URL("../../../../../docs/operations.md", import.meta.url), "utf8");
    for (const topic of [
      "object-storage-management",
      "object-storage-management-documents",
      "vector-storage-management",
      "triples-storage-management",
      "storage-management-response",
    ])
      expect(page).toContain(`| \`${topic}\` | \`${sqsNames("pinakes", "pinakes.lifecycle", topic).main}\` |`);
    expect(sqsNames("pinakes", "pinakes.lifecycle", "object-storage-management")).toEqual({
      main: "pinakes-object-storage-managemen-2bace175f588d67b3bb49152.fifo",
      dead: "pinakes-object-storage-managemen-2bace175f588d67b3bb49152-dead.fifo",
    });
  });
});

describe("sqs: service", () => {
  let server: SqsServer;
  beforeAll(async () => {
    server = await startSqs();
  });
  afterAll(() => server.stop());
  const rawClient = () => connect({ ...testConnection, endpoint: server.endpoint });

  it("the dead letter carries its cause, reason and counts into the dead-letter queue", async () => {
    await using items = await openMemoryItems({ clock: new ManualClock() });
    await using opened = await openSqsQueue({ ...testConnection, endpoint: server.endpoint, items, attemptsMax: 2 });
    const queue = new Handle(tenantScope("acme"), opened, "work");
    const id = await queue.kill("g", { n: 1 });
    const raw = await rawClient();
    const { QueueUrl } = await raw.getQueueUrl({ QueueName: sqsNames("pinakes", "acme", "work").dead });
    const { Messages } = await raw.receiveMessage({ QueueUrl, MessageAttributeNames: ["All"] });
    expect(JSON.parse(Messages?.[0]?.Body ?? "")).toMatchObject({ v: 1, tenant: "acme", group: "g", body: { n: 1 } });
    const attributes = Object.fromEntries(
      Object.entries(Messages?.[0]?.MessageAttributes ?? {}).map(([name, { StringValue }]) => [name, StringValue]),
    );
    expect(attributes).toMatchObject({
      id,
      cause: "failed",
      reason: 'cannot do {"n":1}',
      failures: "2",
      leaseLosses: "0",
    });
    raw.destroy();
  });

  it("foreign messages in the SQS queue, also another tenant's, are never delivered and block nothing", async () => {
    await using items = await openMemoryItems();
    await using opened = await openSqsQueue({ ...testConnection, endpoint: server.endpoint, items });
    const queue = new Handle(tenantScope("acme"), opened, "foreign");
    expect(await queue.stats()).toMatchObject({ ready: 0 });
    const raw = await rawClient();
    const { QueueUrl } = await raw.getQueueUrl({ QueueName: sqsNames("pinakes", "acme", "foreign").main });
    const foreign = [
      "no json",
      "null",
      '{"v":2}',
      JSON.stringify({ v: 1, tenant: "other", group: "g", body: 1 }),
      '{"v":1,"tenant":"acme"}',
    ];
    for (const [i, MessageBody] of foreign.entries()) {
      await raw.sendMessage({ QueueUrl, MessageBody, MessageGroupId: "acme/g", MessageDeduplicationId: `d${i}` });
    }
    await queue.send("g", "behind them");
    expect(await queue.drain()).toEqual(["behind them"]);
    expect(await queue.stats()).toMatchObject({ ready: 0, dead: foreign.length });
    raw.destroy();
  });

  it("R-TG-55 in one tenant's queue that other programs write to, any JSON object is a message; ours keep their group, order and dedup beside it", async () => {
    await using items = await openMemoryItems();
    const plainQueues = (tenant: string, queue: string) => tenant === "acme" && queue === "open";
    await using opened = await openSqsQueue({ ...testConnection, endpoint: server.endpoint, items, plainQueues });
    const raw = await rawClient();
    const verbatim = {
      operation: "delete-collection",
      user: "ann",
      collection: "papers",
      timestamp: "2025-01-01T00:00:00Z",
    };
    for (const [tenant, name, taken] of [
      ["acme", "open", true],
      ["acme", "closed", false],
      ["other", "open", false],
    ] as const) {
      const queue = new Handle(tenantScope(tenant), opened, name);
      expect(await queue.stats()).toMatchObject({ ready: 0 });
      const { QueueUrl } = await raw.getQueueUrl({ QueueName: sqsNames("pinakes", tenant, name).main });
      const first = await queue.send("g", 1, { dedupId: "once" });
      expect(await queue.send("g", 1, { dedupId: "once" })).toEqual(first);
      for (const [i, MessageBody] of [JSON.stringify(verbatim), "no json"].entries())
        await raw.sendMessage({
          QueueUrl,
          MessageBody,
          MessageGroupId: `${tenant}/g`,
          MessageDeduplicationId: `theirs-${i}`,
        });
      await queue.send("g", 2);
      expect(await queue.drain(), `${tenant} ${name}`).toEqual(taken ? [1, verbatim, 2] : [1, 2]);
      expect(await queue.stats()).toMatchObject({ ready: 0, dead: taken ? 1 : 2 });
    }
    raw.destroy();
  });

  it("a body that fits the queue but not SQS is LIMIT_EXCEEDED, and nothing is sent", async () => {
    await using items = await openMemoryItems();
    await using opened = await openSqsQueue({ ...testConnection, endpoint: server.endpoint, items });
    const queue = new Handle(tenantScope("acme"), opened, "large");
    // Written as escapes, which SQS always accepts, each of these has 12 bytes instead of 4.
    await failure(queue.send("g", "😀".repeat(45_000)), "LIMIT_EXCEEDED");
    await queue.send("g", "😀".repeat(20_000));
    expect(await queue.stats()).toMatchObject({ ready: 1 });
  });

  it("an unreachable server is UNAVAILABLE, and bad options are rejected", async () => {
    await using items = await openMemoryItems();
    await using opened = await openSqsQueue({ ...testConnection, endpoint: "http://127.0.0.1:9", items });
    await failure(opened.send(tenantScope("acme"), "work", { group: "g", body: 1 }), "UNAVAILABLE");
    await failure(openSqsQueue({ ...testConnection, items, prefix: "a b" }), "INVALID");
    await failure(openSqsQueue({ ...testConnection, items, region: "" }), "INVALID");
    await failure(openSqsQueue({ ...testConnection, items, attemptsMax: 0 }), "INVALID");
  });
});
