import { describe, expect, it } from "vitest";
import { PinakesError } from "../../domain/errors.ts";
import { parseBucket, parseEventQueue } from "./settings.ts";

function detail(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (PinakesError.isInstance(error)) return `${error.code} ${error.detail}`;
    throw error;
  }
  throw new Error("was not refused");
}

describe("addresses of buckets and queues that an operator writes", () => {
  it("a bucket, with a prefix, a region and an address of its own", () => {
    expect(parseBucket("s3://docs", "b")).toEqual({ bucket: "docs" });
    expect(parseBucket("s3://docs/a%20b/c?region=eu-central-1&endpoint=http://127.0.0.1:9000", "b")).toEqual({
      bucket: "docs",
      prefix: "a b/c",
      region: "eu-central-1",
      endpoint: "http://127.0.0.1:9000",
    });
    for (const bad of ["docs", "s3:docs", "s3://docs?colour=red", "s3://docs?endpoint=x", "s3://docs?region="])
      expect(detail(() => parseBucket(bad, "pipelineBuckets[0]"))).toMatch(
        /^INVALID pipelineBuckets\[0\]: write s3:\/\/bucket\/prefix/,
      );
  });

  it("a queue, in its region", () => {
    expect(parseEventQueue("sqs://eu-central-1/source-events", "q")).toEqual({
      region: "eu-central-1",
      queue: "source-events",
    });
    expect(parseEventQueue("sqs://local/q?endpoint=http://127.0.0.1:4566", "q")).toEqual({
      region: "local",
      queue: "q",
      endpoint: "http://127.0.0.1:4566",
    });
    for (const bad of [
      "sqs://eu-central-1",
      "sqs://r/a/b",
      "https://x/q",
      "sqs://r/q?x=1",
      `sqs://r/${"q".repeat(81)}`,
    ])
      expect(detail(() => parseEventQueue(bad, "pipelineQueue"))).toMatch(
        /^INVALID pipelineQueue: write sqs:\/\/region\/queue-name/,
      );
    expect(parseEventQueue(`sqs://r/${"q".repeat(80)}`, "q").queue).toHaveLength(80);
  });
});
