/** State that the steps of a request share. */
import { randomUUID } from "node:crypto";
import type { Context, MiddlewareHandler } from "hono";
import type { Authenticated } from "./credentials.ts";

export interface KitEnv {
  Variables: {
    requestId: string;
    /** The template of the matched route. */
    route?: string;
    auth?: Authenticated;
    /** The error that caused the response. */
    failure?: unknown;
    /** The route's own log fields. */
    notes?: Readonly<Record<string, string>>;
    /** The credentials of the request, to be removed from logs. */
    secrets?: readonly string[];
  };
}

/** A client's own id is used if it is safe in logs and headers. */
export function requestIds(): MiddlewareHandler<KitEnv> {
  return async function setRequestId(c, next) {
    const sent = c.req.header("x-request-id");
    const id = sent !== undefined && /^[\w.-]{1,128}$/.test(sent) ? sent : randomUUID();
    c.set("requestId", id);
    await next();
    c.res.headers.set("x-request-id", id);
  };
}

/** The peer of the connection. Behind a proxy that is the proxy: pass mount a `clientAddress` that trusts its header. */
export function socketAddress(c: Context): string {
  const env = c.env as { readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } } } | undefined;
  return env?.incoming?.socket?.remoteAddress ?? "unknown";
}
