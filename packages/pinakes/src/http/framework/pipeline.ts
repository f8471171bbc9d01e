/**
 * Processes one request through its route: limits, caller, body, validation, handler, response. Each step either continues or throws;
 * errors are converted to problems here, in one place.
 */
import type { Context } from "hono";
import { z } from "zod";
import { PinakesError, invalid } from "../../domain/errors.ts";
import { invariant } from "../../domain/invariant.ts";
import type { Answer } from "./answer.ts";
import { faceOf, requestEnd, requestOf, type AuditRecorder, type RequestTrace } from "./audit.ts";
import { bodyChunks, checkBodyHeaders, contentTypeOf, isJsonType, readJson, unsupportedType } from "./body/body.ts";
import type { KitEnv } from "./context.ts";
import {
  isSafeMethod,
  readCredentials,
  secretsOf,
  type Authenticate,
  type Authenticated,
  type Credentials,
} from "./credentials.ts";
import { readPreconditions } from "./etag.ts";
import type { EventStreams } from "./event-streams.ts";
import { problemResponse, toProblemAnswer } from "./http-error.ts";
import { makeClaim, readIdempotencyKey, runOnce, type IdempotencyStore } from "./idempotency.ts";
import type { Logger } from "./log.ts";
import { describeError } from "./log.ts";
import { parts } from "./body/multipart.ts";
import { toPinakesError } from "../problem.ts";
import { stripVerbs } from "./path-template.ts";
import { readQuery } from "./query.ts";
import type { RateLimiter } from "./rate-limit.ts";
import { toResponse } from "./respond.ts";
import { isSchema, type Route, type RouteRequest } from "./route.ts";
import { validate } from "./validate.ts";

/** Shared by the routes of an app. */
export interface Kit {
  readonly authenticate: Authenticate;
  readonly log: Logger;
  readonly limiter: RateLimiter | undefined;
  readonly streams: EventStreams | undefined;
  readonly idempotency: IdempotencyStore | undefined;
  readonly closing: AbortSignal;
  readonly sessionCookieName: string;
  readonly clientAddress: (c: Context) => string;
  readonly checkAnswers: boolean;
  /** Records calls before their response is sent. */
  readonly audit: AuditRecorder | undefined;
  readonly around: ((run: () => Promise<Answer>) => Promise<Answer>) | undefined;
}

type KitContext = Context<KitEnv>;

export async function answerRequest(c: KitContext, route: Route, kit: Kit): Promise<Response> {
  c.set("route", route.path.text);
  const trace: RequestTrace = {};
  const answer = (): Promise<Response> => answerUnrecorded(c, route, kit, trace);
  if (kit.audit === undefined) return answer();
  const { operationId: action, tag, audit: verb } = route;
  const call = { ...requestOf(c, kit.clientAddress(c)), action, resource: tag, verb, face: faceOf(tag) };
  let response: Response | undefined;
  const run = async (): Promise<Response> => (response = await answer());
  try {
    return await kit.audit.around(call, run, (made) => requestEnd(tag, trace, made as Response, c.get("failure")));
  } catch (error) {
    // A response is only sent once the call is recorded.
    await response?.body?.cancel();
    c.set("failure", error);
    return refusal(c, route, error);
  }
}

function refusal(
  c: KitContext,
  route: Route,
  error: unknown,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const problem = toProblemAnswer(error, c.get("requestId"), route.errorBody);
  const known = toPinakesError(error, c.get("requestId"));
  const status = route.errorStatus?.(known, c.req.raw.headers) ?? problem.status;
  return problemResponse({ ...problem, status, headers: { ...headers, ...problem.headers } });
}

async function answerUnrecorded(c: KitContext, route: Route, kit: Kit, trace: RequestTrace): Promise<Response> {
  const headers: Record<string, string> = {};
  try {
    const auth = await identify(c, route, kit, headers);
    const { request, bytes } = await readRequest(c, route, kit, auth);
    trace.params = request.params;
    trace.query = request.query;
    const made = await runHandler(route, kit, request, bytes);
    trace.answer = made;
    const answer = kit.streams === undefined ? made : await kit.streams.hold(auth?.caller, made);
    if (kit.checkAnswers) checkAnswer(route, answer);
    const onStreamError = (error: unknown): void =>
      kit.log.error(
        { route: route.path.text, request_id: c.get("requestId"), error: describeError(error, c.get("secrets") ?? []) },
        "a response was interrupted",
      );
    return await toResponse(answer, { request: c.req.raw, headers, onStreamError });
  } catch (error) {
    c.set("failure", error);
    // A session is created on a public route, with a token that could be guessed.
    if (route.auth === "public") kit.limiter?.failed(kit.clientAddress(c), undefined, error);
    return refusal(c, route, error, headers);
  }
}

/** The caller, as far as the route requires one. */
async function identify(
  c: KitContext,
  route: Route,
  kit: Kit,
  headers: Record<string, string>,
): Promise<Authenticated | undefined> {
  const address = kit.clientAddress(c);
  let credentials: Credentials | undefined;
  try {
    if (route.auth === "public") {
      kit.limiter?.checkAddress(address, { safeMethod: true, fromLoopback: false });
      return undefined;
    }
    credentials = readCredentials(c, kit.sessionCookieName, route);
    c.set("secrets", secretsOf(credentials));
    kit.limiter?.checkAddress(address, credentials);
    const auth = await kit.authenticate(credentials);
    c.set("auth", auth);
    kit.limiter?.signedIn(credentials);
    Object.assign(headers, kit.limiter?.take(auth.caller));
    if (auth.readOnly === true && !isSafeMethod(c.req.method) && !route.readOnlyOk) {
      throw new PinakesError(
        "FORBIDDEN",
        "This key is read-only. Use one with write access, or ask an administrator for one.",
      );
    }
    return auth;
  } catch (error) {
    kit.limiter?.failed(address, credentials, error);
    throw error;
  }
}

