/**
 * Declare a route once: its path, what it takes and what it answers. Validation, types, OpenAPI and the reference page come from
 * here. A route only translates: its handler calls one feature and says what came of it.
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

/** Files in a form; with `json` the route takes a JSON body as well, and `body.kind` says which came. */
export interface MultipartSpec<Json extends z.ZodType = z.ZodType> {
  readonly multipart: true;
  readonly json?: Json;
  /** For the reference: what the fields of the form are. */
  readonly fields?: Readonly<
    Record<string, { readonly description: string; readonly file?: true; readonly required?: true }>
  >;
  readonly partLimits?: Partial<MultipartLimits>;
}
/** Bytes of these content types, unread; with `json` a JSON body as well. */
export interface RawSpec<Json extends z.ZodType = z.ZodType> {
  readonly raw: readonly string[];
  readonly json?: Json;
  /** The body may be gzipped; it is handed over as it comes, and the header says so. */
  readonly gzip?: true;
}
export type BodySpec = z.ZodType | MultipartSpec | RawSpec;

export interface MultipartBody {
  readonly kind: "multipart";
  /** Once only; read each file before asking for the next part. */
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
  /** Of an answer that is not JSON. */
  readonly contentType?: string;
  /** Others that it may have, by the Accept header. */
  readonly alsoTypes?: readonly string[];
}
export type AnswerSpecs = Readonly<Record<number, AnswerSpec>>;

/**
 * What a handler may send as the body, by the schemas that its route declares. What has no schema is not checked; a 204 and a 304 have
 * no body.
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
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
  /** Aborted when the server begins to close: answers without end (server-sent events) end then; others finish. */
  readonly closing: AbortSignal;
  readonly raw: Request;
  /** Adds to the line that the log has of this request; never a secret, never content. */
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
  /** Errors that a client should know of: a problem unless there is a schema, which is for facades that have errors of their own form. */
  readonly errors?: Errors;
  readonly limits?: { readonly bodyBytesMax?: number };
  /** POST only: an Idempotency-Key makes a repetition answer what the first time answered. */
  readonly idempotent?: boolean;
  /** A POST that only reads (search): keys that may only read may use it. */
  readonly readOnlyOk?: boolean;
  /**
   * What its entry in the audit log says. By method and operationId when absent, so that every change is recorded; `none` for what
   * changes nothing, or records it elsewhere.
   */
  readonly audit?: CallVerb;
  /** A change of method that takes If-Match; for the reference. */
  readonly conditional?: boolean;
  /**
   * Of a facade whose clients cannot be changed: takes a key without a scheme, or in the header Api-Key; JSON under any content type, also
   * with a DELETE; and query parameters that it does not know, which it ignores.
   */
  readonly lenient?: boolean;
  /** Of a facade: the status of an error, where it is not that of its code; asked for every error, as `errorBody` is. */
  errorStatus?(error: PinakesError, headers: Headers): number;
  /** The key may also come as the password of Basic credentials, from clients that can send nothing else. */
  readonly basicOk?: boolean;
  /** Of a facade that has errors of its own form: also those that end a request before the handler, such as a body that is no JSON. */
  errorBody?(error: PinakesError): object;
  handler(
    request: RouteRequest<z.output<Params>, z.output<Query>, BodyOf<Body>, A>,
  ): Promise<Answer<SentBy<Answers> | SentBy<Errors>>> | Answer<SentBy<Answers> | SentBy<Errors>>;
}

/** A declared route, its types forgotten: what mount and the reference work with. */
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
/** Of a whole form, or of a raw body; a route that takes less says so. */
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
    // Strict whatever was declared: a parameter that is not known is a mistake of the client that it wants to hear of.
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
  invariant(/^[a-z]\w*$/i.test(operationId), "INTERNAL", `${where}: an operationId is letters and digits.`);
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
    `${where}: answers declares what goes well (2xx, 3xx).`,
  );
  invariant(
    Object.keys(errors).every((status) => Number(status) >= 400),
    "INTERNAL",
    `${where}: errors declares what does not go well (4xx, 5xx).`,
  );
}
