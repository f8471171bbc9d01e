/**
 * Protection against DNS rebinding: a page of another site must not reach a server on this machine through the user's browser. A request
 * over loopback must name a loopback host, and a request from a page must come from the server's own origin or an allowed one.
 */
import { localhostAllowedHostnames, validateHostHeader, validateOriginHeader } from "@modelcontextprotocol/server";
import { rpcCodes, rpcError } from "./json-rpc.ts";

export interface GuardOptions {
  /** The peer is this machine, and no proxy forwarded the request. */
  readonly fromLoopback: boolean;
  readonly allowedOrigins: readonly string[];
  readonly publicUrl: string | undefined;
}

export function refuseForeignPage(
  request: Request,
  { fromLoopback, allowedOrigins, publicUrl }: GuardOptions,
): Response | undefined {
  const known = [...allowedOrigins, ...(publicUrl === undefined ? [] : [publicUrl])].map(
    (url) => new URL(url).hostname,
  );
  const host = request.headers.get("host") ?? new URL(request.url).host;
  if (fromLoopback && !validateHostHeader(host, [...localhostAllowedHostnames(), ...known]).ok)
    return rpcError(403, rpcCodes.refused, `Host "${host}" is not this server. Set PINAKES_PUBLIC_URL to its address.`);
  const origin = request.headers.get("origin");
  const own = fromLoopback ? localhostAllowedHostnames() : [URL.parse(`http://${host}`)?.hostname ?? ""];
  if (validateOriginHeader(origin, [...own, ...known]).ok) return undefined;
  return rpcError(403, rpcCodes.refused, `Origin "${origin}" is not allowed. Add it to PINAKES_ALLOWED_ORIGINS.`);
}
