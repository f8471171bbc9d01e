/** The framework with which HTTP routes are declared, mounted and described. */
export { bestType, chooseType, type Offer } from "./accept.ts";
export { accepted, created, noContent, notModified, ok, type Answer } from "./answer.ts";
export type { KitEnv } from "./context.ts";
export type { Authenticated, Credentials } from "./credentials.ts";
export { mountReference } from "./docs/page.ts";
export { EventStreams } from "./event-streams.ts";
export { openIdempotencyStore } from "./idempotency-store.ts";
export { createLogger, type Logger } from "./log.ts";
export { HttpError } from "./http-error.ts";
export { mount, type MountOptions } from "./mount.ts";
export type { Part } from "./body/multipart.ts";
export { openApi } from "./docs/openapi.ts";
export { queryFlag, queryInteger } from "./query.ts";
export { readAhead } from "./body/read-ahead.ts";
export { RateLimiter, type RateLimitOptions } from "./rate-limit.ts";
export { defineRoute, type BodySpec, type AnswerSpecs, type Route, type RouteDeclaration } from "./route.ts";
export { sse, type ServerEvent } from "./sse.ts";
