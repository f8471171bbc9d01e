/**
 * Limits of connections, event streams and client silence. Each is a setting:
 *
 *   PINAKES_CONNECTIONS_MAX               4096   at once; one more is 503
 *   PINAKES_CONNECTIONS_PER_ADDRESS_MAX   1024   of one client address (an IPv6 /64 is one); one more is 429
 *   PINAKES_EVENT_STREAMS_MAX             1000   at once; one more is 429
 *   PINAKES_EVENT_STREAMS_PER_USER_MAX    32     of one user
 *   PINAKES_HEADERS_TIMEOUT_SECONDS       20     until all headers of a request have arrived
 *   PINAKES_REQUEST_TIMEOUT_SECONDS       300    until the whole request has arrived, uploads included
 *   PINAKES_BODY_IDLE_TIMEOUT_SECONDS     60     without a byte of an upload
 *   PINAKES_ANSWER_IDLE_TIMEOUT_SECONDS   60     without a byte of an answer taken by the client
 *   PINAKES_KEEP_ALIVE_TIMEOUT_SECONDS    15     between two requests of a connection
 */
import { invalid } from "./domain/errors.ts";

export interface ConnectionLimits {
  readonly connectionsMax: number;
  readonly connectionsPerAddressMax: number;
  readonly eventStreamsMax: number;
  readonly eventStreamsPerUserMax: number;
  readonly headersTimeoutSeconds: number;
  readonly requestTimeoutSeconds: number;
  readonly bodyIdleTimeoutSeconds: number;
  readonly answerIdleTimeoutSeconds: number;
  readonly keepAliveTimeoutSeconds: number;
}

export const connectionDefaults: ConnectionLimits = Object.freeze({
  connectionsMax: 4_096,
  connectionsPerAddressMax: 1_024,
  eventStreamsMax: 1_000,
  eventStreamsPerUserMax: 32,
  headersTimeoutSeconds: 20,
  requestTimeoutSeconds: 300,
  bodyIdleTimeoutSeconds: 60,
  answerIdleTimeoutSeconds: 60,
  keepAliveTimeoutSeconds: 15,
});

const names = Object.keys(connectionDefaults) as readonly (keyof ConnectionLimits)[];
const settingOf = (name: string) => `PINAKES_${name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
const secondsMax = 86_400;
const countMax = 1_000_000;

export const connectionSettings: readonly string[] = names.map(settingOf);

export function readConnectionLimits(value: (name: string) => string | undefined): ConnectionLimits {
  const limits = names.map((name) => [name, readOne(name, value(settingOf(name)))] as const);
  const read = Object.fromEntries(limits) as unknown as ConnectionLimits;
  if (read.headersTimeoutSeconds > read.requestTimeoutSeconds)
    throw invalid(
      `${settingOf("headersTimeoutSeconds")}: must not be more than ${settingOf("requestTimeoutSeconds")}, which counts them as well.`,
    );
  return read;
}

function readOne(name: keyof ConnectionLimits, text: string | undefined): number {
  if (text === undefined) return connectionDefaults[name];
  const most = name.endsWith("Seconds") ? secondsMax : countMax;
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number >= 1 && number <= most))
    throw invalid(`${settingOf(name)}: must be a whole number from 1 to ${most}, got ${JSON.stringify(text)}.`);
  return number;
}
