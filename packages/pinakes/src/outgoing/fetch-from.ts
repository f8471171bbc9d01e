/**
 * One request to one server: redirects are returned as responses and never followed, names are resolved by the guarded lookup, and the
 * response is bounded in time and bytes. No cookies; no credentials except the headers passed in.
 */
import { request as requestPlain, type IncomingMessage } from "node:http";
import { request as requestSecure } from "node:https";
import { PinakesError } from "../domain/errors.ts";
import { guardedLookup } from "./guarded-lookup.ts";

export interface OutgoingRequest {
  readonly method?: "GET" | "POST" | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
  readonly answerBytesMax: number;
}

export interface OutgoingAnswer {
  readonly status: number;
  readonly text: string;
}

export async function fetchFrom(
  url: string,
  { method = "GET", headers = {}, body, signal, answerBytesMax }: OutgoingRequest,
): Promise<OutgoingAnswer> {
  const { protocol } = new URL(url);
  const send = protocol === "https:" ? requestSecure : requestPlain;
  const arrived = Promise.withResolvers<IncomingMessage>();
  // A compressed response could only be bounded after decompression.
  const sent = send(
    url,
    { method, headers: { "accept-encoding": "identity", ...headers }, lookup: guardedLookup(), signal },
    arrived.resolve,
  );
  sent.once("error", arrived.reject);
  sent.end(body);
  const response = await arrived.promise;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Leaving the loop ends the transfer.
    if (bytes > answerBytesMax)
      throw new PinakesError("LIMIT_EXCEEDED", `The answer of ${url} has more than ${answerBytesMax} bytes.`);
    chunks.push(chunk);
  }
  return { status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") };
}
