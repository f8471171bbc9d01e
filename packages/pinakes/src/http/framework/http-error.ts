/**
 * An error whose HTTP response contains more than its code: a more specific status (405, 415, 422), headers, and additional fields of the
 * problem. Only the HTTP layer creates these; features throw plain PinakesErrors.
 */
import { PinakesError, type ErrorCode, type PinakesErrorOptions } from "../../domain/errors.ts";
import { toPinakesError, toProblem } from "../problem.ts";
import { quoteEtag } from "./etag.ts";

export interface HttpErrorOptions extends PinakesErrorOptions {
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Additional fields of the problem. */
  readonly more?: Readonly<Record<string, unknown>> | undefined;
}

export class HttpError extends PinakesError {
  override readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly more: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, detail: string, { status, headers = {}, more = {}, ...options }: HttpErrorOptions = {}) {
    super(code, detail, options);
    this.status = status ?? new PinakesError(code, detail).status;
    this.headers = headers;
    this.more = more;
  }
}

/**
 * The response for an error, problem+json unless its route has its own format, as data, so that it can also be stored for a repeated
 * request.
 */
export interface ProblemAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

export function toProblemAnswer(
  error: unknown,
  requestId: string,
  ownBody?: (error: PinakesError) => object,
): ProblemAnswer {
  const known = toPinakesError(error, requestId);
  const { currentEtag, reason } = known.context;
  const { field } = known;
  const own = known instanceof HttpError ? known : undefined;
  return {
    status: known.status,
    headers: {
      "content-type": ownBody === undefined ? "application/problem+json" : "application/json",
      "cache-control": "no-store",
      ...(known.status === 401 ? { "www-authenticate": 'Bearer realm="pinakes"' } : {}),
      ...(currentEtag === undefined ? {} : { etag: quoteEtag(currentEtag) }),
      ...retryAfterOf(known),
      ...own?.headers,
    },
    body: (ownBody?.(known) as ProblemAnswer["body"] | undefined) ?? {
      ...toProblem(known, requestId),
      ...(currentEtag === undefined ? {} : { current_etag: currentEtag }),
      ...(reason === undefined ? {} : { reason }),
      ...(field === undefined ? {} : { field }),
      ...own?.more,
    },
  };
}

/** Errors that specify when to retry. */
function retryAfterOf(error: PinakesError): Readonly<Record<string, string>> {
  const ms = "retryAfterMs" in error ? error.retryAfterMs : undefined;
  return typeof ms === "number" ? { "retry-after": String(Math.max(1, Math.ceil(ms / 1_000))) } : {};
}

export function problemResponse({ status, headers, body }: ProblemAnswer): Response {
  return new Response(JSON.stringify(body), { status, headers });
}
