/**
 * Routes of the LISA facade: at the server's root, lenient as an API gateway is, with errors as objects of which its clients read
 * `message`. A resource that does not exist for the caller is 404, for which the SDK has a class; LISA responds with 403, 400 or 500.
 */
import { z } from "zod";
import { invalid, PinakesError, type ErrorCode } from "../../../domain/errors.ts";
import {
  defineRoute,
  HttpError,
  type Answer,
  type AnswerSpecs,
  type BodySpec,
  type Route,
  type RouteDeclaration,
} from "../../framework/index.ts";

/** First path segments of the facade. */
export const lisaPrefixes = ["/repository", "/bedrock-kb", "/models", "/configuration", "/session"];

interface ErrorBody {
  readonly error: string;
  readonly message: string;
  /** Spelled like the API gateway, which rejects requests without a valid key. */
  readonly Message?: string;
}

const ErrorSchema = z
  .object({ error: z.string(), message: z.string(), Message: z.string().optional() })
  .meta({ id: "LisaError" });

const reasons: Readonly<Record<ErrorCode, string>> = {
  INVALID: "Bad Request",
  UNAUTHENTICATED: "Unauthorized",
  FORBIDDEN: "Forbidden",
  NOT_FOUND: "Not Found",
  CONFLICT: "Conflict",
  GONE: "Not Found",
  PRECONDITION_FAILED: "Conflict",
  LIMIT_EXCEEDED: "Limit Exceeded",
  THROTTLED: "Too Many Requests",
  NOT_SUPPORTED: "Not Supported",
  UNAVAILABLE: "Service Unavailable",
  CORRUPT: "Internal Server Error",
  INTERNAL: "Internal Server Error",
};

export function lisaErrorBody({ code, detail }: PinakesError): ErrorBody {
  return {
    error: reasons[code],
    message: detail,
    ...(code === "UNAUTHENTICATED" ? { Message: detail } : {}),
  };
}

/** The gateway responds with 401 if no key was sent, and 403 if the key is invalid. */
function errorStatus({ code, status }: PinakesError, headers: Headers): number {
  if (code === "UNAUTHENTICATED" && (headers.has("authorization") || headers.has("api-key"))) return 403;
  return status;
}

const statusOf: Partial<Readonly<Record<ErrorCode, number>>> = {
  LIMIT_EXCEEDED: 400,
  GONE: 404,
  PRECONDITION_FAILED: 409,
};

const refused = (description: string) => ({ description, schema: ErrorSchema });
const lisaErrors = {
  400: refused("The request is invalid: UnknownError."),
  401: refused("The key is missing: UnknownError."),
  403: refused("The key is not valid, or the caller lacks permission: UnknownError."),
  404: refused("The resource does not exist, or is not visible to the caller: NotFoundError."),
  409: refused("The request conflicts with the current state: UnknownError."),
  413: refused("The body is too large: UnknownError."),
  429: refused("Too many requests: RateLimitExceededError."),
  500: refused("Internal error: ModelEndpointError."),
} as const;

type Declaration<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends BodySpec | undefined,
  Answers extends AnswerSpecs,
  A extends "caller" | "public",
> = Omit<
  RouteDeclaration<Params, Query, Body, A, Answers, typeof lisaErrors>,
  "tag" | "auth" | "errors" | "errorBody"
> & {
  readonly auth?: A;
  /** If the body itself is too large: 413. */
  readonly limitStatus?: 413;
};

type NoFields = z.ZodObject<{}, z.core.$strict>;

export function lisaRoute<
  Params extends z.ZodObject = NoFields,
  Query extends z.ZodObject = NoFields,
  const Body extends BodySpec | undefined = undefined,
  Answers extends AnswerSpecs = AnswerSpecs,
  A extends "caller" | "public" = "caller",
>(declaration: Declaration<Params, Query, Body, Answers, A>): Route {
  const { limitStatus, ...rest } = declaration;
  const route = defineRoute<A, Params, Query, Body, Answers, typeof lisaErrors>({
    ...rest,
    tag: "lisa",
    auth: rest.auth ?? ("caller" as A),
    errors: lisaErrors,
    lenient: true,
    errorBody: lisaErrorBody,
    errorStatus,
  });
  return Object.freeze({
    ...route,
    handler: (request: Parameters<Route["handler"]>[0]) => inLisaForm(route, request, limitStatus),
  });
}

async function inLisaForm(
  route: Route,
  request: Parameters<Route["handler"]>[0],
  limitStatus: 413 | undefined,
): Promise<Answer> {
  try {
    refuseNull(request.params);
    refuseNull(request.query);
    if (route.body !== undefined && "safeParse" in route.body) refuseNull(request.body);
    return await route.handler(request);
  } catch (error) {
    if (!PinakesError.isInstance(error) || error instanceof HttpError) throw error;
    const { code, detail, retryable } = error;
    const status = (code === "LIMIT_EXCEEDED" ? limitStatus : undefined) ?? statusOf[code];
    if (status === undefined) throw error;
    throw new HttpError(code, detail, { status, cause: error, retryable });
  }
}

/** LISA's tables and queues accept no NUL in any string, and it reports that first. */
function refuseNull(value: unknown): void {
  if (typeof value === "string") {
    if (value.includes("\0")) throw invalid("The request contains a NUL byte; remove it.");
  } else if (Array.isArray(value)) for (const one of value) refuseNull(one);
  else if (typeof value === "object" && value !== null)
    for (const [name, one] of Object.entries(value)) {
      refuseNull(name);
      refuseNull(one);
    }
}
