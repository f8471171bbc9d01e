/** What the steps of a request leave for each other. */
import { randomUUID } from "node:crypto";
import type { Context, MiddlewareHandler } from "hono";
import type { Authenticated } from "./credentials.ts";

export interface KitEnv {
  Variables: {
    requestId: string;
    /** The template of the route, once one was found. */
    route?: string;
    auth?: Authenticated;
    /** The error behind the answer. */
    failure?: unknown;
    /** Of the route's own, for the log. */
    notes?: Readonly<Record<string, string>>;
    /** The credentials of the request, to keep them out of logs. */
    secrets?: readonly string[];
  };
}

/** A client's own id is kept when it cannot break a log or a header. */
export function requestIds(): MiddlewareHandler<KitEnv> {
  return async function setRequestId(c, next) {
    const sent = c.req.header("x-request-id");
    const id = sent !== undefined && /^[\w.-]{1,128}$/.test(sent) ? sent : randomUUID();
    c.set("requestId", id);
    await next();
    c.res.headers.set("x-request-id", id);
  };
}

/** The other end of the connection. Behind a proxy that is the proxy: give mount a `clientAddress` that trusts its header. */
export function socketAddress(c: Context): string {
  const env = c.env as { readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } } } | undefined;
  return env?.incoming?.socket?.remoteAddress ?? "unknown";
}