async function readRequest(
  c: KitContext,
  route: Route,
  kit: Kit,
  auth: Authenticated | undefined,
): Promise<{ request: RouteRequest; bytes: Uint8Array | undefined }> {
  const { raw } = c.req;
  const url = new URL(raw.url);
  checkPercentEncoding(url.pathname);
  const params = validate(route.params, stripVerbs(route.path, c.req.param()), "path");
  const query = readQuery(route.query, url.searchParams);
  const preconditions = readPreconditions(raw.headers, { safe: isSafeMethod(raw.method) });
  const { body, bytes } = await readBody(raw, route);
  const request: RouteRequest = {
    caller: auth?.caller,
    auth,
    params,
    query,
    body,
    ...preconditions,
    header: (name) => c.req.header(name),
    requestId: c.get("requestId"),
    clientAddress: kit.clientAddress(c),
    signal: raw.signal,
    closing: kit.closing,
    raw,
    note: (fields) => void c.set("notes", { ...c.get("notes"), ...fields }),
  };
  return { request, bytes };
}

/** A JSON body is read and validated here; the handler reads forms and raw bodies as they arrive. */
async function readBody(
  raw: Request,
  { method, body: spec, bodyBytesMax, lenient }: Route,
): Promise<{ body: unknown; bytes?: Uint8Array }> {
  if (method === "GET" || (method === "DELETE" && spec === undefined))
    return { body: undefined, bytes: new Uint8Array() };
  checkBodyHeaders(raw.headers, bodyBytesMax, { gzip: spec !== undefined && "gzip" in spec && spec.gzip });
  if (spec === undefined || isSchema(spec)) {
    const { value, bytes } = await readJson(raw, bodyBytesMax, { anyType: lenient });
    // Many clients send {} with every POST; any other body is an error if none is expected.
    const checked = validate(spec ?? z.strictObject({}).optional(), value, "body");
    return { body: spec === undefined ? undefined : checked, bytes };
  }
  const type = contentTypeOf(raw.headers);
  if (spec.json !== undefined && isJsonType(type)) {
    const { value, bytes } = await readJson(raw, bodyBytesMax);
    return { body: { kind: "json", value: validate(spec.json, value, "body") }, bytes };
  }
  const json = spec.json === undefined ? [] : ["application/json"];
  if ("multipart" in spec) {
    if (type !== "multipart/form-data") throw unsupportedType(type, ["multipart/form-data", ...json]);
    return { body: { kind: "multipart", parts: () => parts(raw, { ...spec.partLimits, bodyBytesMax }) } };
  }
  const anything = spec.raw.includes("*/*");
  if (!anything && (type === undefined || !spec.raw.includes(type)))
    throw unsupportedType(type, [...spec.raw, ...json]);
  return {
    body: { kind: "raw", contentType: type ?? "application/octet-stream", stream: bodyChunks(raw, bodyBytesMax) },
  };
}

async function runHandler(
  route: Route,
  kit: Kit,
  request: RouteRequest,
  bytes: Uint8Array | undefined,
): Promise<Answer> {
  const handle = async (): Promise<Answer> => route.handler(request);
  const run = (): Promise<Answer> => (kit.around === undefined ? handle() : kit.around(handle));
  const key = route.idempotent ? readIdempotencyKey(request.raw.headers) : undefined;
  const { caller } = request;
  if (key === undefined || caller === undefined || kit.idempotency === undefined) return run();
  if (bytes === undefined)
    throw invalid(
      "Idempotency-Key: works only with JSON bodies, because forms are not stored for comparison; omit it.",
    );
  const claim = makeClaim({
    userId: caller.userId,
    operationId: route.operationId,
    key,
    url: new URL(request.raw.url),
    body: bytes,
  });
  const onError = (error: unknown): void =>
    kit.log.error(
      { route: route.path.text, request_id: request.requestId, error: describeError(error, []) },
      "storing an idempotency record failed",
    );
  return runOnce({ store: kit.idempotency, scope: caller.scope, claim, requestId: request.requestId, run, onError });
}

/** Hono passes on what it cannot decode; a partly decoded id would be another id. */
function checkPercentEncoding(pathname: string): void {
  try {
    decodeURIComponent(pathname);
  } catch (error) {
    throw invalid("The path is not valid percent-encoded UTF-8; encode each id with encodeURIComponent.", {
      cause: error,
    });
  }
}

/** For tests: a route may only return what it declares, so that the reference is correct. */
function checkAnswer({ operationId, answers, errors }: Route, answer: Answer): void {
  const declared = answers[answer.status] ?? errors[answer.status];
  if (answer.headers?.["idempotency-replayed"] === "true" && answer.status >= 400) return;
  invariant(declared !== undefined, "INTERNAL", `${operationId} returned ${answer.status}, which it does not declare.`);
  if (declared.schema === undefined || answer.stream !== undefined) return;
  const body: unknown = answer.json === undefined ? answer.body : JSON.parse(Buffer.from(answer.json).toString("utf8"));
  const result = declared.schema.safeParse(body);
  invariant(
    result.success,
    "INTERNAL",
    `${operationId} returned ${answer.status} with a body that does not match its declaration: ${result.error?.message ?? ""}`,
  );
}
