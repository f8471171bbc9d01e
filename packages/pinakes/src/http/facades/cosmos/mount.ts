/**
 * Cosmos DB's REST interface (SQL API) at `/cosmos`, for its official clients in gateway mode. Like MCP it is mounted by itself: its
 * requests are signed, addressed and answered in ways of their own. It only translates: documents, containers and databases are those of
 * `State`.
 */
import { randomUUID } from "node:crypto";
import type { Context, Hono } from "hono";
import type { Pinakes } from "../../../open.ts";
import { systemClock, type Clock } from "../../../ports/clock.ts";
import { AuditRecorder, type CallVerb, type RecordedCall } from "../../../governance/index.ts";
import type { Authenticated } from "../../../identity/index.ts";
import { socketAddress, type KitEnv } from "../../framework/context.ts";
import { requestOf } from "../../framework/audit.ts";
import { describeError, type Logger } from "../../framework/log.ts";
import type { RateLimiter } from "../../framework/rate-limit.ts";
import { checkDate, readSignature, type SignedRequest } from "./auth/authorization.ts";
import { bodyBytesMax, CosmosContext, type CosmosAnswer, type Facade } from "./context.ts";
import { dispatch, resourceAt, type Resource } from "./dispatch.ts";
import { asCosmosError, CosmosError, errorBody } from "./errors.ts";
import { cosmosPrefix, readPath, type ResourcePath } from "./path.ts";
import { readText } from "./read-text.ts";
import { Sessions } from "./session.ts";
import { Budgets } from "./throughput/budget.ts";

export interface CosmosOptions {
  readonly limiter: RateLimiter;
  readonly log: Logger;
  readonly publicUrl: string | undefined;
  readonly clock?: Clock | undefined;
}

/** What is longer is not read; what is a little too long is refused where it is known what it is. */
const requestBytesMax = bodyBytesMax + 1_048_576;

export function mountCosmos(app: Hono<KitEnv>, pinakes: Pinakes, options: CosmosOptions): void {
  const { clock = systemClock } = options;
  const facade: Facade = { pinakes, clock, budgets: new Budgets(clock), sessions: new Sessions(clock) };
  const recorder = new AuditRecorder(pinakes.audit);
  const serve = (c: Context<KitEnv>): Promise<Response> => serveRecorded(c, facade, options, recorder);
  app.all(cosmosPrefix, serve);
  app.all(`${cosmosPrefix}/*`, serve);
}

/** What a request changes, once it is known which resource it is for. */
interface Trace {
  resource?: Resource;
  context?: CosmosContext;
}

async function serveRecorded(
  c: Context<KitEnv>,
  facade: Facade,
  options: CosmosOptions,
  recorder: AuditRecorder,
): Promise<Response> {
  const trace: Trace = {};
  const call: RecordedCall = {
    ...requestOf(c, socketAddress(c)),
    get action() {
      return `${c.req.method} ${c.get("route") ?? cosmosPrefix}`;
    },
    get verb() {
      return verbOf(trace, c.req.method);
    },
    resource: "cosmos",
    face: "cosmos",
  };
  const run = (): Promise<Response> => serveRequest(c, facade, options, trace);
  try {
    return await recorder.around(call, run, (response) => ({
      status: response?.status,
      failure: c.get("failure"),
      fields: { container: trace.context?.segments[3], item: trace.context?.segments[5] },
    }));
  } catch (error) {
    c.set("failure", error);
    return refuse(trace.context, asCosmosError(error), randomUUID());
  }
}

function verbOf({ resource, context }: Trace, method: string): CallVerb {
  if (resource === undefined || context === undefined || method === "GET") return "none";
  if (method === "DELETE") return "delete";
  if (method !== "POST") return "update";
  return resource.reads?.(context) === true ? "none" : "create";
}

async function serveRequest(
  c: Context<KitEnv>,
  facade: Facade,
  options: CosmosOptions,
  trace: Trace,
): Promise<Response> {
  const activityId = randomUUID();
  c.set("route", `${cosmosPrefix}/*`);
  let context: CosmosContext | undefined;
  try {
    const path = readPath(requestTarget(c));
    const auth = await authenticate(c, path, facade, options);
    const resource = resourceAt(path.segments);
    c.set("route", resource.route);
    trace.resource = resource;
    context = new CosmosContext({
      facade,
      caller: auth.caller,
      method: c.req.method,
      segments: path.segments,
      endpoint: () => endpointOf(c, path, options.publicUrl),
      headers: c.req.raw.headers,
      body: await readText(c.req.raw, requestBytesMax),
    });
    trace.context = context;
    return correlated(c, respond(context, await dispatch(context, resource, auth.readOnly === true), activityId));
  } catch (error) {
    c.set("failure", error instanceof CosmosError ? (error.cause ?? error) : error);
    const failure = asCosmosError(error);
    if (failure.status >= 500 && failure.status !== 501)
      options.log.error(
        { route: c.get("route"), error: describeError(error, []) },
        "a call of a Cosmos DB client failed",
      );
    return correlated(c, refuse(context, failure, activityId));
  }
}

