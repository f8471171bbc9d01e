/**
 * One request to a server: JSON in both directions, problem+json as typed errors, retries if safe.
 *
 * A request is retried after 429, 503, 502, 504, a response marked `retryable`, a timeout or a broken connection, but only if it is
 * idempotent: it only reads, is conditional on an etag, has an idempotency key, or its route is declared idempotent.
 */
import type { ProblemReason } from "../contract/errors.ts";
import type { JsonObject } from "../json.ts";
import { clientError, PinakesClientError, type BatchFailure } from "../errors.ts";
import { retryPauseMs, sleep } from "../waiting.ts";
import { SessionTokens } from "./session-tokens.ts";

export interface HttpOptions {
  /** `http://127.0.0.1:7430` */
  readonly url: string;
  /** An API key or a token of an identity provider; a function is called before each request. */
  readonly apiKey?: string | (() => string | Promise<string>) | undefined;
  /** Instead of the global one. */
  readonly fetch?: typeof fetch | undefined;
  /** Maximum number of retries of a safe request. Default 4. */
  readonly retries?: number | undefined;
  /** Time limit of one attempt. Default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Aborts all requests in progress and rejects further ones. */
  readonly signal?: AbortSignal | undefined;
}

/** A list is sent as its name repeated. */
export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
export interface RequestOptions {
  readonly query?: Query | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged, with its type. */
  readonly text?: { readonly type: string; readonly content: string | Blob | ReadableStream<Uint8Array> } | undefined;
  readonly ifMatch?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  /** A POST or PUT that may be sent twice all the same. */
  readonly repeatable?: boolean | undefined;
  readonly accept?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Absent for endless responses. */
  readonly timeoutMs?: number | undefined;
}
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

const retriesDefault = 4;
const timeoutMsDefault = 30_000;
/** If the server asks for a longer delay, the client does not wait. */
const retryAfterMsMax = 60_000;

export class Requester {
  readonly #options: HttpOptions;
  readonly #base: string;
  readonly #sessions = new SessionTokens();

  constructor(options: HttpOptions) {
    this.#options = options;
    this.#base = baseOf(options.url);
  }

  /** The JSON of the response; undefined if it has no body. */
  async json<Result>(method: Method, at: string, options: RequestOptions = {}): Promise<Result> {
    const timeoutMs = this.#options.timeoutMs ?? timeoutMsDefault;
    const text = await this.#send(method, at, { timeoutMs, ...options }, (response) => response.text());
    return (text === "" ? undefined : JSON.parse(text)) as Result;
  }

  /** The text of the response with its type, if the server offers several. */
  async typed(
    method: Method,
    at: string,
    options: RequestOptions = {},
  ): Promise<{ readonly type: string; readonly text: string }> {
    const timeoutMs = this.#options.timeoutMs ?? timeoutMsDefault;
    return this.#send(method, at, { timeoutMs, ...options }, async (response) => ({
      type: response.headers.get("content-type") ?? "",
      text: await response.text(),
    }));
  }

  /** The streamed response, after a successful status. The reader handles later errors. */
  async stream(at: string, options: RequestOptions = {}, method: Method = "GET"): Promise<Response> {
    return this.#send(method, at, options, (response) => Promise.resolve(response));
  }

  async #send<Result>(
    method: Method,
    at: string,
    options: RequestOptions,
    read: (response: Response) => Promise<Result>,
  ): Promise<Result> {
    const { retries = retriesDefault } = this.#options;
    const safe =
      method === "GET" ||
      options.ifMatch !== undefined ||
      options.idempotencyKey !== undefined ||
      options.repeatable === true;
    let outcomeUnknown = false;
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#once(method, at, options, read);
      } catch (failure) {
        if (!PinakesClientError.isInstance(failure)) throw failure;
        if (outcomeUnknown && failure.code === "PRECONDITION_FAILED") throw unknownOutcome(failure);
        if (!safe || attempt >= retries || !failure.retryable) throw failure;
        outcomeUnknown ||= failure.status === 0 || failure.status >= 500;
        const asked = failure.retryAfterMs;
        if (asked !== undefined && asked > retryAfterMsMax) throw failure;
        await sleep(retryPauseMs(attempt, asked), this.#signal(options));
      }
    }
  }

  #signal(options: RequestOptions): AbortSignal | undefined {
    const signals = [this.#options.signal, options.signal].filter((signal) => signal !== undefined);
    return signals.length === 0 ? undefined : AbortSignal.any(signals);
  }

  async #once<Result>(
    method: Method,
    at: string,
    options: RequestOptions,
    read: (response: Response) => Promise<Result>,
  ): Promise<Result> {
    const stop = this.#signal(options);
    stop?.throwIfAborted();
    const timeout = options.timeoutMs === undefined ? undefined : AbortSignal.timeout(options.timeoutMs);
    const signals = [stop, timeout].filter((signal) => signal !== undefined);
    const headers = await this.#headers(options);
    const content = options.text?.content ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    try {
      const response = await (this.#options.fetch ?? fetch)(this.#base + at + queryOf(options.query), {
        method,
        headers,
        // The key and the content are for this server, and for none that it names.
        redirect: "error",
        ...(content === undefined ? {} : { body: content }),
        // Node and browsers require this property for a stream body; the types of fetch do not know it.
        ...(content instanceof ReadableStream ? ({ duplex: "half" } as object) : {}),
        ...(signals.length === 0 ? {} : { signal: AbortSignal.any(signals) }),
      });
      this.#sessions.keep(response.headers);
      if (!response.ok) throw await problemOf(response);
      return await read(response);
    } catch (error) {
      if (PinakesClientError.isInstance(error)) throw error;
      stop?.throwIfAborted();
      throw noAnswer(this.#base, timeout?.aborted === true ? options.timeoutMs : undefined, error);
    }
  }

  async #headers(options: RequestOptions): Promise<Record<string, string>> {
    const { apiKey } = this.#options;
    const key = typeof apiKey === "function" ? await apiKey() : apiKey;
    const type = options.text?.type ?? (options.body === undefined ? undefined : "application/json");
    return {
      accept: options.accept ?? "application/json",
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(type === undefined ? {} : { "content-type": type }),
      ...(options.ifMatch === undefined ? {} : { "if-match": `"${options.ifMatch}"` }),
      ...(options.idempotencyKey === undefined ? {} : { "idempotency-key": options.idempotencyKey }),
      ...this.#sessions.header(),
      ...options.headers,
    };
  }
}

