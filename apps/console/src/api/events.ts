/**
 * The global event stream; components subscribe to the events they show.
 *
 * Hidden pages close it: browsers allow six connections per server, and six background tabs would block the seventh. When a page becomes
 * visible again, events were missed, so all visible data is refetched.
 */
import { useEffect, useEffectEvent } from "react";
import { checkConnection } from "./connection.ts";

export interface ServerEvent {
  readonly id: string;
  readonly type: "document.status" | "collection.status" | "job.progress" | "job.done";
  readonly resource: {
    readonly repository_id?: string;
    readonly collection_id?: string;
    readonly document_id?: string;
    readonly job_id?: string;
  };
  readonly data: Readonly<Record<string, unknown>>;
  readonly at: string;
}

const types = ["document.status", "collection.status", "job.progress", "job.done"] as const;
const againMs = 2_000;

const listeners = new Set<(event: ServerEvent) => void>();
const missers = new Set<() => void>();
let source: EventSource | undefined;
let wanted = false;

/** Opens the stream whenever the page is visible. */
export function startEvents(): () => void {
  wanted = true;
  openEvents();
  const looked = () => {
    if (document.hidden) closeEvents();
    else if (source === undefined) {
      openEvents();
      for (const missed of missers) missed();
    }
  };
  document.addEventListener("visibilitychange", looked);
  return () => {
    wanted = false;
    document.removeEventListener("visibilitychange", looked);
    closeEvents();
  };
}

/** Called when events may have been missed. */
export function onMissed(missed: () => void): () => void {
  missers.add(missed);
  return () => missers.delete(missed);
}

function openEvents(): void {
  if (source !== undefined || !wanted || document.hidden) return;
  const opened = new EventSource("/v1/events");
  source = opened;
  for (const type of types) opened.addEventListener(type, (message) => tell(message));
  opened.addEventListener("error", () => {
    void checkConnection();
    // While connecting, the browser retries itself; a refused stream is closed permanently.
    if (opened.readyState !== EventSource.CLOSED || source !== opened) return;
    closeEvents();
    setTimeout(openEvents, againMs);
  });
}

function closeEvents(): void {
  source?.close();
  source = undefined;
}

export function onEvent(listener: (event: ServerEvent) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Calls `listener` for each event while the component is mounted. */
export function useEvents(listener: (event: ServerEvent) => void): void {
  const heard = useEffectEvent(listener);
  useEffect(() => onEvent((event) => heard(event)), []);
}

function tell(message: MessageEvent<string>): void {
  const event = JSON.parse(message.data) as ServerEvent;
  for (const listener of listeners) listener(event);
}
