/**
 * Declares a route once: its path, input and responses. Validation, types, OpenAPI and the reference page are derived from it. A route only
 * translates: its handler calls one feature and returns the result.
 */
import { z } from "zod";
import type { Sent } from "../../contract/index.ts";
import type { Caller } from "../../domain/caller.ts";
import type { PinakesError } from "../../domain/errors.ts";
import { invariant } from "../../domain/invariant.ts";
import type { Answer } from "./answer.ts";
import type { Authenticated } from "./credentials.ts";
import type { Preconditions } from "./etag.ts";
import type { CallVerb } from "../../governance/index.ts";
import { auditVerbOf } from "./audit.ts";
import type { MultipartLimits, Part } from "./body/multipart.ts";
import { parsePathTemplate, type PathTemplate } from "./path-template.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
export type Access = "caller" | "public";

/** Files in a form; with `json` the route also accepts a JSON body, and `body.kind` says which was sent. */
export interface MultipartSpec<Json extends z.ZodType = z.ZodType> {
  readonly multipart: true;
  readonly json?: Json;
  /** For the reference: the fields of the form. */
  readonly fields?: Readonly<
    Record<string, { readonly description: string; readonly file?: true; readonly required?: true }>
  >;
  readonly partLimits?: Partial<MultipartLimits>;
}
/** Unparsed bytes of these content types; with `json` also a JSON body. */
export interface RawSpec<Json extends z.ZodType = z.ZodType> {
  readonly raw: readonly string[];
  readonly json?: Json;
  /** The body may be gzipped; it is passed on as received, and the header says so. */
  readonly gzip?: true;
}
export type BodySpec = z.ZodType | MultipartSpec | RawSpec;

export interface MultipartBody {
  readonly kind: "multipart";
  /** Can be iterated once; read each file before requesting the next part. */
  parts(): AsyncGenerator<Part, void>;
}
export interface RawBody {
  readonly kind: "raw";
  /** Without parameters, in lower case. */
  readonly contentType: string;
  readonly stream: AsyncIterable<Uint8Array>;
}
export interface JsonBody<Value> {
  readonly kind: "json";
  readonly value: Value;
}

type JsonOf<Spec> = Spec extends { readonly json: infer Json extends z.ZodType } ? JsonBody<z.output<Json>> : never;
export type BodyOf<Spec> = Spec extends z.ZodType
  ? z.output<Spec>
  : Spec extends { readonly multipart: true }
    ? MultipartBody | JsonOf<Spec>
    : Spec extends { readonly raw: readonly string[] }
      ? RawBody | JsonOf<Spec>
      : undefined;

export interface AnswerSpec {
  readonly description: string;
  readonly schema?: z.ZodType;
  /** Content type, if it is not JSON. */
  readonly contentType?: string;
  /** Alternatives, selected by the Accept header. */
  readonly alsoTypes?: readonly string[];
}
export type AnswerSpecs = Readonly<Record<number, AnswerSpec>>;

/**
 * What a handler may send as the body, by the schemas that its route declares. A body without a schema is not checked; a 204 and a 304 have
 * none.
 */
type SentBy<Specs> = { [Status in keyof Specs]: SentAs<Specs[Status], Status> }[keyof Specs];
type SentAs<Spec, Status> = Spec extends { readonly schema: infer Schema extends z.ZodType }
  ? Sent<z.output<Schema>>
  : Status extends 204 | 304
    ? never
    : unknown;

export interface RouteRequest<
  Params = unknown,
  Query = unknown,
  Body = unknown,
  A extends Access = Access,
> extends Preconditions {
  readonly caller: A extends "caller" ? Caller : undefined;
  readonly auth: A extends "caller" ? Authenticated : undefined;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly header: (name: string) => string | undefined;
  readonly requestId: string;
  readonly clientAddress: string;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** Aborted when the server starts to close: endless responses (server-sent events) then end; others finish. */
  readonly closing: AbortSignal;
  readonly raw: Request;
  /** Adds fields to the log line of this request; never a secret, never content. */
  readonly note: (fields: Readonly<Record<string, string>>) => void;
}

export interface RouteDeclaration<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends BodySpec | undefined,
  A extends Access,
  Answers extends AnswerSpecs,
  Errors extends AnswerSpecs,
> {
  readonly method: Method;
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  readonly auth: A;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  readonly answers: Answers;
  /** Errors that a client should know about: a problem unless there is a schema, for facades with their own error format. */
  readonly errors?: Errors;
  readonly limits?: { readonly bodyBytesMax?: number };
  /** POST only: with an Idempotency-Key, a repeated request returns the first response. */
  readonly idempotent?: boolean;
  /** A read-only POST (search): read-only keys may use it. */
  readonly readOnlyOk?: boolean;
  /**
   * Its entry in the audit log. Derived from method and operationId by default, so that every change is recorded; `none` for routes that
   * change nothing, or record it themselves.
   */
  readonly audit?: CallVerb;
  /** A write that accepts If-Match; for the reference. */
  readonly conditional?: boolean;
  /**
   * For a facade whose clients cannot be changed: accepts a key without a scheme or in the header Api-Key, JSON under any content type and
   * also with DELETE, and unknown query parameters, which it ignores.
   */
  readonly lenient?: boolean;
  /** For a facade: the status of an error, if it differs from that of its code; called for every error, like `errorBody`. */
  errorStatus?(error: PinakesError, headers: Headers): number;
  /** The key may also be the password of Basic credentials, for clients that support nothing else. */
  readonly basicOk?: boolean;
  /** For a facade with its own error format: also for errors before the handler, such as an invalid JSON body. */
  errorBody?(error: PinakesError): object;
  handler(
    request: RouteRequest<z.output<Params>, z.output<Query>, BodyOf<Body>, A>,
  ): Promise<Answer<SentBy<Answers> | SentBy<Errors>>> | Answer<SentBy<Answers> | SentBy<Errors>>;
}

