/** What a handler answers: data, not yet a Response, so that etags, replays and checks can look at it. */

export interface Answer<Body = unknown> {
  readonly status: number;
  /** Sent as JSON. */
  readonly body?: Body;
  /** JSON text that was made elsewhere: sent in place of a body, as it is. */
  readonly json?: Uint8Array<ArrayBuffer>;
  /** Unquoted. A GET whose If-None-Match names it becomes a 304. */
  readonly etag?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent instead of a body, at the pace of the client; returned early when the client goes away. */
  readonly stream?: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;
  /** Of the stream, or of a body that is a text; JSON when absent. */
  readonly contentType?: string;
  /** Set-Cookie, complete; never logged, never stored. */
  readonly cookie?: string | readonly string[];
}

export interface AnswerOptions {
  readonly etag?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly cookie?: string | readonly string[] | undefined;
}

export function ok<const Body>(body: Body, options: AnswerOptions = {}): Answer<Body> {
  return { status: 200, body, ...present(options) };
}

/** With `location`: where the new resource is. */
export function created<const Body>(
  body: Body,
  { location, ...options }: AnswerOptions & { readonly location?: string } = {},
): Answer<Body> {
  return { status: 201, body, ...present(withLocation(options, location)) };
}

/** Long work has begun; the body or `location` says where to look. */
export function accepted<const Body>(
  body: Body,
  { location, ...options }: AnswerOptions & { readonly location?: string } = {},
): Answer<Body> {
  return { status: 202, body, ...present(withLocation(options, location)) };
}

export function noContent(options: AnswerOptions = {}): Answer<never> {
  return { status: 204, ...present(options) };
}

export function notModified(etag: string): Answer<never> {
  return { status: 304, etag };
}

function withLocation(options: AnswerOptions, location: string | undefined): AnswerOptions {
  return location === undefined ? options : { ...options, headers: { ...options.headers, location } };
}

function present({ etag, headers, cookie }: AnswerOptions): Pick<Answer, "etag" | "headers" | "cookie"> {
  return {
    ...(etag === undefined ? {} : { etag }),
    ...(headers === undefined ? {} : { headers }),
    ...(cookie === undefined ? {} : { cookie }),
  };
}
