/** Validates an append and sets defaults: the messages as they will be stored, and the conditions for them. */
import type { AppendOptions } from "@pinakes/client";
import type { Caller } from "../../domain/caller.ts";
import { invalid, show } from "../../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import { refuseMisplaced } from "../misplaced.ts";
import { derivedMessageId } from "./derived-id.ts";
import { checkMessageCount, memoryLimits } from "./limits.ts";
import { completeMemory, memoryFields } from "./schema.ts";

export interface NewMessage {
  readonly id: string;
  readonly sessionId: string;
  readonly document: JsonObject;
}

export interface AppendPlan {
  readonly agentId: string;
  readonly messages: readonly NewMessage[];
  /** The caller's option for new sessions; undefined: keep. */
  readonly unit: "message" | "session" | undefined;
  /** Parents outside of this call. */
  readonly parents: readonly string[];
  readonly key: string | undefined;
}

export interface PlanContext {
  readonly caller: Caller;
  readonly now: number;
  readonly options: AppendOptions;
}

export function planAppend(agentId: string, inputs: readonly unknown[], context: PlanContext): AppendPlan {
  const { options } = context;
  checkMessageCount(inputs, memoryLimits.appendMessagesMax);
  const key = checkKey(options.idempotencyKey);
  const messages = inputs.map((input: unknown, i) => newMessage(agentId, input, i, { ...context, key }));
  const ids = new Set(messages.map(({ id }) => id));
  if (ids.size < messages.length) throw invalid("id: two of the messages have the same id.");
  return { agentId, messages, unit: checkUnit(messages, options.ttlUnit), parents: outsideParents(messages), key };
}

/** The deterministic id of a message of a call with an idempotency key. */
export function derivedId(caller: Caller, agentId: string, key: string, index: number): string {
  return derivedMessageId(["append", caller.userId, agentId, key, index]);
}

function newMessage(
  agentId: string,
  input: unknown,
  index: number,
  { caller, now, key }: PlanContext & { readonly key: string | undefined },
): NewMessage {
  if (!isJsonObject(input))
    throw invalid(`messages[${index}]: must be an object with session_id, content and message_type.`);
  const { agent_id = agentId } = input;
  if (agent_id !== agentId)
    throw invalid(`agent_id: the message is of agent ${show(agent_id)}, but the call is for ${show(agentId)}.`);
  refuseMisplaced(input, memoryFields);
  const { id = key === undefined ? undefined : derivedId(caller, agentId, key, index), ...rest } = input;
  const document = completeMemory(
    { ...(id === undefined ? {} : { id }), agent_id: agentId, ...rest },
    { tenant: caller.scope.tenant, now },
  );
  return { id: document["id"] as string, sessionId: document["session_id"] as string, document };
}

/** From the option, or from the messages, which may have it as a property. */
function checkUnit(messages: readonly NewMessage[], option: unknown): AppendPlan["unit"] {
  const said = new Set(
    [option, ...messages.map(({ document }) => document["ttl_unit"])].filter((unit) => unit !== undefined),
  );
  if (said.size > 1) throw invalid("ttl_unit: all messages of a call, and its option, must have the same value.");
  const [unit] = said;
  if (unit === undefined || unit === "message" || unit === "session") return unit;
  throw invalid(`ttl_unit: must be "message" or "session", got ${show(unit)}.`);
}

/** A parent in the same call must come first: threads are ordered. */
function outsideParents(messages: readonly NewMessage[]): readonly string[] {
  const before = new Set<string>();
  const ids = new Set(messages.map(({ id }) => id));
  const outside = new Set<string>();
  for (const { id, document } of messages) {
    const parent = document["parent_message_id"] as string | null;
    if (parent !== null && ids.has(parent) && !before.has(parent))
      throw invalid(`parent_message_id: ${show(parent)} comes after its reply ${show(id)}; put parents first.`);
    if (parent !== null && !ids.has(parent)) outside.add(parent);
    before.add(id);
  }
  return [...outside];
}

function checkKey(key: unknown): string | undefined {
  if (key === undefined) return undefined;
  if (typeof key === "string" && key.length >= 1 && key.length <= memoryLimits.idempotencyKeyCharsMax) return key;
  throw invalid(
    `idempotencyKey: must be a string of 1–${memoryLimits.idempotencyKeyCharsMax} characters, got ${show(key)}.`,
  );
}
