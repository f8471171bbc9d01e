/** The OpenAPI 3.1 document of a list of routes. It is deterministic, whatever the order of the routes. */
import { problemReasons } from "@pinakes/client";
import type { z } from "zod";
import { csrfHeader, sessionCookieNameDefault } from "../credentials.ts";
import { SchemaBook, type JsonSchema } from "./openapi-schemas.ts";
import { comparePaths } from "../path-template.ts";
import { isSchema, type BodySpec, type Route } from "../route.ts";

export interface ApiInfo {
  readonly title: string;
  readonly version: string;
  readonly description?: string;
  /** In display order; others follow by name. */
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly sessionCookieName?: string;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
}
export type Content = Readonly<Record<string, { readonly schema?: JsonSchema }>>;
export interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly description: string; readonly schema: JsonSchema }>>;
  readonly content?: Content;
}
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, ResponseObject | { readonly $ref: string }>>;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
}
export interface OpenApiDocument {
  readonly openapi: "3.1.0";
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description?: string;
    readonly license: { readonly name: string; readonly identifier: string };
  };
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly responses: Readonly<Record<string, ResponseObject>>;
    readonly securitySchemes: Readonly<Record<string, object>>;
  };
}

const methodOrder = ["GET", "POST", "PUT", "PATCH", "DELETE"];

export function openApi(routes: readonly Route[], info: ApiInfo): OpenApiDocument {
  const book = new SchemaBook();
  const sorted = routes.toSorted(
    (a, b) => comparePaths(a.path, b.path) || methodOrder.indexOf(a.method) - methodOrder.indexOf(b.method),
  );
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of sorted) {
    const item = (paths[route.path.text] ??= {});
    item[route.method.toLowerCase()] = operation(route, book);
  }
  const { title, version, description } = info;
  return book.merged<OpenApiDocument>({
    openapi: "3.1.0",
    info: {
      title,
      version,
      ...(description === undefined ? {} : { description }),
      license: { name: "Apache License 2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/", description: "The server that provides this document." }],
    tags: tagsOf(routes, info),
    paths,
    components: {
      schemas: { ...book.components(), Problem: problemSchema },
      responses: {
        Problem: {
          description: "What went wrong, and what to do about it.",
          content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
        },
      },
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "An API key, or a JWT of the configured issuer." },
        session: {
          type: "apiKey",
          in: "cookie",
          name: info.sessionCookieName ?? sessionCookieNameDefault,
          description: `A session of the console; write requests also send ${csrfHeader}.`,
        },
      },
    },
  });
}

function operation(route: Route, book: SchemaBook): Operation {
  const parameters = parametersOf(route, book);
  const { body } = route;
  return {
    operationId: route.operationId,
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    tags: [route.tag],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: !(isSchema(body) && body.safeParse(undefined).success),
            content: bodyContent(body, book, `${pascal(route.operationId)}Body`),
          },
        }),
    responses: responsesOf(route, book),
    security: route.auth === "public" ? [] : [{ bearer: [] }, { session: [] }],
  };
}

function parametersOf(route: Route, book: SchemaBook): Parameter[] {
  const inPath = route.path.parameters.map((name) => parameter(name, "path", route.params, book));
  const inQuery = Object.keys(route.query.shape).map((name) => parameter(name, "query", route.query, book));
  const headers: Parameter[] = [];
  if (route.idempotent)
    headers.push(
      header("Idempotency-Key", "A repeated request with the same key returns the first response, for 24 hours."),
    );
  if (route.conditional && route.method !== "GET")
    headers.push(header("If-Match", "The etag from the last read: the change is made only if it is still current."));
  if (route.method === "GET" && route.conditional)
    headers.push(header("If-None-Match", "A known etag: 304 if it is still current."));
  return [...inPath, ...inQuery, ...headers];
}

