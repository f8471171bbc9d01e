/**
 * Server-sent events as an async iterator. When the connection ends, it reconnects after a delay with the id of the last event, so that no
 * event is missed; it ends with the signal, or with an error that a reconnect cannot fix.
 */
import type { ProblemReason } from "../contract/errors.ts";
import { clientError, PinakesClientError } from "../errors.ts";
import { backoffMs, sleep } from "../waiting.ts";
import type { Query, Requester } from "./request.ts";

export interface ServerEvent {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

export interface FollowOptions {
  readonly query?: Query | undefined;
  /** The id of the last event seen. */
  readonly after?: string | undefined;
  readonly signal: AbortSignal;
  /** Called when the connection is open, also after it came back. */
  readonly onOpen?: (() => void) | undefined;
}

const retryMsDefault = 2_000;
const backoffMsMax = 30_000;
/** One event; the server's documents are smaller. */
const eventCharsMax = 16 * 1024 ** 2;

export async function* follow(
  requester: Requester,
  path: string,
  { query, after, signal, onOpen }: FollowOptions,
): AsyncGenerator<ServerEvent, void> {
  let lastId = after;
  let failures = 0;
  const place = { retryMs: retryMsDefault };
  while (!signal.aborted) {
    try {
      const headers = lastId === undefined ? {} : { "last-event-id": lastId };
      const response = await requester.stream(path, { query, headers, accept: "text/event-stream", signal });
      onOpen?.();
      for await (const event of eventsOf(response, place)) {
        failures = 0;
        if (event.event === "problem") throw problem(event.data);
        lastId = event.id ?? lastId;
        yield event;
      }
    } catch (error) {
      if (signal.aborted) return;
      // A connection that breaks is not a PinakesClientError: fetch's reader throws its own.
      if (PinakesClientError.isInstance(error) && !error.retryable) throw error;
      failures += 1;
    }
    await sleep(place.retryMs + backoffMs(failures, place.retryMs, backoffMsMax), signal).catch(() => {});
  }
}

export async function* eventsOf(
  response: Response,
  place = { retryMs: retryMsDefault },
): AsyncGenerator<ServerEvent, void> {
  const draft = { id: undefined as string | undefined, event: "message", data: [] as string[] };
  for await (const line of lines(response)) {
    if (line === "") {
      if (draft.data.length > 0) yield { id: draft.id, event: draft.event, data: draft.data.join("\n") };
      draft.event = "message";
      draft.data = [];
      continue;
    }
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") draft.data.push(value);
    else if (field === "event") draft.event = value;
    else if (field === "id") draft.id = value;
    else if (field === "retry" && /^\d+$/.test(value)) place.retryMs = Number(value);
  }
}

/** The lines of a streamed response; text after the last line break is not a line yet. */
export async function* lines(response: Response): AsyncGenerator<string, void> {
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (done) return;
      const parts = (rest + value).split(/\r\n|\n|\r(?!$)/);
      rest = parts.pop() as string;
      if (rest.length > eventCharsMax)
        throw new Error(`A line of the response is longer than ${eventCharsMax} characters.`);
      yield* parts;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

interface Problem {
  readonly code: string;
  readonly status: number;
  readonly detail: string;
  readonly reason?: ProblemReason;
  readonly retryable: boolean;
  readonly request_id: string;
}

export function problem(data: string): PinakesClientError {
  const { code, status, detail, reason, retryable, request_id } = JSON.parse(data) as Problem;
  return clientError({ code, status, detail, reason, retryable, requestId: request_id });
}
