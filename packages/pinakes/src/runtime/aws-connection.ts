/** The common connection settings of the DynamoDB and SQS clients. */
export interface ConnectionOptions {
  readonly region: string;
  /** An address other than the region's own, for a local server. */
  readonly endpoint?: string | undefined;
  readonly credentials?:
    | {
        readonly accessKeyId: string;
        readonly secretAccessKey: string;
        readonly sessionToken?: string;
      }
    | undefined;
}

const connectMsMax = 2_000;
const socketsMax = 200;

export function requestHandler(requestMsMax: number) {
  return {
    requestTimeout: requestMsMax,
    connectionTimeout: connectMsMax,
    throwOnRequestTimeout: true,
    httpAgent: { maxSockets: socketsMax },
    httpsAgent: { maxSockets: socketsMax },
  };
}
