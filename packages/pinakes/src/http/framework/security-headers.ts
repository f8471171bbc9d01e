/** Headers that restrict browsers, on every response; and CORS, for the configured origins. */
import type { MiddlewareHandler } from "hono";
import { invariant } from "../../domain/invariant.ts";

export interface SecurityHeadersOptions {
  /** Origins of other sites whose scripts may call the API, such as https://console.example; none by default. */
  readonly allowedOrigins?: readonly string[] | undefined;
}

const pagePolicy =
  "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
/** Only pages load resources. */
const dataPolicy = "default-src 'none'; frame-ancestors 'none'";

const always: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
};

const preflightSeconds = "600";
const allowMethods = "GET, HEAD, POST, PUT, PATCH, DELETE";
const allowHeaders =
  "authorization, api-key, content-type, if-match, if-none-match, idempotency-key, last-event-id, x-csrf-token, x-request-id, x-session-token, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name";
const exposeHeaders =
  "etag, location, retry-after, idempotency-replayed, ratelimit-limit, ratelimit-remaining, ratelimit-reset, x-request-id, x-session-token, mcp-session-id, www-authenticate";

export function securityHeaders({ allowedOrigins = [] }: SecurityHeadersOptions = {}): MiddlewareHandler {
  for (const origin of allowedOrigins) {
    invariant(
      isOrigin(origin),
      "INVALID",
      `"${origin}" is not an origin: write scheme, host and port only, such as https://console.example.`,
    );
  }
  const origins = new Set(allowedOrigins);
  return async function setSecurityHeaders(c, next) {
    const origin = c.req.header("origin");
    const allowed = origin !== undefined && origins.has(origin);
    if (allowed && c.req.method === "OPTIONS" && c.req.header("access-control-request-method") !== undefined) {
      c.res = new Response(null, {
        status: 204,
        headers: {
          "access-control-allow-methods": allowMethods,
          "access-control-allow-headers": allowHeaders,
          "access-control-max-age": preflightSeconds,
        },
      });
    } else await next();
    const { headers } = c.res;
    for (const [name, value] of Object.entries(always)) if (!headers.has(name)) headers.set(name, value);
    const page = headers.get("content-type")?.startsWith("text/html") === true;
    if (!headers.has("content-security-policy")) headers.set("content-security-policy", page ? pagePolicy : dataPolicy);
    headers.set("cross-origin-resource-policy", allowed ? "cross-origin" : "same-origin");
    if (origins.size > 0) headers.append("vary", "origin");
    if (!allowed) return;
    headers.set("access-control-allow-origin", origin);
    headers.set("access-control-expose-headers", exposeHeaders);
  };
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}
