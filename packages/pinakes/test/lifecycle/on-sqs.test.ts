/** The topics on SQS, where other programs send and receive with the service's own client. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { makeCaller } from "../../src/domain/caller.ts";
import { connect } from "../../src/drivers/sqs/client.ts";
import { sqsNames } from "../../src/drivers/sqs/names.ts";
import { startSqs, testConnection, type SqsServer } from "../../src/drivers/sqs/test-server.ts";
import {
  lifecycleTenant,
  object_storage_management_topic,
  serveParticipant,
  storage_management_response_topic,
} from "../../src/lifecycle/index.ts";
import { open, type Pinakes } from "../../src/open.ts";
import { dropBoxQueue } from "../../src/vectors/index.ts";

const topicPrefix = "blue-";
const objectsTopic = `${topicPrefix}${object_storage_management_topic}`;
const repliesTopic = `${topicPrefix}${storage_management_response_topic}`;
const awayTopic = `${objectsTopic}-away`;
const patience = { timeout: 240_000, interval: 50 };
let server: SqsServer;
let raw: Awaited<ReturnType<typeof connect>>;
let dir: string;
let pinakes: Pinakes;
beforeAll(async () => {
  vi.stubEnv("AWS_ACCESS_KEY_ID", testConnection.credentials.accessKeyId);
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", testConnection.credentials.secretAccessKey);
});
afterAll(() => void vi.unstubAllEnvs());
beforeEach(async () => {
  server = await startSqs();
  raw = await connect({ ...testConnection, endpoint: server.endpoint });
  dir = await mkdtemp(join(tmpdir(), "pinakes-on-sqs-"));
  const queue = `sqs://us-east-1/pin?endpoint=${encodeURIComponent(server.endpoint)}`;
  pinakes = await open({ dir, items: "memory:", objects: "memory:", queue, topicPrefix });
  // The server creates the queues when it first listens.
  for (const topic of [objectsTopic, repliesTopic]) await vi.waitFor(() => urlOf(topic), patience);
});
afterEach(async () => {
  await pinakes.close();
  raw.destroy();
  await server.stop();
  await rm(dir, { recursive: true, force: true });
});

const urlOf = async (topic: string, which: "main" | "dead" = "main") =>
  (await raw.getQueueUrl({ QueueName: sqsNames("pin", lifecycleTenant, topic)[which] })).QueueUrl as string;
let sent = 0;
async function send(topic: string, MessageBody: string, MessageGroupId = "theirs"): Promise<void> {
  sent += 1;
  await raw.sendMessage({
    QueueUrl: await urlOf(topic),
    MessageBody,
    MessageGroupId,
    MessageDeduplicationId: `theirs-${sent}`,
  });
}
/** Received and deleted by another program. */
async function take(topic: string): Promise<string> {
  const QueueUrl = await urlOf(topic);
  const { Messages = [] } = await raw.receiveMessage({ QueueUrl, WaitTimeSeconds: 5 });
  await raw.deleteMessage({ QueueUrl, ReceiptHandle: Messages[0]?.ReceiptHandle });
  return Messages[0]?.Body ?? "";
}
/** All dead letters of a topic, one by one: SQS returns the next of a group when the previous one is deleted. */
async function letters(topic: string): Promise<(string | undefined)[][]> {
  const QueueUrl = await urlOf(topic, "dead");
  const found: (string | undefined)[][] = [];
  for (;;) {
    const { Messages: [letter] = [] } = await raw.receiveMessage({ QueueUrl, MessageAttributeNames: ["All"] });
    if (letter === undefined) return found;
    found.push([
      letter.Body,
      letter.MessageAttributes?.["cause"]?.StringValue,
      letter.MessageAttributes?.["reason"]?.StringValue,
    ]);
    await raw.deleteMessage({ QueueUrl, ReceiptHandle: letter.ReceiptHandle });
  }
}
const verbatim = (collection: string) =>
  JSON.stringify({ operation: "delete-collection", user: "ann", collection, timestamp: "2025-01-01T00:00:00Z" });

type Row = {
  readonly status: string;
  readonly deleted: number;
  readonly remaining: number | null;
  readonly error: { readonly type: string } | null;
};

/** A purge that waits for an external store, whose message that process has received. */
async function waiting(
  collection_id: string,
): Promise<{ message: string; away: () => Promise<Row>; ended: () => Promise<void> }> {
  const ann = pinakes.as({ tenant: "default", userId: "ann", role: "admin" });
  await pinakes.knowledge.collections.create(ann, "me", { collection_id });
  const capabilities = { delete: true, archive: false, list: false };
  await pinakes.lifecycle.participants.register({ store: "away", class: "object", capabilities });
  const { job_id } = await pinakes.knowledge.collections.delete(ann, "me", collection_id, {
    purge: true,
    confirm: collection_id,
  });
  const operation = () => pinakes.knowledge.operations.get(ann, job_id);
  const away = async () => (await operation()).stores.find(({ store }) => store === "away") as Row;
  await vi.waitFor(async () => {
    const rows = (await operation()).stores.map(({ store, status }) => `${store} ${status}`).toSorted();
    expect(rows).toEqual([
      "away sent",
      "documents confirmed",
      "objects confirmed",
      "triples confirmed",
      "vectors confirmed",
    ]);
  }, patience);
  const ended = () =>
    vi.waitFor(async () => expect(await operation()).toMatchObject({ status: "done", partial: false }), patience);
  return { message: await take(awayTopic), away, ended };
}

