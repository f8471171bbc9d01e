/** The HTTP client of the console. Records each call (calls.ts) and turns each failure into an error with a reason (problem.ts). */
import { beginCall } from "./calls.ts";
import { connectionLost } from "./connection.ts";
import { NotSentError, readProblem, UnreachableError } from "./problem.ts";

export type QueryValue = string | number | boolean | undefined | null;

export interface RequestOptions {
  readonly query?: Readonly<Record<string, QueryValue | readonly string[]>> | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged, with `contentType`. */
  readonly text?: string | undefined;
  readonly contentType?: string | undefined;
  readonly accept?: string | undefined;
  readonly ifMatch?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Secret bodies are not recorded. */
  readonly secret?: boolean | undefined;
}

export interface Answer<Body> {
  readonly body: Body;
  readonly status: number;
  readonly etag: string | undefined;
  readonly headers: Headers;
}

let csrfToken: string | undefined;
let onSignedOut: () => void = () => {};

/** Required by every write of a signed-in session. */
export function keepCsrfToken(token: string | undefined): void {
  csrfToken = token;
}

export function currentCsrfToken(): string | undefined {
  return csrfToken;
}

/** Called on 401. */
export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener;
}

export function toSignIn(): void {
  onSignedOut();
}

export async function request<Body>(method: string, at: string, options: RequestOptions = {}): Promise<Answer<Body>> {
  const response = await send(method, at, options);
  const text = response.status === 204 ? "" : await response.text();
  const json = response.headers.get("content-type")?.includes("json") === true;
  const body = (json && text !== "" ? JSON.parse(text) : text) as Body;
  return { body, status: response.status, etag: response.headers.get("etag") ?? undefined, headers: response.headers };
}

/** The raw response, for files and streams; throws on an error status. */
export async function send(method: string, at: string, options: RequestOptions = {}): Promise<Response> {
  const { body, text, accept, ifMatch, signal } = options;
  const sent = body === undefined ? text : JSON.stringify(body);
  const contentType = body === undefined ? options.contentType : "application/json";
  const target = withQuery(at, options.query);
  const headers: Record<string, string> = { accept: accept ?? "application/json", ...options.headers };
  if (contentType !== undefined) headers["content-type"] = contentType;
  if (ifMatch !== undefined) headers["if-match"] = ifMatch;
  if (method !== "GET" && csrfToken !== undefined) headers["x-csrf-token"] = csrfToken;
  const ended = beginCall({ method, path: target, body: options.secret === true ? undefined : sent, contentType });
  let response: Response;
  try {
    response = await fetch(target, {
      method,
      headers,
      ...(sent === undefined ? {} : { body: sent }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    ended(0);
    if (signal?.aborted === true) throw error;
    connectionLost();
    // Calls with a signal load visible data, which is refetched after a reconnect. Other calls were one-off actions.
    const Kind = signal === undefined ? NotSentError : UnreachableError;
    throw new Kind("The server does not answer.", { cause: error });
  }
  ended(response.status);
  if (response.ok || response.status === 304) return response;
  if (response.status === 401) onSignedOut();
  throw await readProblem(response);
}

export function withQuery(at: string, query: RequestOptions["query"]): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined || value === null || value === "") continue;
    for (const one of Array.isArray(value) ? value : [value]) params.append(name, String(one));
  }
  const text = params.toString();
  return text === "" ? at : `${at}?${text}`;
}

/** A path with encoded ids: path`/v1/repositories/${rid}`. */
export function path(parts: TemplateStringsArray, ...ids: readonly string[]): string {
  return parts.reduce((made, part, index) => made + encodeURIComponent(ids[index - 1] ?? "") + part);
}

export async function get<Body>(at: string, options?: RequestOptions): Promise<Body> {
  return (await request<Body>("GET", at, options)).body;
}

export async function post<Body>(at: string, body?: unknown, options?: RequestOptions): Promise<Body> {
  return (await request<Body>("POST", at, { ...options, body })).body;
}