/** The parts of a path, each escaped. */
export function path(parts: TemplateStringsArray, ...values: readonly (string | number)[]): string {
  return parts.reduce((text, part, i) => text + encodeURIComponent(String(values[i - 1])) + part);
}

function queryOf(query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) search.append(name, String(one));
  return search.size === 0 ? "" : `?${search.toString()}`;
}

async function problemOf(response: Response): Promise<PinakesClientError> {
  const text = await response.text();
  const problem = parse(text);
  const said = (name: string): string | undefined => (typeof problem[name] === "string" ? problem[name] : undefined);
  const { status } = response;
  return clientError({
    code: said("code") ?? codeOf(status),
    status,
    detail: said("detail") ?? `The server responded with ${status}${text === "" ? "" : `: ${text.slice(0, 200)}`}`,
    retryable: typeof problem["retryable"] === "boolean" ? problem["retryable"] : [429, 502, 503, 504].includes(status),
    requestId: said("request_id") ?? response.headers.get("x-request-id") ?? undefined,
    reason: said("reason") as ProblemReason | undefined,
    currentEtag: said("current_etag"),
    retryAfterMs: retryAfter(response.headers.get("retry-after")),
    batch: problem["batch"] as BatchFailure | undefined,
  });
}

function parse(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as JsonObject) : {};
  } catch {
    return {}; // A proxy's page, not the server's response; its text is in the detail.
  }
}

function codeOf(status: number): string {
  const codes: Readonly<Record<number, string>> = {
    400: "INVALID",
    401: "UNAUTHENTICATED",
    403: "FORBIDDEN",
    404: "NOT_FOUND",
    409: "CONFLICT",
    410: "GONE",
    412: "PRECONDITION_FAILED",
    413: "LIMIT_EXCEEDED",
    429: "THROTTLED",
    501: "NOT_SUPPORTED",
  };
  return codes[status] ?? (status === 502 || status === 503 || status === 504 ? "UNAVAILABLE" : "INTERNAL");
}

/** Seconds or a date. */
function retryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

/** The base address without the path prefix. An invalid address is reported at once, not after all retries. */
function baseOf(url: unknown): string {
  const wrong = typeof url !== "string" || !/^https?:\/\/[^/]/i.test(url);
  if (wrong) {
    const got = url === undefined ? "nothing" : JSON.stringify(url);
    const detail = `url: must be the address of the server with http:// or https://, such as http://127.0.0.1:7430; got ${got}.`;
    throw clientError({ code: "INVALID", status: 0, detail });
  }
  return url.replace(/\/+$/, "").replace(/\/v1$/, "");
}

function noAnswer(base: string, timeoutMs: number | undefined, cause: unknown): PinakesClientError {
  const why =
    timeoutMs === undefined ? `could not be reached: ${reasonOf(cause)}` : `did not respond within ${timeoutMs} ms`;
  return clientError({
    code: "UNAVAILABLE",
    status: 0,
    detail: `${base} ${why}. Check the address, and that the server runs.`,
    retryable: true,
    cause,
  });
}

/** fetch only reports that it failed; the reason is in its cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown };
  const name = typeof code === "string" ? code : "";
  // Two error codes for a peer that does not speak TLS.
  if (/SSL|EPROTO/.test(name)) return "it does not speak https there; use http://";
  const text = typeof message === "string" && message !== "" ? message : String(cause);
  return name === "" || text.includes(name) ? text : `${name} ${text}`;
}

/** A conditional write whose first attempt may itself have changed the etag. */
function unknownOutcome(cause: PinakesClientError): PinakesClientError {
  const detail =
    "The connection broke while the change was being sent, and the document has changed since: by this call or by another. Read it and decide whether to repeat the change.";
  return clientError({
    code: "UNKNOWN_OUTCOME",
    status: 412,
    detail,
    retryable: false,
    requestId: cause.requestId,
    cause,
  });
}