const correlationHeader = "x-ms-cosmos-correlated-activityid";

/** Clients number what belongs together, and want to see it again. */
function correlated(c: Context<KitEnv>, response: Response): Response {
  const sent = c.req.header(correlationHeader);
  if (sent !== undefined && /^[\w-]{1,64}$/.test(sent)) response.headers.set(correlationHeader, sent);
  return response;
}

/** The signature comes first: a good one is never held up by what others behind the same address did wrong. */
async function authenticate(
  c: Context<KitEnv>,
  path: ResourcePath,
  { pinakes, clock }: Facade,
  { limiter }: CosmosOptions,
): Promise<Authenticated> {
  const address = socketAddress(c);
  const request: SignedRequest = { method: c.req.method, path, header: (name) => c.req.header(name) };
  const secrets = c.req.header("authorization");
  if (secrets !== undefined) c.set("secrets", [secrets]);
  let auth: Authenticated;
  try {
    const signed = readSignature(request);
    auth = await pinakes.identity.authenticateAccount(path.keyId, (key) => signed.fits(key));
  } catch (error) {
    limiter.checkAddress(address, { safeMethod: true, fromLoopback: false });
    limiter.failed(address, undefined, error);
    throw error;
  }
  checkDate(request, clock.now());
  c.set("auth", auth);
  limiter.take(auth.caller);
  return auth;
}

/** As it was sent: an URL object would take "?" for the beginning of a query, and change other signs. */
function requestTarget(c: Context<KitEnv>): string {
  const env = c.env as { readonly incoming?: { readonly url?: string } } | undefined;
  if (env?.incoming?.url !== undefined) return env.incoming.url;
  const { pathname, search } = new URL(c.req.raw.url);
  return `${pathname}${search}`;
}

function endpointOf(c: Context<KitEnv>, { keyId }: ResourcePath, publicUrl: string | undefined): string {
  const base = publicUrl?.replace(/\/+$/, "") ?? new URL(c.req.raw.url).origin;
  return `${base}${cosmosPrefix}${keyId === undefined ? "" : `/${keyId}`}`;
}

function respond(context: CosmosContext, made: CosmosAnswer, activityId: string): Response {
  const { status, body, text: ready, charge = 1, headers = {} } = made;
  // A plain object: the server writes it as it is.
  const all = commonHeaders(context, activityId, charge);
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) all[name.toLowerCase()] = value;
  const empty = status === 204 || status === 304;
  const text = empty ? null : (ready ?? (body === undefined ? null : JSON.stringify(body)));
  if (text !== null) all["content-type"] = "application/json";
  return new Response(text, { status, headers: all });
}

function refuse(context: CosmosContext | undefined, failure: CosmosError, activityId: string): Response {
  const headers = new Headers({
    ...commonHeaders(context, activityId, 1, false),
    "content-type": "application/json",
    ...failure.headers,
    ...(failure.substatus === undefined ? {} : { "x-ms-substatus": String(failure.substatus) }),
  });
  return new Response(JSON.stringify(errorBody(failure, activityId)), { status: failure.status, headers });
}

const aboutItems: ReadonlySet<string> = new Set(["docs", "operations"]);

function commonHeaders(
  context: CosmosContext | undefined,
  activityId: string,
  charge: number,
  done = true,
): Record<string, string> {
  const headers: Record<string, string> = {
    "cache-control": "no-store",
    "x-ms-activity-id": activityId,
    "x-ms-request-charge": String(charge),
    "x-ms-version": "2020-07-15",
    "x-ms-gatewayversion": "2.0.0",
    "x-ms-serviceversion": "pinakes",
  };
  const container = context?.container;
  if (context === undefined || container === undefined) return headers;
  headers["x-ms-content-path"] = container.rid;
  headers["x-ms-alt-content-path"] = encodeURI(container.link);
  headers["x-ms-documentdb-partitionkeyrangeid"] = container.rangeId;
  // A session is about items that were read or written: not about the container itself, and not about what was refused.
  if (!done || !aboutItems.has(context.segments[4] ?? "")) return headers;
  const { sessions } = context.facade;
  const name = `${context.caller.scope.tenant}/${container.rid}/${container.rangeId}`;
  if (container.wrote) sessions.wrote(name);
  const lsn = sessions.number(name);
  headers["lsn"] = String(lsn);
  headers["x-ms-session-token"] = `${container.rangeId}:1#${lsn}`;
  return headers;
}
