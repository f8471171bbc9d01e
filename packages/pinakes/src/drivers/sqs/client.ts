/** The connection to SQS. The SDK is loaded only when a queue is opened; it retries failures, which is safe: sends carry a dedup id. */
import type { SQS } from "@aws-sdk/client-sqs";
import { invalid } from "../../domain/errors.ts";
import { requestHandler, type ConnectionOptions } from "../../runtime/aws-connection.ts";

/** Longer than the longest poll (20 s). */
const requestMsMax = 30_000;

export async function connect({ region, endpoint, credentials }: ConnectionOptions): Promise<SQS> {
  if (typeof region !== "string" || region === "") throw invalid("region: specify the AWS region of the queues.");
  const sdk = await import("@aws-sdk/client-sqs");
  return new sdk.SQS({
    region,
    // A local server's queue URLs may name hosts that do not exist.
    ...(endpoint === undefined ? {} : { endpoint, useQueueUrlAsEndpoint: false }),
    ...(credentials === undefined ? {} : { credentials: { ...credentials } }),
    requestHandler: requestHandler(requestMsMax),
  });
}
