/**
 * Mounts declared routes on a Hono app. Every request gets an id, security headers and a log line, whatever its outcome; the rest happens
 * per route (pipeline.ts). A known path with an unsupported method is a 405 that lists the supported ones.
 */
import type { Context, Hono } from "hono";
import { PinakesError } from "../../domain/errors.ts";
import { invariant } from "../../domain/invariant.ts";
import type { Answer } from "./answer.ts";
import type { AuditRecorder } from "./audit.ts";
import { requestIds, socketAddress, type KitEnv } from "./context.ts";
import { sessionCookieNameDefault, type Authenticate } from "./credentials.ts";
import type { EventStreams } from "./event-streams.ts";
import { HttpError, problemResponse, toProblemAnswer } from "./http-error.ts";
import type { IdempotencyStore } from "./idempotency.ts";
import { createLogger, logRequests, type Logger } from "./log.ts";
import { comparePaths, honoPattern } from "./path-template.ts";
import { answerRequest, type Kit } from "./pipeline.ts";
import type { RateLimiter } from "./rate-limit.ts";
import type { Route } from "./route.ts";
import { securityHeaders } from "./security-headers.ts";

export interface MountOptions {
  readonly authenticate: Authenticate;
  /** Default: no logging. */
  readonly log?: Logger | undefined;
  /** Default: no rate limits. */
  readonly limiter?: RateLimiter | undefined;
  /** Limit of open event streams; default: none. */
  readonly streams?: EventStreams | undefined;
  /** Required if any route is declared `idempotent`. */
  readonly idempotency?: IdempotencyStore | undefined;
  /** Aborted when the server starts to close. */
  readonly closing?: AbortSignal | undefined;
  readonly allowedOrigins?: readonly string[] | undefined;
  readonly sessionCookieName?: string | undefined;
  /** The client's address; behind a proxy, from the header that it sets. */
  readonly clientAddress?: (c: Context) => string;
  /** If absent, calls are not recorded. */
  readonly audit?: AuditRecorder | undefined;
  /** Wraps every handler, inside the replay of responses. */
  readonly around?: ((run: () => Promise<Answer>) => Promise<Answer>) | undefined;
  /** Validates each response against the route's declaration; for tests. */
  readonly checkAnswers?: boolean | undefined;
  /** First path segments of facades, such as `/openai/v1`, with their error format for unknown paths. */
  readonly facades?:
    | readonly {
        readonly prefix: string;
        readonly errorBody: NonNullable<Route["errorBody"]>;
        /** Says that there is no such route, in the words of the facade. */
        readonly notFound?: (place: string) => string;
      }[]
    | undefined;
}

/** Called before the app's own routes, so that these steps come first for all of them. */
export function mount(app: Hono<KitEnv>, routes: readonly Route[], options: MountOptions): void {
  const kit: Kit = {
    authenticate: options.authenticate,
    log: options.log ?? createLogger({ level: "silent" }),
    limiter: options.limiter,
    streams: options.streams,
    idempotency: options.idempotency,
    closing: options.closing ?? new AbortController().signal,
    sessionCookieName: options.sessionCookieName ?? sessionCookieNameDefault,
    clientAddress: options.clientAddress ?? socketAddress,
    checkAnswers: options.checkAnswers ?? false,
    around: options.around,
    audit: options.audit,
  };
  checkRoutes(routes, kit);
  app.use(requestIds());
  app.use(securityHeaders({ allowedOrigins: options.allowedOrigins ?? [] }));
  app.use(logRequests(kit.log));
  app.onError((error, c) => {
    c.set("failure", error);
    return problemResponse(toProblemAnswer(error, c.get("requestId")));
  });
  app.notFound((c) => {
    const facade = facadeOf(c, options.facades);
    const place = `${c.req.method} ${c.req.path}`;
    const detail =
      facade?.notFound?.(place) ??
      `There is no route ${place}. GET /docs shows every route, GET /v1/openapi.json describes them.`;
    const error = new PinakesError("NOT_FOUND", detail);
    return problemResponse(toProblemAnswer(error, c.get("requestId"), facade?.errorBody));
  });
  const templates = routes.map(({ path }) => path);
  for (const place of places(routes)) {
    for (const route of place)
      app.on(route.method, honoPattern(route.path, templates), (c) => answerRequest(c, route, kit));
    const first = place[0] as Route;
    app.all(honoPattern(first.path, templates), (c) => otherMethod(c, place, options.facades));
  }
}

/** Routes in order, plain segments before parameters: Hono uses the first match. */
function places(routes: readonly Route[]): readonly (readonly Route[])[] {
  const sorted = routes.toSorted((a, b) => comparePaths(a.path, b.path));
  const grouped: Route[][] = [];
  for (const route of sorted) {
    const last = grouped.at(-1);
    if (last !== undefined && comparePaths((last[0] as Route).path, route.path) === 0) last.push(route);
    else grouped.push([route]);
  }
  return grouped;
}

function otherMethod(c: Context<KitEnv>, place: readonly Route[], facades: MountOptions["facades"]): Response {
  c.set("route", (place[0] as Route).path.text);
  const methods = place.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  const allow = [...methods, "OPTIONS"].join(", ");
  if (c.req.method === "OPTIONS") return new Response(null, { status: 204, headers: { allow } });
  const error = new HttpError("INVALID", `${c.req.method} is not supported here; use ${methods.join(", ")}.`, {
    status: 405,
    headers: { allow },
  });
  return problemResponse(toProblemAnswer(error, c.get("requestId"), facadeOf(c, facades)?.errorBody));
}

function facadeOf(c: Context<KitEnv>, facades: MountOptions["facades"] = []) {
  return facades.find(({ prefix }) => c.req.path === prefix || c.req.path.startsWith(`${prefix}/`));
}

function checkRoutes(routes: readonly Route[], { idempotency }: Kit): void {
  const operations = new Map<string, string>();
  for (const { operationId, method, path, idempotent } of routes) {
    const place = `${method} ${path.text.replaceAll(/\{\w+\}/g, "{}")}`;
    for (const key of [operationId, place]) {
      invariant(
        !operations.has(key),
        "INTERNAL",
        `Two routes share ${key}: ${operations.get(key)} and ${operationId} (${method} ${path.text}).`,
      );
      operations.set(key, `${operationId} (${method} ${path.text})`);
    }
    invariant(
      !idempotent || idempotency !== undefined,
      "INTERNAL",
      `${operationId} is idempotent by key, but mount got no idempotency store.`,
    );
  }
}
