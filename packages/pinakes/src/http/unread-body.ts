/**
 * Drains the body of a request that was already rejected before the response is sent. If a server responds and closes while a browser is
 * still sending, the browser shows "network error" instead of the reason. Only bodies with a declared length, as browsers send: one of
 * unknown length could delay its response forever. A client that stops sending gets the response anyway, and Node's own request timeout
 * applies here too.
 */
import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { uploadBytesMaxDefault } from "./framework/route.ts";

export interface UnreadOptions {
  /** A body longer than any route accepts is not drained. */
  readonly droppedBytesMax?: number | undefined;
  readonly silentMsMax?: number | undefined;
}

const silentMsMaxDefault = 10_000;

type Incoming = IncomingMessage | Http2ServerRequest;
/** The property that Hono's server uses. */
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
    // If the request was not rejected, its body was read as far as needed.
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
  // The previous reader has given up, and would block this one.
  incoming.removeAllListeners("data");
  incoming.on("data", drop);
  for (const event of events) incoming.on(event, over.resolve);
  incoming.resume();
  await over.promise;
  clearTimeout(timer);
  incoming.off("data", drop);
  for (const event of events) incoming.off(event, over.resolve);
}
