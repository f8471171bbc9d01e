import { DeleteBucketCommand, DeleteObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { SQS } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../../test/support/until.ts";
import { startS3, type S3Server } from "../drivers/s3/test-server.ts";
import { failure } from "../testing/object-store/fixture.ts";
import { pipelineLimits } from "./limits.ts";
import { admin, Bench, closeShared, user } from "./test-pipelines.ts";

const credentials = { accessKeyId: "test", secretAccessKey: "test" };
const region = "us-east-1";
let server: S3Server;
let client: S3Client;
let sqs: SQS;
let buckets = 0;

beforeAll(async () => {
  server = await startS3();
  client = new S3Client({ endpoint: server.endpoint, region, credentials, forcePathStyle: true });
  sqs = new SQS({ endpoint: server.endpoint, region, credentials, useQueueUrlAsEndpoint: false });
});
afterAll(async () => {
  client.destroy();
  sqs.destroy();
  await server.stop();
  await closeShared();
});

/** A bench whose pipelines may read below `open/` of its own bucket. */
async function withBucket(queue?: string) {
  const bucket = `source-${(buckets += 1)}`;
  await server.bucket(bucket);
  const place = { bucket, prefix: "open", endpoint: server.endpoint, region, credentials };
  const pipelineQueue =
    queue === undefined ? {} : { pipelineQueue: { queue, region, endpoint: server.endpoint, credentials } };
  const bench = await Bench.open({ pipelineBuckets: [place], ...pipelineQueue });
  return {
    bench,
    bucket,
    source: `s3://${bucket}/open/docs`,
    put: async (key: string, text: string) =>
      void (await client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: text }))),
    remove: async (key: string) => void (await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }))),
  };
}

/** Waits for the initial full run: later changes then arrive by events. */
const listening = (bench: Bench) =>
  until(async () => {
    const { items } = await bench.knowledge.jobs.list(admin, { limit: 100 });
    return items.length > 0 && items.every(({ status }) => status === "succeeded");
  });

const record = (eventName: string, bucket: string, key: string) => ({
  eventName,
  eventSource: "aws:s3",
  s3: { bucket: { name: bucket }, object: { key } },
});