describe("topics on SQS", () => {
  it("R-TG-55 R-TG-57 LISA's own message, sent by another program, is handled in the topic of any store", async () => {
    const { ended } = await waiting("papers");
    await send(awayTopic, verbatim("papers"));
    const stop = new AbortController();
    let asked = 0;
    const handlers = { delete: async () => ({ deleted: (asked += 1), done: true }), count: async () => 0 };
    const serving = serveParticipant(pinakes.lifecycle, { store: "away", class: "object", handlers }, stop.signal);
    // Our own message was removed: the verbatim one asked.
    await ended();
    stop.abort();
    await serving;
    expect(asked).toBeGreaterThan(0);
    expect(pinakes.lifecycle.metrics.malformed).toBe(0);
  });

  it("R-TG-62 a reply of another program is accepted; of another attempt, or without a count, it confirms nothing", async () => {
    const { message, away, ended } = await waiting("papers");
    const { body } = JSON.parse(message) as { body: object };
    const reply = { ...body, success: true, error: null, deleted: 0, duration_ms: 1 };
    await send(repliesTopic, JSON.stringify({ ...reply, remaining: 0, attempt: 9 }));
    await send(repliesTopic, JSON.stringify(reply));
    await vi.waitFor(
      async () => expect(await away()).toMatchObject({ remaining: null, error: { type: "not_counted" } }),
      patience,
    );
    await send(repliesTopic, JSON.stringify({ ...reply, deleted: 3, remaining: 0 }));
    await ended();
    expect(await away()).toMatchObject({ status: "confirmed", deleted: 3, remaining: 0, error: null });
  });

  it("R-TG-56 a message that is not JSON, not an object or not a request is a dead letter with its reason, and the next message is handled", async () => {
    for (const text of [
      "not json at all",
      '["a list"]',
      '{"operation":7}',
      '{"v":1,"tenant":"acme","group":"g","body":{}}',
    ])
      await send(objectsTopic, text);
    await send(objectsTopic, verbatim("never-was"));
    // All are of one group, so it comes after the others.
    await vi.waitFor(() => expect(pinakes.lifecycle.metrics.handled).toBe(1), patience);
    expect(await letters(objectsTopic)).toEqual([
      ["not json at all", "unreadable", "It is not JSON."],
      ['["a list"]', "unreadable", "It is JSON, but not an object."],
      ['{"operation":7}', "failed", expect.stringContaining("This is not {")],
      [
        '{"v":1,"tenant":"acme","group":"g","body":{}}',
        "unreadable",
        expect.stringContaining("not a message that Pinakes sent"),
      ],
    ]);
    expect(pinakes.lifecycle.metrics.malformed).toBeGreaterThan(0);
  });

  it("R-TG-109 shared queues say why their dead letters are unknown; those of a drop box are counted", async () => {
    const admin = makeCaller({ tenant: "acme", userId: "root", role: "admin" });
    const queues = await pinakes.knowledge.queues(admin);
    expect(queues.length).toBeGreaterThan(2);
    const dead_unknown = expect.stringContaining("All workspaces share this queue") as string;
    for (const queue of queues) expect(queue).toMatchObject({ waiting: 0, dead: null, dead_unknown });
    // The queue of a drop box belongs to the workspace. Nobody else receives from it here.
    const queue = `sqs://us-east-1/pin?endpoint=${encodeURIComponent(server.endpoint)}`;
    const boxed = await open({
      dir: join(dir, "boxed"),
      items: "memory:",
      objects: "memory:",
      queue,
      background: false,
      dropBoxes: [{ tenant: "acme" }],
    });
    try {
      const box = async () => (await boxed.knowledge.queues(admin)).find(({ name }) => name === dropBoxQueue);
      expect(await box()).toEqual({
        name: dropBoxQueue,
        waiting: 0,
        in_progress: 0,
        failed: 0,
        dead: 0,
        oldest_age_seconds: null,
      });
      const { QueueUrl } = await raw.getQueueUrl({ QueueName: sqsNames("pin", "acme", dropBoxQueue).main });
      await raw.sendMessage({
        QueueUrl,
        MessageBody: "not json at all",
        MessageGroupId: "theirs",
        MessageDeduplicationId: "box-1",
      });
      await vi.waitFor(async () => {
        await boxed.queue.receive(admin.scope, dropBoxQueue, { owner: "test" });
        expect(await box()).toMatchObject({ waiting: 0, dead: 1 });
      }, patience);
      const other = makeCaller({ tenant: "globex", userId: "root", role: "admin" });
      expect((await boxed.knowledge.queues(other)).map(({ name }) => name)).not.toContain(dropBoxQueue);
    } finally {
      await boxed.close();
    }
  });
});
