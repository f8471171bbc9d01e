/** Server-sent events of one thing on the page. The browser comes back by itself after a break and goes on behind the last event. */
import { useEffect, useEffectEvent, useState } from "react";
import { beginCall } from "./calls.ts";
import { onHealed } from "./connection.ts";

export type StreamState = "connecting" | "open" | "closed";

interface StreamOptions<Event> {
  readonly at: string;
  /** The names of its events. */
  readonly types: readonly string[];
  readonly onEvent: (event: Event) => void;
}

export function useStream<Event>({ at, types, onEvent }: StreamOptions<Event>): StreamState {
  const [state, setState] = useState<StreamState>("connecting");
  const heard = useEffectEvent(onEvent);
  const names = types.join(" ");
  const [opening, setOpening] = useState(0);
  // The browser gives up on a stream that was refused, as by a server that is just starting.
  const openAgain = useEffectEvent(() => {
    if (state === "closed") setOpening((count) => count + 1);
  });
  useEffect(() => onHealed(() => openAgain()), []);
  useEffect(() => {
    setState("connecting");
    const ended = beginCall({ method: "GET", path: at, body: undefined, contentType: undefined });
    const source = new EventSource(at);
    source.addEventListener("open", () => {
      ended(200);
      setState("open");
    });
    source.addEventListener("error", () => {
      if (source.readyState !== EventSource.CLOSED) return setState("connecting");
      ended(0);
      setState("closed");
    });
    for (const name of names.split(" ")) source.addEventListener(name, (message) => heard(JSON.parse(message.data as string) as Event));
    return () => source.close();
  }, [at, names, opening]);
  return state;
}
