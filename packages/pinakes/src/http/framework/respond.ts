/** Converts an Answer to a Response: JSON, etags and 304, streams at the client's pace. */
import { toBytesStream } from "./body/byte-stream.ts";
import type { Answer } from "./answer.ts";
import { isUnchanged, quoteEtag } from "./etag.ts";

export interface RespondOptions {
  readonly request: Request;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** A stream that fails after the response has started can only be aborted; this receives the error. */
  readonly onStreamError: (error: unknown) => void;
}

export async function toResponse(
  answer: Answer,
  { request, headers: more = {}, onStreamError }: RespondOptions,
): Promise<Response> {
  const { status, etag, stream } = answer;
  const read = request.method === "GET" || request.method === "HEAD";
  const unchanged =
    read && status === 200 && etag !== undefined && isUnchanged(request.headers.get("if-none-match"), etag);
  const headers = headersOf(answer, more);
  if (unchanged || status === 304 || status === 204 || request.method === "HEAD") {
    if (stream !== undefined) await toBytesStream(stream, onStreamError).cancel();
    if (request.method !== "HEAD" || unchanged) headers.delete("content-type");
    return new Response(null, { status: unchanged ? 304 : status, headers });
  }
  if (stream !== undefined) return new Response(toBytesStream(stream, onStreamError), { status, headers });
  return new Response(answer.json ?? bodyText(answer), { status, headers });
}

/** The serialised body; null if there is none. */
export function bodyText({ body, contentType }: Answer): string | null {
  if (body === undefined) return null;
  return typeof body === "string" && contentType !== undefined && !contentType.includes("json")
    ? body
    : JSON.stringify(body);
}

function headersOf(
  { etag, stream, body, json, contentType, headers: own, cookie = [] }: Answer,
  more: Readonly<Record<string, string>>,
): Headers {
  const headers = new Headers({
    // Responses belong to one caller: shared caches store nothing, and private ones must revalidate.
    "cache-control": etag === undefined ? "no-store" : "private, no-cache",
    ...(etag === undefined ? {} : { etag: quoteEtag(etag) }),
    ...(stream === undefined && body === undefined && json === undefined
      ? {}
      : { "content-type": contentType ?? (stream === undefined ? "application/json" : "application/octet-stream") }),
    ...more,
    ...own,
  });
  for (const value of typeof cookie === "string" ? [cookie] : cookie) headers.append("set-cookie", value);
  return headers;
}
