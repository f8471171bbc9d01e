/**
 * The objects of an S3 event: as S3 sends it to SQS, SNS or Lambda, as EventBridge does, or in SNS's envelope. What happened to them is
 * ignored: events are late, duplicate and out of order, so the bucket itself is queried.
 */
import { z } from "zod";
import { invalid } from "../domain/errors.ts";
import { pipelineLimits } from "./limits.ts";

export interface ChangedObject {
  readonly bucket: string;
  readonly key: string;
}

const Place = z.object({ bucket: z.object({ name: z.string() }), object: z.object({ key: z.string() }) });
const Records = z.object({ Records: z.array(z.object({ eventName: z.string(), s3: Place })) });
const EventBridge = z.object({ "detail-type": z.string(), detail: Place });
const Envelope = z.object({ Type: z.literal("Notification"), Message: z.string() });
const Test = z.object({ Event: z.literal("s3:TestEvent") });

const records = /^(?:s3:)?(?:ObjectCreated|ObjectRemoved|LifecycleExpiration|ObjectRestore):/;
const details = ["Object Created", "Object Deleted", "Object Restore Completed"];

export function readS3Events(body: unknown): readonly ChangedObject[] {
  const changed = read(body, 0);
  const unique = new Map(changed.map((object) => [`${object.bucket}/${object.key}`, object]));
  if (unique.size > pipelineLimits.changedFilesMax)
    throw invalid(
      `The event names ${unique.size} objects; the limit is ${pipelineLimits.changedFilesMax}. Split it, or run the pipeline.`,
    );
  return [...unique.values()];
}

function read(body: unknown, depth: number): readonly ChangedObject[] {
  const value = typeof body === "string" ? parse(body) : body;
  const envelope = Envelope.safeParse(value);
  if (envelope.success && depth === 0) return read(envelope.data.Message, depth + 1);
  const list = Records.safeParse(value);
  if (list.success)
    return list.data.Records.filter(({ eventName }) => records.test(eventName)).map(({ s3 }) => ({
      bucket: s3.bucket.name,
      key: decodeKey(s3.object.key),
    }));
  const one = EventBridge.safeParse(value);
  // EventBridge does not encode keys.
  if (one.success)
    return details.includes(one.data["detail-type"])
      ? [{ bucket: one.data.detail.bucket.name, key: one.data.detail.object.key }]
      : [];
  if (Test.safeParse(value).success) return [];
  throw invalid(
    'The body is not an S3 event: it has neither "Records" with eventName and s3, nor "detail-type" and "detail".',
  );
}

/** Form encoding: a space is "+". */
function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll("+", " "));
  } catch (cause) {
    throw invalid(`The key ${JSON.stringify(key)} of the S3 event is not URL-encoded.`, { cause });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalid("The body is not JSON.", { cause });
  }
}