function parameter(name: string, place: "path" | "query", schemas: z.ZodObject, book: SchemaBook): Parameter {
  const schema = schemas.shape[name] as z.ZodType;
  const { description, ...json } = book.inline(schema, "input", `${pascal(name)}Parameter`);
  return {
    name,
    in: place,
    required: place === "path" || !schema.safeParse(undefined).success,
    ...(typeof description === "string" ? { description } : {}),
    schema: json,
  };
}

/** `search-all` and `searchAll` as the prefix of a schema name. */
function pascal(name: string): string {
  return name.replaceAll(/(?:^|\W|_)+(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function header(name: string, description: string): Parameter {
  return { name, in: "header", required: false, description, schema: { type: "string" } };
}

function bodyContent(body: BodySpec, book: SchemaBook, called: string): Content {
  if (isSchema(body)) return { "application/json": { schema: book.inline(body, "input", called) } };
  const json =
    body.json === undefined ? {} : { "application/json": { schema: book.inline(body.json, "input", called) } };
  if ("raw" in body) return { ...Object.fromEntries(body.raw.map((type) => [type, {}])), ...json };
  const fields = Object.entries(body.fields ?? { file: { description: "One or more files.", file: true as const } });
  const required = fields.filter(([, field]) => "required" in field).map(([name]) => name);
  const properties = Object.fromEntries(
    fields.map(([name, { description, file }]): [string, JsonSchema] => [
      name,
      file === true
        ? { type: "array", description, items: { type: "string", contentMediaType: "application/octet-stream" } }
        : { type: "string", description },
    ]),
  );
  return {
    "multipart/form-data": { schema: { type: "object", properties, ...(required.length === 0 ? {} : { required }) } },
    ...json,
  };
}

function responsesOf(route: Route, book: SchemaBook): Operation["responses"] {
  const responses: Record<string, ResponseObject | { readonly $ref: string }> = {};
  for (const [status, { description, schema, contentType, alsoTypes = [] }] of Object.entries(route.answers)) {
    const content: Content =
      contentType === undefined && schema === undefined
        ? {}
        : {
            [contentType ?? "application/json"]:
              schema === undefined
                ? {}
                : { schema: book.inline(schema, "output", `${pascal(route.operationId)}Answer`) },
          };
    const all: Content = { ...content, ...Object.fromEntries(alsoTypes.map((type) => [type, {}])) };
    responses[status] = { description, ...(Object.keys(all).length === 0 ? {} : { content: all }) };
  }
  for (const [status, { description, schema }] of Object.entries(route.errors)) {
    const content: Content =
      schema === undefined
        ? { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } }
        : { "application/json": { schema: book.inline(schema, "output", `${pascal(route.operationId)}Error`) } };
    responses[status] = { description, content };
  }
  responses["default"] = { $ref: "#/components/responses/Problem" };
  return responses;
}

function tagsOf(routes: readonly Route[], info: ApiInfo): OpenApiDocument["tags"] {
  const used = new Set(routes.map(({ tag }) => tag));
  const described = (info.tags ?? []).filter(({ name }) => used.has(name));
  const rest = [...used].filter((name) => !described.some((tag) => tag.name === name)).toSorted();
  return [...described, ...rest.map((name) => ({ name }))];
}

const problemSchema: JsonSchema = {
  type: "object",
  description: "An error (RFC 9457).",
  properties: {
    type: { type: "string", description: "Identifies the problem type." },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string", description: "What happened and what to do." },
    code: { type: "string", description: "The error code, for programs." },
    reason: {
      enum: problemReasons,
      description: "The specific reason, if several share the code.",
    },
    field: { type: "string", description: "The field that the detail is about." },
    retryable: { type: "boolean", description: "Whether the same request may succeed later." },
    request_id: { type: "string", description: "Identifies the request in the server's log." },
    errors: {
      type: "array",
      description: "All errors in the request.",
      items: {
        type: "object",
        properties: { path: { type: "string" }, message: { type: "string" } },
        required: ["path", "message"],
      },
    },
    current_etag: { type: "string", description: "With 412: the current etag of the resource." },
  },
  required: ["type", "title", "status", "detail", "code", "retryable", "request_id"],
};
