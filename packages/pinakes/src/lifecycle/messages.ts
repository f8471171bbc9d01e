/**
 * Requests to stores and their replies (RFC 0007, "Messages"). The source's message, `{ operation, user, collection, timestamp }`, is a
 * request as it is; ours say more, so that a reply can be matched with what was asked.
 */
import { z } from "zod";
import { lifecycleLimits } from "./limits.ts";
import type { ReplyError } from "./operation.ts";

const text = z.string().min(1).max(lifecycleLimits.messageTextCharsMax);
const count = z.number().int().min(0);

/** What the source's message has. */
const asked = { operation: text, user: text, collection: text, timestamp: text };
/** What ours have beside it: which life, on whose behalf, and which try. */
const matched = {
  operation_id: text,
  incarnation: text,
  store: text,
  attempt: count,
  workspace_id: text,
  repository_id: text,
};

const Request = z.union([
  z.object({ ...asked, ...matched }),
  z.object({ ...asked, operation_id: z.undefined().optional() }),
]);
const Reply = z.object({
  ...asked,
  ...matched,
  success: z.boolean(),
  error: z.object({ type: text, message: z.string() }).nullable(),
  deleted: count,
  // A store that could not count leaves it out.
  remaining: count.nullable().optional(),
  duration_ms: count,
  working: z.boolean().optional(),
});

export type ManagementRequest = z.output<typeof Request>;
export type MatchedRequest = Extract<ManagementRequest, { readonly operation_id: string }>;
export type ManagementReply = z.output<typeof Reply>;

/** A message that no handler will ever understand: it becomes a dead letter with this reason. */
export class Malformed extends Error {
  override readonly name = "Malformed";
}

export function readRequest(body: unknown): ManagementRequest {
  return read(Request, body, '{ "operation", "user", "collection", "timestamp" }');
}

export function readReply(body: unknown): ManagementReply {
  return read(Reply, body, "a reply of a store");
}

/** A request of the source has no one to match a reply with, and gets one all the same. */
export interface PlainReply {
  readonly operation: string;
  readonly user: string;
  readonly collection: string;
  readonly timestamp: string;
  readonly store: string;
  readonly success: boolean;
  readonly error: ReplyError | null;
  readonly deleted: number;
  /** Absent: it was not counted. */
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