describe("a pipeline on a bucket", () => {
  it("R-LISA-21 objects under the prefix are added, replaced, and removed; others are ignored", async () => {
    const { bench, source, put, remove } = await withBucket();
    await using _ = bench;
    await put("open/docs/a b+ü.txt", "first");
    await put("open/docs/sub/a.md", "second");
    await put("open/docs/folder/", "");
    await put("open/docs2/other.txt", "not under the folder docs");
    await put("open/docs/x.bin", "no");
    const id = await bench.pipeline({ source, auto_remove: true });
    expect(await bench.knowledge.pipelines.plan(admin, "r", "c", id)).toMatchObject({ counts: { add: 2, skipped: 1 } });
    expect((await bench.run(id)).result).toMatchObject({ added: 2, skipped: 1, failed: 0 });
    expect(await bench.uris()).toEqual([`${source}/a b+ü.txt`, `${source}/sub/a.md`]);
    const document = (await bench.documents()).find(({ name }) => name === "a b+ü.txt");
    const parts: Uint8Array[] = [];
    for await (const part of (await bench.knowledge.documents.content(admin, "r", "c", document?.document_id as string))
      .body)
      parts.push(part);
    expect(Buffer.concat(parts).toString()).toBe("first");
    expect((await bench.run(id)).result).toMatchObject({ added: 0, unchanged: 2 });
    await put("open/docs/sub/a.md", "changed");
    await remove("open/docs/a b+ü.txt");
    expect((await bench.run(id)).result).toMatchObject({ replaced: 1, removed: 1 });
    expect(await bench.uris()).toEqual([`${source}/sub/a.md`]);
  });

  it("only buckets and folders that the operator allowed", async () => {
    const { bench, bucket } = await withBucket();
    await using _ = bench;
    for (const source of [
      "s3://other-bucket/open",
      `s3://${bucket}`,
      `s3://${bucket}/opened`,
      `s3://${bucket}/private/`,
    ])
      expect((await failure(bench.pipeline({ source }), "FORBIDDEN")).detail).toContain(
        `Allowed are file:${bench.folder}, s3://${bucket}/open/.`,
      );
    const other = await bench.another({
      pipelineBuckets: [{ bucket, endpoint: server.endpoint, region, credentials, tenants: ["other"] }],
    });
    await failure(
      other.knowledge.pipelines.create(admin, "r", "c", { trigger: "schedule", source: `s3://${bucket}/open` }),
      "FORBIDDEN",
    );
    await bench.pipeline({ source: `s3://${bucket}/open` });
  });

  it("an event on a source that is empty now does not empty the collection", async () => {
    const { bench, bucket, source, put, remove } = await withBucket();
    await using _ = bench;
    const keys = Array.from({ length: pipelineLimits.guardDocumentsMin }, (__, i) => `open/docs/f${i}.txt`);
    for (const key of keys) await put(key, key);
    const id = await bench.pipeline({ source, trigger: "event", auto_remove: true });
    await listening(bench);
    for (const key of keys) await remove(key);
    const { job } = await bench.knowledge.pipelines.notify(admin, "r", "c", id, {
      Records: [record("ObjectRemoved:Delete", bucket, keys[0] as string)],
    });
    expect(await bench.ended(job?.job_id as string)).toMatchObject({
      status: "failed",
      error: expect.stringContaining("10 of the pipeline's 10 documents"),
    });
    expect(await bench.documents()).toHaveLength(keys.length);
  });

  it("a missing bucket is refused, and one deleted later removes nothing", async () => {
    const bench = await Bench.open({
      pipelineBuckets: [{ bucket: "never-made", endpoint: server.endpoint, region, credentials }],
    });
    await using _ = bench;
    expect((await failure(bench.pipeline({ source: "s3://never-made/x" }), "INVALID")).detail).toContain("never-made");
    const gone = await withBucket();
    await using __ = gone.bench;
    await gone.put("open/docs/a.txt", "a");
    const id = await gone.bench.pipeline({ source: gone.source, auto_remove: true });
    await gone.bench.run(id);
    await gone.remove("open/docs/a.txt");
    await client.send(new DeleteBucketCommand({ Bucket: gone.bucket }));
    expect(await gone.bench.run(id)).toMatchObject({
      status: "failed",
      error: expect.stringContaining("NoSuchBucket"),
    });
    expect(await gone.bench.documents()).toHaveLength(1);
  });

  it("R-LISA-21 notify: keys are decoded, only those under the prefix count, and the bucket is authoritative", async () => {
    const { bench, bucket, source, put, remove } = await withBucket();
    await using _ = bench;
    const id = await bench.pipeline({ source, trigger: "event", auto_remove: true });
    await listening(bench);
    const notify = async (body: unknown, caller = user) => {
      const { job, ...counts } = await bench.knowledge.pipelines.notify(caller, "r", "c", id, body);
      return { ...counts, result: job === null ? null : (await bench.ended(job.job_id)).result };
    };
    await put("open/docs/a b.txt", "first");
    await put("open/docs/c+d.txt", "second");
    await put("open/elsewhere.txt", "third");
    const records = [
      record("ObjectCreated:Put", bucket, "open/docs/a+b.txt"),
      record("s3:ObjectCreated:CompleteMultipartUpload", bucket, "open/docs/c%2Bd.txt"),
      record("ObjectCreated:Put", bucket, "open/elsewhere.txt"),
      record("ObjectCreated:Put", "another-bucket", "open/docs/a+b.txt"),
      record("ObjectTagging:Put", bucket, "open/docs/tagged.txt"),
    ];
    expect(await notify({ Records: records })).toMatchObject({
      accepted: 2,
      ignored: 2,
      result: { added: 2, failed: 0 },
    });
    expect(await bench.uris()).toEqual([`${source}/a b.txt`, `${source}/c+d.txt`]);
    // It claims that the object was deleted, but it exists.
    expect(await notify({ Records: [record("ObjectRemoved:Delete", bucket, "open/docs/a+b.txt")] })).toMatchObject({
      result: { removed: 0, unchanged: 1 },
    });
    await remove("open/docs/a b.txt");
    await put("open/docs/c+d.txt", "changed");
    const bridge = (type: string, key: string) => ({
      source: "aws.s3",
      "detail-type": type,
      detail: { bucket: { name: bucket }, object: { key } },
    });
    expect(await notify(JSON.stringify(bridge("Object Deleted", "open/docs/a b.txt")))).toMatchObject({
      accepted: 1,
      result: { removed: 1 },
    });
    expect(await notify(bridge("Object Created", "open/docs/c+d.txt"))).toMatchObject({
      accepted: 1,
      result: { replaced: 1 },
    });
    expect(await notify({ Event: "s3:TestEvent" })).toEqual({ accepted: 0, ignored: 0, result: null });
    expect(await bench.uris()).toEqual([`${source}/c+d.txt`]);
    await failure(notify("no json"), "INVALID");
    await failure(notify({ hello: 1 }), "INVALID");
    await failure(notify({ Records: [record("ObjectCreated:Put", bucket, "%zz")] }), "INVALID");
    const many = (count: number) => ({
      Records: Array.from({ length: count }, (__, i) => record("ObjectCreated:Put", bucket, `open/no/${i}.txt`)),
    });
    expect(await notify(many(pipelineLimits.changedFilesMax))).toMatchObject({
      ignored: pipelineLimits.changedFilesMax,
    });
    await failure(notify(many(pipelineLimits.changedFilesMax + 1)), "INVALID");
  });

  it("notify is for pipelines on buckets with the trigger event", async () => {
    const { bench, source } = await withBucket();
    await using _ = bench;
    const scheduled = await bench.pipeline({ source });
    const folder = await bench.pipeline({ trigger: "event" });
    for (const id of [scheduled, folder])
      await failure(bench.knowledge.pipelines.notify(admin, "r", "c", id, { Records: [] }), "INVALID");
  });
});

