/** The drop-box in a cloud: a bucket of S3, queues of SQS, and a producer without Pinakes. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openMemoryItems } from "../../drivers/memory/index.ts";
import { openS3Objects } from "../../drivers/s3/index.ts";
import { startS3, type S3Server } from "../../drivers/s3/test-server.ts";
import { connect } from "../../drivers/sqs/client.ts";
import { openSqsQueue } from "../../drivers/sqs/index.ts";
import { sqsNames } from "../../drivers/sqs/names.ts";
import { startSqs, testConnection, type SqsServer } from "../../drivers/sqs/test-server.ts";
import { announceDelta, dropBoxQueue, processDropBox } from "./drop-box.ts";
import { acme, allRows, chromaAnswer, chromaFiles, ndjson, openProcess } from "./test-support.ts";

let s3: S3Server;
let sqs: SqsServer;
beforeAll(async () => {
  [s3, sqs] = await Promise.all([startS3(), startSqs()]);
});
afterAll(() => Promise.all([s3.stop(), sqs.stop()]));

/** Puts objects and sends messages with the services' own clients. */
async function foreignProducer(bucket: string) {
  const { PutObjectCommand, S3Client } = await import("@aws-sdk/client-s3");
  const credentials = { ...testConnection.credentials };
  const client = new S3Client({ endpoint: s3.endpoint, region: "us-east-1", credentials, forcePathStyle: true });
  const raw = await connect({ ...testConnection, endpoint: sqs.endpoint });
  return {
    put: async (key: string, body: Uint8Array) =>
      void (await client.send(new PutObjectCommand({ Bucket: bucket, Key: `t/acme/${key}`, Body: body }))),
    send: async (group: string, body: object) => {
      const { QueueUrl } = await raw.getQueueUrl({ QueueName: sqsNames("pinakes", "acme", dropBoxQueue).main });
      const MessageBody = JSON.stringify({ v: 1, tenant: "acme", group, body });
      await raw.sendMessage({
        QueueUrl,
        MessageBody,
        MessageGroupId: `acme/${group}`,
        MessageDeduplicationId: MessageBody,
      });
    },
    [Symbol.dispose]: () => {
      client.destroy();
      raw.destroy();
    },
  };
}

describe("drop-box on S3 and SQS", () => {
  it("an object in the bucket and a message in the queue, from a producer without our API: searchable, in order, once", async () => {
    const place = await s3.bucket("drop-box");
    await using items = await openMemoryItems();
    await using objects = await openS3Objects(place);
    await using queue = await openSqsQueue({ ...testConnection, endpoint: sqs.endpoint, items });
    await using opened = await openProcess({ items, objects });
    const { vectors } = opened;
    await vectors.create(acme, "papers", { dims: 8, metric: "l2" });
    const round = () =>
      processDropBox({ vectors, objects, queue }, acme, { owner: "worker", collection: "papers", waitMs: 2_000 });
    // The first poll creates the queues, as a deployment would.
    await processDropBox({ vectors, objects, queue }, acme, { owner: "worker" });
    using producer = await foreignProducer(place.bucket);
    for (const [path, bytes] of await chromaFiles("hnsw-l2"))
      await producer.put(`delta/2025-08-02T08-05-27Z/${path}`, bytes);
    await producer.send("papers", { delta_key: "delta/2025-08-02T08-05-27Z/" });
    await producer.put(
      "delta/2025-08-02T09-00-00Z.jsonl",
      ndjson([
        { id: "row-777", op: "delete" },
        { id: "new", vector: [9, 9, 9, 9, 9, 9, 9, 9] },
      ]),
    );
    await producer.send("papers", { delta_key: "delta/2025-08-02T09-00-00Z.jsonl", collection: "papers" });
    expect(await round()).toMatchObject({ done: 1 });
    expect(await round()).toMatchObject({ done: 1 });
    const answer = await chromaAnswer("hnsw-l2");
    const ids = [...answer.map(({ id }) => id).filter((id) => id !== "row-777"), "new"].toSorted();
    expect((await allRows(vectors, "papers")).map(({ id }) => id)).toEqual(ids);
    const { hits } = await vectors.query(acme, "papers", { vector: [9, 9, 9, 9, 9, 9, 9, 9], limit: 1 });
    expect(hits).toMatchObject([{ id: "new" }]);
    await announceDelta(queue, acme, { deltaKey: "delta/2025-08-02T08-05-27Z/", collection: "papers" });
    expect(await round()).toMatchObject({ done: 1 });
    expect((await vectors.stats(acme, "papers")).lastSeq).toBe(2);
  });

  it("R-CMP-09 a delta that cannot be read is a dead letter of SQS after its failures, and the next of its group continues", async () => {
    const place = await s3.bucket("drop-box-poison");
    await using items = await openMemoryItems();
    await using objects = await openS3Objects(place);
    await using queue = await openSqsQueue({ ...testConnection, endpoint: sqs.endpoint, items, prefix: "poison" });
    await using opened = await openProcess({ items, objects });
    const { vectors } = opened;
    await vectors.create(acme, "papers", { dims: 2 });
    await objects.put(acme, "delta/good.jsonl", ndjson([{ id: "a", vector: [1, 2] }]));
    await announceDelta(queue, acme, { deltaKey: "delta/missing.jsonl", collection: "papers" });
    await announceDelta(queue, acme, { deltaKey: "delta/good.jsonl", collection: "papers" });
    const totals = { done: 0, failed: 0 };
    // The pauses between the failures (1, 2, 4 and 8 seconds) are the service's.
    for (let rounds = 0; totals.done === 0 && rounds < 60; rounds += 1) {
      const { done, failed } = await processDropBox({ vectors, objects, queue }, acme, {
        owner: "worker",
        waitMs: 1_000,
      });
      totals.done += done;
      totals.failed += failed;
    }
    expect(totals).toEqual({ done: 1, failed: 5 });
    expect((await queue.stats(acme, dropBoxQueue)).dead).toBe(1);
    expect(await allRows(vectors, "papers")).toHaveLength(1);
  });
});