/** A declared route without its types, as mount and the reference use it. */
export interface Route {
  readonly method: Method;
  readonly path: PathTemplate;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string | undefined;
  readonly tag: string;
  readonly auth: Access;
  readonly params: z.ZodObject;
  readonly query: z.ZodObject;
  readonly body: BodySpec | undefined;
  readonly answers: AnswerSpecs;
  readonly errors: AnswerSpecs;
  readonly bodyBytesMax: number;
  readonly idempotent: boolean;
  readonly readOnlyOk: boolean;
  readonly audit: CallVerb;
  readonly conditional: boolean;
  readonly lenient: boolean;
  readonly basicOk: boolean;
  readonly errorBody: ((error: PinakesError) => object) | undefined;
  readonly errorStatus: ((error: PinakesError, headers: Headers) => number) | undefined;
  readonly handler: (request: RouteRequest) => Promise<Answer> | Answer;
}

export const jsonBytesMaxDefault = 1_048_576;
/** Limit of a whole form, or of a raw body; a route may declare a lower one. */
export const uploadBytesMaxDefault = 1_073_741_824;

type NoFields = z.ZodObject<{}, z.core.$strict>;

/**
 * @example
 * defineRoute({
 *   method: "POST", path: "/v1/repositories/{rid}/collections/{cid}:archive", operationId: "archiveCollection",
 *   summary: "Archive a collection", tag: "collections", auth: "caller",
 *   params: z.strictObject({ rid: id, cid: id }),
 *   answers: { 200: { description: "The archived collection.", schema: Collection } },
 *   handler: async ({ caller, params }) => {
 *     const collection = await knowledge.archive(caller, params);
 *     return ok(collection, { etag: collection.etag });
 *   },
 * });
 */
export function defineRoute<
  A extends Access,
  Params extends z.ZodObject = NoFields,
  Query extends z.ZodObject = NoFields,
  const Body extends BodySpec | undefined = undefined,
  Answers extends AnswerSpecs = AnswerSpecs,
  Errors extends AnswerSpecs = {},
>(declaration: RouteDeclaration<Params, Query, Body, A, Answers, Errors>): Route {
  const { method, operationId, answers, body, params, query, idempotent = false, lenient = false } = declaration;
  const route: Route = Object.freeze({
    method,
    path: parsePathTemplate(declaration.path),
    operationId,
    summary: declaration.summary,
    description: declaration.description,
    tag: declaration.tag,
    auth: declaration.auth,
    // Always strict: an unknown parameter is a mistake that the client should learn about.
    params: params === undefined ? z.strictObject({}) : params.strict(),
    query: lenient ? (query ?? z.object({})).loose() : query === undefined ? z.strictObject({}) : query.strict(),
    body,
    answers,
    errors: declaration.errors ?? {},
    bodyBytesMax:
      declaration.limits?.bodyBytesMax ??
      (body === undefined || isSchema(body) ? jsonBytesMaxDefault : uploadBytesMaxDefault),
    idempotent,
    readOnlyOk: declaration.readOnlyOk ?? false,
    audit: auditVerbOf(declaration),
    conditional: declaration.conditional ?? false,
    lenient,
    basicOk: declaration.basicOk ?? false,
    errorBody: declaration.errorBody?.bind(declaration),
    errorStatus: declaration.errorStatus?.bind(declaration),
    handler: declaration.handler.bind(declaration) as unknown as Route["handler"],
  });
  checkRoute(route);
  return route;
}

export function isSchema(body: BodySpec): body is z.ZodType {
  return "safeParse" in body;
}

function checkRoute({
  method,
  path,
  operationId,
  auth,
  params,
  body,
  answers,
  errors,
  idempotent,
  lenient,
}: Route): void {
  const where = `Route ${operationId} (${method} ${path.text})`;
  invariant(
    /^[a-z]\w*$/i.test(operationId),
    "INTERNAL",
    `${where}: an operationId must consist of letters and digits.`,
  );
  const declared = Object.keys(params.shape).toSorted().join(", ");
  const inPath = path.parameters.toSorted().join(", ");
  invariant(declared === inPath, "INTERNAL", `${where}: the path has {${inPath}} but params declares {${declared}}.`);
  invariant(
    body === undefined || (method !== "GET" && (method !== "DELETE" || lenient)),
    "INTERNAL",
    `${where}: ${method} takes no body, unless the route is lenient and the method DELETE.`,
  );
  invariant(
    !idempotent || (method === "POST" && auth === "caller"),
    "INTERNAL",
    `${where}: only a POST of a caller is made idempotent by a key.`,
  );
  const statuses = Object.keys(answers).map(Number);
  invariant(
    statuses.length > 0 && statuses.every((status) => status >= 200 && status < 400),
    "INTERNAL",
    `${where}: answers must declare successes (2xx, 3xx).`,
  );
  invariant(
    Object.keys(errors).every((status) => Number(status) >= 400),
    "INTERNAL",
    `${where}: errors must declare failures (4xx, 5xx).`,
  );
}
