/**
 * One line of JSON per request: the route pattern (never the path or the query, which may contain names), the status, the duration and the
 * caller. Never bodies, tokens or cookies: only the fields below are written, and the credentials of a request are removed from the errors
 * it causes.
 */
import { performance } from "node:perf_hooks";
import type { MiddlewareHandler } from "hono";
import { routePath } from "hono/route";
import { pino, stdTimeFunctions, type Logger } from "pino";
import { PinakesError } from "../../domain/errors.ts";
import type { KitEnv } from "./context.ts";

export type { Logger };

export interface LoggerOptions {
  readonly level?: "debug" | "info" | "warn" | "error" | "silent" | undefined;
  /** Default: standard output. */
  readonly destination?: { write(line: string): void } | undefined;
}

const secretNames = [
  "authorization",
  "cookie",
  "set-cookie",
  "token",
  "key",
  "password",
  "secret",
  "bearer",
  "sessionCookie",
  "csrf",
  "body",
];
const censor = "[redacted]";
/** Polled every few seconds by monitoring; not worth a line each. */
const quietRoutes = new Set(["/healthz", "/readyz", "/metrics"]);
const causesMax = 5;

export function createLogger({ level = "info", destination }: LoggerOptions = {}): Logger {
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    // For other code that uses the same logger: properties with these names are secrets at any depth.
    redact: { paths: secretNames.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`]), censor },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

export function logRequests(log: Logger): MiddlewareHandler<KitEnv> {
  return async function logRequest(c, next) {
    const began = performance.now();
    await next();
    const { status } = c.res;
    const route = c.get("route") ?? routePath(c, -1);
    const auth = c.get("auth");
    const line = {
      method: c.req.method,
      route,
      status,
      ms: Math.round((performance.now() - began) * 10) / 10,
      request_id: c.get("requestId"),
      ...(auth === undefined ? {} : { workspace: auth.caller.scope.tenant, user: auth.caller.userId }),
      ...c.get("notes"),
    };
    const failure = c.get("failure") ?? c.error;
    if (status >= 500) log.error({ ...line, error: describeError(failure, c.get("secrets") ?? []) }, "request failed");
    else if (quietRoutes.has(route)) log.debug(line, "request");
    else log.info(line, "request");
  };
}

interface DescribedError {
  readonly name: string;
  readonly code?: string;
  readonly message: string;
  readonly stack?: string;
  readonly cause?: DescribedError;
}

/** An error with its causes, without the credentials of the request. */
export function describeError(error: unknown, secrets: readonly string[], depth = 0): DescribedError {
  if (!(error instanceof Error)) return { name: "unknown", message: scrub(String(error), secrets) };
  const { cause } = error;
  return {
    name: error.name,
    ...(PinakesError.isInstance(error) ? { code: error.code } : {}),
    message: scrub(error.message, secrets),
    ...(error.stack === undefined ? {} : { stack: scrub(error.stack, secrets) }),
    ...(cause === undefined || depth >= causesMax ? {} : { cause: describeError(cause, secrets, depth + 1) }),
  };
}

function scrub(text: string, secrets: readonly string[]): string {
  let clean = text.replaceAll(/\b(bearer|basic)\s+[\w.~+/=-]+/gi, `$1 ${censor}`);
  for (const secret of secrets) if (secret !== "") clean = clean.replaceAll(secret, censor);
  return clean;
}
