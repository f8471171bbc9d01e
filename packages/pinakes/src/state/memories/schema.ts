/** The stored message: schema, defaults, and the view for readers. */
import { randomUUID } from "node:crypto";
import { messageTypes, ttlUnits, type Memory, type Stored } from "@pinakes/client";
import { z } from "zod";
import { timestamp } from "../../containers/index.ts";
import { validateDocument } from "../../containers/validate.ts";
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import { isJsonObject, utf8Bytes, type JsonObject } from "../../domain/json.ts";
import { withoutSystemProperties } from "../../domain/system-properties.ts";
import { checkItemTtl } from "../../domain/ttl.ts";
import type { Item } from "../../ports/item-store.ts";
import { companionField, reservedIdPrefix } from "../system-container.ts";
import { memoryLimits } from "./limits.ts";

export const memoriesContainer = "agent-memories";

export const relevanceDefault = 0.5;
const bytesPerToken = 4;

const metadataSchema = z.looseObject({
  tool_name: z.string().nullable().default(null),
  tool_args: z.record(z.string(), z.json()).nullable().default(null),
  tool_result: z.json().default(null),
  reasoning_chain: z.array(z.string()).default([]),
  tags: z.array(z.string()).default([]),
  // The original schema has no null here: the empty string and 0 mean "unknown".
  model: z.string().default(""),
  temperature: z.number().default(0),
  user_id: z.string().nullable().default(null),
});

/** Properties without effect at the top level of a message. */
export const memoryFields = { metadata: Object.keys(metadataSchema.shape) };

export const memorySchema = z.looseObject({
  id: z.string().min(1),
  agent_id: z.string().min(1).max(memoryLimits.agentIdCharsMax),
  session_id: z.string().min(1).max(memoryLimits.sessionIdCharsMax),
  workspace_id: z.string(),
  content: z.string(),
  message_type: z.enum(messageTypes),
  timestamp: timestamp(),
  relevance_score: z.number().min(0).max(1).default(relevanceDefault),
  token_count: z.int().min(0),
  parent_message_id: z.string().min(1).nullable().default(null),
  metadata: metadataSchema.prefault({}),
  created_at: timestamp(),
  /** Stored `session`: all messages of the session expire together; then `ttl` is -1 and the session's companion decides. */
  ttl_unit: z.enum(ttlUnits).optional(),
});

/** Internal fields of a message, invisible to readers. */
export const orderField = "pinakes_order";
export const forkField = "pinakes_fork";
export const ownFields: readonly string[] = [orderField, forkField];

export interface Surroundings {
  readonly tenant: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/**
 * A validated message with defaults. Unknown properties are kept; system and internal properties are dropped and
 * set by the code that stores the message.
 */
export function completeMemory(input: unknown, { tenant, now }: Surroundings): JsonObject {
  if (!isJsonObject(input)) throw invalid("A message must be an object with session_id, content and message_type.");
  const given = withoutOwnFields(withoutSystemProperties(input));
  const time = new Date(now).toISOString();
  const { id, ...rest } = given;
  const document = {
    id: id ?? `msg-${randomUUID()}`,
    ...rest,
    ...(given["workspace_id"] === undefined ? { workspace_id: tenant } : {}),
    ...(given["timestamp"] === undefined ? { timestamp: time } : {}),
    ...(given["token_count"] === undefined ? { token_count: estimateTokens(given["content"]) } : {}),
    ...(given["created_at"] === undefined ? { created_at: time } : {}),
  };
  checkItemTtl(document["ttl" as never]);
  requireWorkspace(document.workspace_id, tenant);
  const complete = validateDocument(memoriesContainer, memorySchema, document);
  requireOwnId(complete["id"]);
  if (complete["parent_message_id"] === complete["id"])
    throw invalid("parent_message_id: a message cannot be its own parent.");
  return complete;
}

/** Estimate: four bytes of text per token. */
export function estimateTokens(content: unknown): number {
  return typeof content === "string" ? Math.ceil(utf8Bytes(content) / bytesPerToken) : 0;
}

export function requireWorkspace(workspace: unknown, tenant: string): void {
  if (workspace === tenant) return;
  throw new PinakesError(
    "FORBIDDEN",
    `workspace_id: must be your own workspace ("${tenant}") or omitted, got ${show(workspace)}.`,
  );
}

export function requireOwnId(id: unknown): void {
  if (typeof id === "string" && id.startsWith(reservedIdPrefix))
    throw invalid(`id: ids that start with "${reservedIdPrefix}" are reserved; choose another, or omit it.`);
}

function withoutOwnFields(document: JsonObject): JsonObject {
  const own = [...ownFields, companionField].filter((name) => Object.hasOwn(document, name));
  return own.length === 0
    ? document
    : Object.fromEntries(Object.entries(document).filter(([name]) => !own.includes(name)));
}

/** The view for readers. */
export function viewOf({ document, etag, modifiedAt }: Pick<Item, "document" | "etag" | "modifiedAt">): Stored<Memory> {
  return {
    ...withoutOwnFields(document),
    _etag: etag,
    _ts: Math.floor(modifiedAt / 1000),
  } as unknown as Stored<Memory>;
}
