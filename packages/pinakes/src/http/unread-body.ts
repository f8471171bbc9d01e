/**
 * What a client still sends when its request was refused already: it is read and dropped before the answer goes out. A server that answers
 * and closes meanwhile breaks the connection of a browser that still sends, which then shows "network error" instead of the reason.
 *
 * Only bodies that say how long they are, as those of browsers do: one without an end would keep its answer for ever. Who sends nothing for
 * a while is answered all the same, and Node's own limit on the time of a request holds here too.
 */
import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { uploadBytesMaxDefault } from "./framework/route.ts";

export interface UnreadOptions {
  /** A longer body than any route takes is not waited for. */
  readonly droppedBytesMax?: number | undefined;
  readonly silentMsMax?: number | undefined;
}

const silentMsMaxDefault = 10_000;

type Incoming = IncomingMessage | Http2ServerRequest;
/** As the server of Hono calls it. */
type Fetch<Bindings extends { readonly incoming: Incoming }> = (
  request: Request,
  bindings: Bindings,
) => Response | Promise<Response>;

export function answeringLast<Bindings extends { readonly incoming: Incoming }>(
  fetch: Fetch<Bindings>,
  { droppedBytesMax = uploadBytesMaxDefault, silentMsMax = silentMsMaxDefault }: UnreadOptions = {},
): Fetch<Bindings> {
  const isAwaited = ({ complete, destroyed, headers }: Incoming): boolean => {
    const length = headers["content-length"];
    return !complete && !destroyed && length !== undefined && Number(length) <= droppedBytesMax;
  };
  const answered = async (answer: Response | Promise<Response>, incoming: Incoming): Promise<Response> => {
    const response = await answer;
    // What was not refused was read as far as it is wanted.
    if (response.status >= 400 && isAwaited(incoming)) await dropRest(incoming, silentMsMax);
    return response;
  };
  return (request, bindings) => {
    const answer = fetch(request, bindings);
    return isAwaited(bindings.incoming) ? answered(answer, bindings.incoming) : answer;
  };
}

async function dropRest(incoming: Incoming, silentMsMax: number): Promise<void> {
  const over = Promise.withResolvers<void>();
  const silent = (): NodeJS.Timeout => setTimeout(over.resolve, silentMsMax);
  let timer = silent();
  const drop = (): void => {
    clearTimeout(timer);
    timer = silent();
  };
  const events = ["end", "close", "error"] as const;
  // Who read it before has given up, and would only hold it back.
  incoming.removeAllListeners("data");
  incoming.on("data", drop);
  for (const event of events) incoming.on(event, over.resolve);
  incoming.resume();
  await over.promise;
  clearTimeout(timer);
  incoming.off("data", drop);
  for (const event of events) incoming.off(event, over.resolve);
}
