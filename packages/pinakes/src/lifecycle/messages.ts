/**
 * Requests to stores and their replies (RFC 0007, "Messages"). LISA's message `{ operation, user, collection, timestamp }` is a valid
 * request; ours have more fields, to match a reply with its request.
 */
import { z } from "zod";
import { lifecycleLimits } from "./limits.ts";
import type { ReplyError } from "./operation.ts";

const text = z.string().min(1).max(lifecycleLimits.messageTextCharsMax);
const count = z.number().int().min(0);

/** The fields of LISA's message. */
const request = { operation: text, user: text, collection: text, timestamp: text };
/** Additional fields of ours: incarnation, workspace, and attempt. */
const matched = {
  operation_id: text,
  incarnation: text,
  store: text,
  attempt: count,
  workspace_id: text,
  repository_id: text,
};

const Request = z.union([
  z.object({ ...request, ...matched }),
  // On Pulsar it travels without a time, which is information only.
  z.object({ ...request, timestamp: text.optional(), operation_id: z.undefined().optional() }),
]);
const Reply = z.object({
  ...request,
  ...matched,
  success: z.boolean(),
  error: z.object({ type: text, message: z.string() }).nullable(),
  deleted: count,
  // Absent if the store could not count.
  remaining: count.nullable().optional(),
  duration_ms: count,
  working: z.boolean().optional(),
});

export type ManagementRequest = z.output<typeof Request>;
export type MatchedRequest = Extract<ManagementRequest, { readonly operation_id: string }>;
export type ManagementReply = z.output<typeof Reply>;

/** A message that no handler can ever process: it becomes a dead letter with this reason. */
export class Malformed extends Error {
  override readonly name = "Malformed";
}

export function readRequest(body: unknown): ManagementRequest {
  return read(Request, body, '{ "operation", "user", "collection", "timestamp" }');
}

export function readReply(body: unknown): ManagementReply {
  return read(Reply, body, "a store's reply");
}

/** LISA's requests have no fields to match a reply with, but get one nevertheless. */
export interface PlainReply {
  readonly operation: string;
  readonly user: string;
  readonly collection: string;
  readonly timestamp: string;
  readonly store: string;
  readonly success: boolean;
  readonly error: ReplyError | null;
  readonly deleted: number;
  /** Absent: not counted. */
  readonly remaining?: number | null | undefined;
  readonly duration_ms: number;
}

export function isMatched(reply: unknown): boolean {
  return typeof reply === "object" && reply !== null && "operation_id" in reply;
}

function read<Schema extends z.ZodType>(schema: Schema, body: unknown, form: string): z.output<Schema> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const issues = result.error.issues
    .slice(0, 3)
    .map(({ path, message }) => `${path.length === 0 ? "the message" : path.map(String).join(".")}: ${message}`);
  throw new Malformed(`This is not ${form}: ${issues.join("; ")}.`);
}
