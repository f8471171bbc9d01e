/**
 * Server-sent events of one resource. The browser reconnects and resumes after the last event.
 *
 * As with the global stream (events.ts), hidden pages have no stream. A reopened stream resumes after the last event if the endpoint takes
 * its id as a parameter; otherwise `onMissed` is called.
 */
import { useEffect, useEffectEvent, useState } from "react";
import { beginCall } from "./calls.ts";
import { onHealed } from "./connection.ts";

export type StreamState = "connecting" | "open" | "closed";

interface StreamOptions<Event> {
  readonly at: string;
  /** Event types. */
  readonly types: readonly string[];
  readonly onEvent: (event: Event) => void;
  /** The query parameter for the id of the last event. */
  readonly cursor?: string | undefined;
  /** It was closed for some time, and events were missed. */
  readonly onMissed?: () => void;
}

/** Browsers stop reconnecting after an error status, such as during a server start. A deleted resource keeps failing. */
const againFirstMs = 2_000;
const againMostMs = 60_000;

export function useStream<Event>({ at, types, onEvent, cursor, onMissed }: StreamOptions<Event>): StreamState {
  const [state, setState] = useState<StreamState>("connecting");
  const heard = useEffectEvent(onEvent);
  const missed = useEffectEvent(() => onMissed?.());
  const names = types.join(" ");
  useEffect(() => {
    let stream: OpenStream | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let lastId = "";
    let opened = false;
    let againMs = againFirstMs;
    const close = () => {
      clearTimeout(timer);
      stream?.close();
      stream = undefined;
    };
    const open = () => {
      clearTimeout(timer);
      if (stream !== undefined || document.hidden) return;
      setState("connecting");
      stream = openStream(addressOf(at, cursor, lastId), names.split(" "), {
        opened: () => {
          if (opened && lastId === "") missed();
          opened = true;
          againMs = againFirstMs;
          setState("open");
        },
        broken: () => setState("connecting"),
        refused: () => {
          close();
          // The server may no longer know that position.
          lastId = "";
          setState("closed");
          timer = setTimeout(open, againMs);
          againMs = Math.min(againMs * 2, againMostMs);
        },
        heard: (message) => {
          if (cursor !== undefined && message.lastEventId !== "") lastId = message.lastEventId;
          heard(JSON.parse(message.data) as Event);
        },
      });
    };
    const looked = () => (document.hidden ? close() : open());
    open();
    document.addEventListener("visibilitychange", looked);
    const notHealed = onHealed(open);
    return () => {
      notHealed();
      document.removeEventListener("visibilitychange", looked);
      close();
    };
  }, [at, cursor, names]);
  return state;
}

interface OpenStream {
  close(): void;
}

interface StreamListener {
  readonly opened: () => void;
  /** The browser is reconnecting. */
  readonly broken: () => void;
  readonly refused: () => void;
  readonly heard: (message: MessageEvent<string>) => void;
}

function openStream(at: string, names: readonly string[], listener: StreamListener): OpenStream {
  const ended = beginCall({ method: "GET", path: at, body: undefined, contentType: undefined });
  const source = new EventSource(at);
  let answered = false;
  const answer = (status: number) => {
    if (!answered) ended(status);
    answered = true;
  };
  source.addEventListener("open", () => {
    answer(200);
    listener.opened();
  });
  source.addEventListener("error", () => {
    if (source.readyState !== EventSource.CLOSED) return listener.broken();
    answer(0);
    listener.refused();
  });
  for (const name of names) source.addEventListener(name, listener.heard);
  return {
    close: () => {
      source.close();
      // A stream closed before its response must not stay pending.
      answer(0);
    },
  };
}

function addressOf(at: string, cursor: string | undefined, lastId: string): string {
  if (cursor === undefined || lastId === "") return at;
  return `${at}${at.includes("?") ? "&" : "?"}${cursor}=${encodeURIComponent(lastId)}`;
}