describe("events from an SQS queue", () => {
  const queued = async (url: string) => {
    const { Attributes } = await sqs.getQueueAttributes({
      QueueUrl: url,
      AttributeNames: ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
    });
    return (
      Number(Attributes?.["ApproximateNumberOfMessages"]) +
      Number(Attributes?.["ApproximateNumberOfMessagesNotVisible"])
    );
  };

  it("R-LISA-21 are executed by their pipeline, and deleted from the queue only then", async () => {
    const { QueueUrl: url } = (await sqs.createQueue({ QueueName: "events-1" })) as { QueueUrl: string };
    const { bench, bucket, source, put, remove } = await withBucket("events-1");
    await using _ = bench;
    await bench.pipeline({ source, trigger: "event", auto_remove: true });
    await listening(bench);
    bench.background((signal) => bench.opened.pipelines.listen(signal));
    const send = (body: unknown) =>
      sqs.sendMessage({ QueueUrl: url, MessageBody: typeof body === "string" ? body : JSON.stringify(body) });

    await put("open/docs/a b.txt", "first");
    await send({ Records: [record("ObjectCreated:Put", bucket, "open/docs/a+b.txt")] });
    await until(async () => (await bench.documents()).length === 1);
    expect((await bench.documents())[0]?.source).toMatchObject({ type: "auto", uri: `${source}/a b.txt` });
    await until(async () => (await queued(url)) === 0);

    // Through SNS; an unrelated object; the test event that S3 sends when the queue is configured.
    await put("open/docs/b.txt", "second");
    await send({
      Type: "Notification",
      Message: JSON.stringify({ Records: [record("ObjectCreated:Put", bucket, "open/docs/b.txt")] }),
    });
    await send({ Records: [record("ObjectCreated:Put", "nobodys", "x.txt")] });
    await send({ Service: "Amazon S3", Event: "s3:TestEvent" });
    await until(async () => (await bench.documents()).length === 2 && (await queued(url)) === 0);

    await remove("open/docs/b.txt");
    await send({ Records: [record("ObjectRemoved:Delete", bucket, "open/docs/b.txt")] });
    await until(async () => (await bench.documents()).length === 1 && (await queued(url)) === 0);
  });

  it("an event that is invalid, or cannot be executed now, stays in the queue", async () => {
    const { QueueUrl: url } = (await sqs.createQueue({ QueueName: "events-2" })) as { QueueUrl: string };
    const { bench, bucket, source, put } = await withBucket("events-2");
    await using _ = bench;
    await bench.pipeline({ source, trigger: "event" });
    await put("open/docs/a.txt", "first");
    bench.background((signal) => bench.opened.pipelines.listen(signal));
    await sqs.sendMessage({ QueueUrl: url, MessageBody: "hello" });
    await until(async () => bench.log.some((line) => line.includes("was invalid")));
    expect(await queued(url)).toBe(1);
    // The bucket's server becomes unreachable: the event must not be lost.
    const other = await bench.another({
      pipelineBuckets: [{ bucket, prefix: "open", endpoint: "http://127.0.0.1:1", region, credentials }],
      pipelineQueue: { queue: "events-3", region, endpoint: server.endpoint, credentials },
    });
    const { QueueUrl: third } = (await sqs.createQueue({ QueueName: "events-3" })) as { QueueUrl: string };
    await sqs.sendMessage({
      QueueUrl: third,
      MessageBody: JSON.stringify({ Records: [record("ObjectCreated:Put", bucket, "open/docs/a.txt")] }),
    });
    bench.background((signal) => other.pipelines.listen(signal));
    await until(async () =>
      (await bench.knowledge.jobs.list(admin, { limit: 100 })).items.some(
        ({ status, error }) => status === "failed" && error?.includes("S3 did not answer"),
      ),
    );
    expect(await queued(third)).toBe(1);
  });
});
