/** Routes of the OpenAI facade: errors in OpenAI's format, with the statuses for which its clients have classes. */
import type { ProblemReason } from "@pinakes/client";
import { z } from "zod";
import { PinakesError, type ErrorCode } from "../../../domain/errors.ts";
import {
  defineRoute,
  HttpError,
  type Answer,
  type AnswerSpecs,
  type BodySpec,
  type Route,
  type RouteDeclaration,
} from "../../framework/index.ts";

export const openAiPrefix = "/openai/v1";

interface ErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string;
  };
}

const ErrorSchema = z
  .object({
    error: z.object({ message: z.string(), type: z.string(), param: z.string().nullable(), code: z.string() }),
  })
  .meta({ id: "OpenAIError" });

const types: Readonly<Record<ErrorCode, readonly [type: string, code: string]>> = {
  INVALID: ["invalid_request_error", "invalid_value"],
  UNAUTHENTICATED: ["invalid_request_error", "invalid_api_key"],
  FORBIDDEN: ["permission_error", "permission_denied"],
  NOT_FOUND: ["invalid_request_error", "not_found"],
  CONFLICT: ["conflict_error", "conflict"],
  GONE: ["invalid_request_error", "not_found"],
  PRECONDITION_FAILED: ["conflict_error", "conflict"],
  LIMIT_EXCEEDED: ["invalid_request_error", "limit_exceeded"],
  THROTTLED: ["rate_limit_error", "rate_limit_exceeded"],
  NOT_SUPPORTED: ["invalid_request_error", "not_supported"],
  UNAVAILABLE: ["server_error", "unavailable"],
  CORRUPT: ["server_error", "server_error"],
  INTERNAL: ["server_error", "server_error"],
};

/** The clients have classes for 400, 404 and 409, but not for these. */
const statusOf: Partial<Readonly<Record<ErrorCode, number>>> = {
  LIMIT_EXCEEDED: 400,
  GONE: 404,
  PRECONDITION_FAILED: 409,
};

/** Errors for which OpenAI has a specific code. */
const codeOf: Partial<Readonly<Record<ProblemReason, string>>> = {
  unknown_field: "unknown_parameter",
  model_not_found: "model_not_found",
};

export function errorBody({ code, detail, field, context: { reason } }: PinakesError): ErrorBody {
  const [type, name] = types[code];
  return {
    error: {
      message: detail,
      type,
      param: field ?? null,
      code: (reason === undefined ? undefined : codeOf[reason]) ?? name,
    },
  };
}

const refused = (description: string) => ({ description, schema: ErrorSchema });
export const openAiErrors = {
  400: refused("The request is invalid, or exceeds a limit: BadRequestError."),
  401: refused("The key is missing or invalid: AuthenticationError."),
  403: refused("The caller lacks permission: PermissionDeniedError."),
  404: refused("The resource does not exist, or is not visible to the caller: NotFoundError."),
  409: refused("The request conflicts with the current state: ConflictError."),
  413: refused("The body is too large: APIError."),
  429: refused("Too many requests: RateLimitError."),
  500: refused("Internal error: InternalServerError."),
  501: refused("Not supported: InternalServerError."),
} as const;

type Declaration<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends BodySpec | undefined,
  Answers extends AnswerSpecs,
> = Omit<
  RouteDeclaration<Params, Query, Body, "caller", Answers, typeof openAiErrors>,
  "tag" | "auth" | "errors" | "errorBody"
>;

type NoFields = z.ZodObject<{}, z.core.$strict>;

export function openAiRoute<
  Params extends z.ZodObject = NoFields,
  Query extends z.ZodObject = NoFields,
  const Body extends BodySpec | undefined = undefined,
  Answers extends AnswerSpecs = AnswerSpecs,
>(declaration: Declaration<Params, Query, Body, Answers>): Route {
  const route = defineRoute<"caller", Params, Query, Body, Answers, typeof openAiErrors>({
    ...declaration,
    tag: "openai",
    auth: "caller",
    errors: openAiErrors,
    errorBody,
  });
  return Object.freeze({
    ...route,
    handler: (request: Parameters<Route["handler"]>[0]) => inOpenAiForm(route, request),
  });
}

async function inOpenAiForm(route: Route, request: Parameters<Route["handler"]>[0]): Promise<Answer> {
  try {
    return await route.handler(request);
  } catch (error) {
    if (!PinakesError.isInstance(error)) throw error;
    const { code, detail, retryable } = error;
    const status = statusOf[code] ?? error.status;
    const retryAfterMs = "retryAfterMs" in error ? error.retryAfterMs : undefined;
    throw new HttpError(code, detail, {
      ...error.context,
      status,
      cause: error,
      retryable,
      headers: {
        ...(error instanceof HttpError ? error.headers : {}),
        // Without it, clients repeat every 409 and 5xx.
        ...(status === 409 || status >= 500 ? { "x-should-retry": String(retryable) } : {}),
        ...(typeof retryAfterMs === "number" ? { "retry-after-ms": String(Math.ceil(retryAfterMs)) } : {}),
      },
    });
  }
}
