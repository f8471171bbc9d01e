/** What is recorded of a request in the audit log: which routes change something, and the outcome of each call. */
import type { AuditFace } from "@pinakes/client";
import type { AuditRecorder, CallEnd, CallVerb } from "../../governance/index.ts";
import type { Answer } from "./answer.ts";
import type { Context } from "hono";
import type { KitEnv } from "./context.ts";
import type { Method } from "./route.ts";

interface Declared {
  readonly method: Method;
  readonly path: string;
  readonly operationId: string;
  readonly readOnlyOk?: boolean | undefined;
  readonly audit?: CallVerb | undefined;
}

/** A route that changes something is recorded unless it declares `audit: "none"`, so recording cannot be forgotten. */
export function auditVerbOf({ method, path, operationId, readOnlyOk, audit }: Declared): CallVerb {
  if (audit !== undefined) return audit;
  if (/export/i.test(operationId)) return "export";
  if (method === "GET") return documentPath.test(path) ? "document" : "none";
  if (readOnlyOk === true) return "none";
  if (/^(?:\w+_)?(?:restore|unarchive)/i.test(operationId)) return "restore";
  if (method === "DELETE") return "delete";
  if (method === "PUT" || method === "PATCH") return "update";
  return /^(?:openAi|lisa|\w+_)?(?:create|add|upload|append|ingest|store|load|put)/i.test(operationId)
    ? "create"
    : "update";
}

/** A document, its bytes, text or chunks, under the names that each interface uses. */
const documentPath = /\{did\}|\/files\/\{file\}|\/downloads\/\{token\}/;

/** What a request contributes to its entry. */
export interface RequestTrace {
  params?: unknown;
  query?: unknown;
  answer?: Answer;
}

/** Ids in the response, besides those of the path. Values supplied by callers are never used. */
const answerFields = [
  "repository_id",
  "collection_id",
  "catalog_id",
  "document_id",
  "job_id",
  "operation_id",
  "migration_id",
  "pipeline_id",
  "evaluation_id",
  "key_id",
  "erasure_id",
  "hold_id",
  "export_id",
] as const;

export function requestEnd(tag: string, trace: RequestTrace, response: Response, failure: unknown): CallEnd {
  const purges = flag(trace.query, "purge");
  return {
    status: response.status,
    failure,
    fields: { ...idsIn(tag, trace.answer?.body), ...asFields(trace.params) },
    ...(purges ? { verb: "purge" as const } : {}),
  };
}

function idsIn(tag: string, body: unknown): Readonly<Record<string, unknown>> {
  // The id of an item is the caller's own text.
  if (tag === "containers") return {};
  const answer = asFields(body);
  const named = tag === "identity" ? [...answerFields, "user_id"] : answerFields;
  return Object.fromEntries(named.flatMap((name) => (name in answer ? [[name, answer[name]]] : [])));
}

function flag(query: unknown, name: string): boolean {
  const value = asFields(query)[name];
  return value === true || value === "true";
}

function asFields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** The first product of a user agent, such as `curl/8.5`: the rest is arbitrary text. */
export function userAgentOf(header: string | undefined): string | undefined {
  return /^[\w.+-]{1,40}(?:\/[\w.+-]{1,20})?/.exec(header ?? "")?.[0];
}

const faces: Readonly<Record<string, AuditFace>> = {
  openai: "openai",
  lisa: "lisa",
  trustgraph: "trustgraph",
  catalogs: "catalogs",
};

export function faceOf(tag: string): AuditFace {
  return faces[tag] ?? "http";
}

/** The parts of a recorded call that come from its request. */
export function requestOf(c: Context<KitEnv>, clientAddress: string) {
  return {
    auth: () => c.get("auth"),
    ip: clientAddress,
    userAgent: userAgentOf(c.req.header("user-agent")),
    requestId: c.get("requestId"),
  };
}

export type { AuditRecorder };
