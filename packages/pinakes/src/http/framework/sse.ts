/**
 * Server-sent events. Comments keep the connection alive; the stream ends when its source ends, when the client disconnects or when the
 * server starts to close (clients then reconnect automatically, with Last-Event-ID).
 */
import type { Answer } from "./answer.ts";
import { toProblemAnswer } from "./http-error.ts";
import type { RouteRequest } from "./route.ts";
import { invalid } from "../../domain/errors.ts";

export interface ServerEvent {
  /** What a client sends as Last-Event-ID when it reconnects. */
  readonly id?: string;
  readonly event?: string;
  /** Sent as JSON. */
  readonly data?: unknown;
  /** Sent unchanged in place of `data`: one line. */
  readonly text?: string;
}

export interface SseOptions {
  readonly heartbeatMs?: number | undefined;
  /** Reconnection delay of the client. */
  readonly retryMs?: number | undefined;
}

/** Produces the events after `lastEventId` until `signal` is aborted. */
export type EventSource = (lastEventId: string | undefined, signal: AbortSignal) => AsyncIterable<ServerEvent>;

const heartbeatMsDefault = 15_000;
const retryMsDefault = 2_000;
const lastEventIdCharsMax = 4_096;

type SseRequest = Pick<RouteRequest, "signal" | "closing" | "header" | "requestId">;

export function sse(request: SseRequest, source: EventSource, options: SseOptions = {}): Answer<never> {
  const { heartbeatMs = heartbeatMsDefault, retryMs = retryMsDefault } = options;
  const lastEventId = request.header("last-event-id");
  if (lastEventId !== undefined && lastEventId.length > lastEventIdCharsMax)
    throw invalid(`Last-Event-ID: longer than ${lastEventIdCharsMax} characters.`);
  const cancelled = new AbortController();
  const signal = AbortSignal.any([request.signal, request.closing, cancelled.signal]);
  const frames = makeFrames({
    source,
    lastEventId: lastEventId === "" ? undefined : lastEventId,
    signal,
    heartbeatMs,
    retryMs,
    requestId: request.requestId,
  });
  const encoder = new TextEncoder();
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await frames.next();
        if (done === true) controller.close();
        else controller.enqueue(encoder.encode(value));
      },
      cancel: () => cancelled.abort(),
    },
    { highWaterMark: 0 },
  );
  return {
    status: 200,
    stream,
    contentType: "text/event-stream",
    headers: { "cache-control": "no-store", "x-accel-buffering": "no" },
  };
}

export function formatEvent({ id, event, data, text }: ServerEvent): string {
  const lines = [
    ...(id === undefined ? [] : [`id: ${oneLine(id)}`]),
    ...(event === undefined ? [] : [`event: ${oneLine(event)}`]),
    // Serialised JSON contains no line breaks, so one line suffices.
    `data: ${text === undefined ? (JSON.stringify(data) ?? "null") : oneLine(text)}`,
  ];
  return `${lines.join("\n")}\n\n`;
}

interface FrameOptions {
  readonly source: EventSource;
  readonly lastEventId: string | undefined;
  readonly signal: AbortSignal;
  readonly heartbeatMs: number;
  readonly retryMs: number;
  readonly requestId: string;
}

async function* makeFrames({
  source,
  lastEventId,
  signal,
  heartbeatMs,
  retryMs,
  requestId,
}: FrameOptions): AsyncGenerator<string, void> {
  // Sent at once, so that the client knows it is connected.
  yield `retry: ${retryMs}\n\n`;
  const iterator = source(lastEventId, signal)[Symbol.asyncIterator]();
  let next: Promise<IteratorResult<ServerEvent>> | undefined;
  try {
    while (!signal.aborted) {
      next ??= iterator.next();
      const result = await soonest(next, signal, heartbeatMs);
      if (result === "stopped") return;
      if (result === "beat") {
        yield ": still here\n\n";
        continue;
      }
      next = undefined;
      if (result.done === true) return;
      yield formatEvent(result.value);
    }
  } catch (error) {
    // The status has already been sent; an event reports the error.
    if (!signal.aborted) yield formatEvent({ event: "problem", data: toProblemAnswer(error, requestId).body });
  } finally {
    // Not awaited: the signal ends a source that is still waiting for its next event.
    next?.catch(() => {});
    void Promise.resolve(iterator.return?.()).catch(() => {});
  }
}

async function soonest<T>(next: Promise<T>, signal: AbortSignal, heartbeatMs: number): Promise<T | "beat" | "stopped"> {
  const other = Promise.withResolvers<"beat" | "stopped">();
  const timer = setTimeout(() => other.resolve("beat"), heartbeatMs);
  const stop = (): void => other.resolve("stopped");
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([next, other.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

function oneLine(text: string): string {
  return text.replaceAll(/[\r\n\0]/g, " ");
}
