/** Buckets that pipelines read, and the SQS queue with their change events. The SDKs are loaded at the first use. */
export { openS3Bucket, type S3Bucket } from "./s3-bucket.ts";
export { openSqsEvents } from "./sqs-events.ts";
export { parseBucket, parseEventQueue, type BucketSettings, type EventQueueSettings } from "./settings.ts";
