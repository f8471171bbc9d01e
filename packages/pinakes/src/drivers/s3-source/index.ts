/** Buckets that pipelines read, and the SQS queue that tells what changed in them. The SDKs are loaded when the first is used. */
export { openS3Bucket, type S3Bucket } from "./s3-bucket.ts";
export { openSqsEvents } from "./sqs-events.ts";
export { parseBucket, parseEventQueue, type BucketSettings, type EventQueueSettings } from "./settings.ts";
