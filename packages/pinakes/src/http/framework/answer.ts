/** The result of a handler: data, not yet a Response, so that etags, replays and checks can inspect it. */

export interface Answer<Body = unknown> {
  readonly status: number;
  /** Sent as JSON. */
  readonly body?: Body;
  /** JSON text produced elsewhere: sent unchanged in place of a body. */
  readonly json?: Uint8Array<ArrayBuffer>;
  /** Unquoted. A GET whose If-None-Match names it becomes a 304. */
  readonly etag?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent instead of a body, at the client's pace; its return() is called if the client disconnects. */
  readonly stream?: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;
  /** Content type of the stream, or of a text body; default JSON. */
  readonly contentType?: string;
  /** Complete Set-Cookie header; never logged, never stored. */
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

/** `location` is the URL of the new resource. */
export function created<const Body>(
  body: Body,
  { location, ...options }: AnswerOptions & { readonly location?: string } = {},
): Answer<Body> {
  return { status: 201, body, ...present(withLocation(options, location)) };
}

/** A background operation was started; the body or `location` says where to follow it. */
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
