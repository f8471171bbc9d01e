/** The addresses an operator writes: `s3://bucket/prefix?region=…` and `sqs://region/queue`. */
import { invalid, show } from "../../domain/errors.ts";
import { isEndpoint } from "../../outgoing/http-address.ts";

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface BucketSettings {
  readonly bucket: string;
  /** Only objects under this folder of the bucket; default: all. */
  readonly prefix?: string;
  readonly region?: string;
  /** For S3-compatible stores other than Amazon's. */
  readonly endpoint?: string;
  /** Default: from the environment, the profile or the machine's role. */
  readonly credentials?: Credentials;
}

export interface EventQueueSettings {
  readonly region: string;
  readonly queue: string;
  readonly endpoint?: string;
  readonly credentials?: Credentials;
}

export function parseBucket(text: string, called: string): BucketSettings {
  const form = `${called}: write s3://bucket/prefix, with ?region=… and, for other providers than Amazon, &endpoint=http://…; got ${show(text)}.`;
  if (!text.startsWith("s3://") || !URL.canParse(text)) throw invalid(form);
  const url = new URL(text);
  const { region, endpoint, ...others } = Object.fromEntries(url.searchParams);
  if (
    url.hostname === "" ||
    Object.keys(others).length > 0 ||
    region === "" ||
    (endpoint !== undefined && !isEndpoint(endpoint))
  )
    throw invalid(form);
  const prefix = decodeURIComponent(url.pathname.replace(/^\//, ""));
  return {
    bucket: url.hostname,
    ...(prefix === "" ? {} : { prefix }),
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
  };
}

export function parseEventQueue(text: string, called: string): EventQueueSettings {
  const form = `${called}: write sqs://region/queue-name, with ?endpoint=http://… for a local server; got ${show(text)}.`;
  if (!text.startsWith("sqs://") || !URL.canParse(text)) throw invalid(form);
  const url = new URL(text);
  const { endpoint, ...others } = Object.fromEntries(url.searchParams);
  const queue = url.pathname.replace(/^\//, "");
  const named = /^[A-Za-z0-9_-]{1,80}(?:\.fifo)?$/.test(queue);
  if (
    url.hostname === "" ||
    !named ||
    Object.keys(others).length > 0 ||
    (endpoint !== undefined && !isEndpoint(endpoint))
  )
    throw invalid(form);
  return { region: url.hostname, queue, ...(endpoint === undefined ? {} : { endpoint }) };
}
