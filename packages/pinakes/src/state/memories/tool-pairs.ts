/**
 * Matches tool results to tool calls. Models reject a conversation with only one of them, so a context has both or neither.
 *
 * - A result whose parent is an earlier tool call of the session answers that call.
 * - Otherwise it is matched by position: a run of calls followed by a run of results, with nothing between.
 *   Results take the open calls of the same tool in order; if equally many of both remain, they are matched in order.
 */
import type { MessageType } from "@pinakes/client";
import type { Item } from "../../ports/item-store.ts";

/** The relevant fields of a message. */
export interface Said {
  readonly id: string;
  readonly type: MessageType;
  readonly tokens: number;
  readonly score: number;
  readonly parent: string | null;
  readonly tool: string | null;
}

export function saidOf({ id, document }: Item): Said {
  const { message_type, token_count, relevance_score, parent_message_id, metadata } = document as Record<
    string,
    unknown
  >;
  return {
    id,
    type: message_type as MessageType,
    tokens: token_count as number,
    score: relevance_score as number,
    parent: (parent_message_id as string | null | undefined) ?? null,
    tool: (metadata as { tool_name?: string | null } | undefined)?.tool_name ?? null,
  };
}

/** Stands for a call before the loaded messages. */
export const earlier = -1;

/**
 * For each message the index of the call that it answers; undefined if none. The messages are in order and start at a
 * seam; `earlierCalls` are the ids of calls before them.
 */
export function linkTools(
  messages: readonly Said[],
  earlierCalls: ReadonlySet<string> = new Set(),
): readonly (number | undefined)[] {
  const callOf = messages.map((): number | undefined => undefined);
  const calls = new Map<string, number>();
  const answered = new Set<number>();
  for (const [i, { id, type, parent }] of messages.entries()) {
    if (type === "tool_call") calls.set(id, i);
    if (type !== "tool_result" || parent === null) continue;
    callOf[i] = calls.get(parent) ?? (earlierCalls.has(parent) ? earlier : undefined);
    if (callOf[i] !== undefined) answered.add(callOf[i]);
  }
  for (let start = 0; start < messages.length;) {
    let end = start + 1;
    while (end < messages.length && !isSeam(messages, end)) end += 1;
    linkBlock(messages, callOf, answered, { start, end });
    start = end;
  }
  return callOf;
}

/** Whether nothing before index `i` can affect the matching of results from there on by position. */
export function isSeam(messages: readonly Said[], i: number): boolean {
  const [before, after] = [messages[i - 1], messages[i]];
  if (before === undefined || after === undefined || !isTool(before) || !isTool(after)) return true;
  return before.type === "tool_result" && after.type === "tool_call";
}

function isTool({ type }: Said): boolean {
  return type === "tool_call" || type === "tool_result";
}

function linkBlock(
  messages: readonly Said[],
  callOf: (number | undefined)[],
  answered: ReadonlySet<number>,
  { start, end }: { readonly start: number; readonly end: number },
): void {
  const open: number[] = [];
  const left: number[] = [];
  for (let i = start; i < end; i += 1) {
    const { type, tool } = messages[i] as Said;
    if (type === "tool_call" && !answered.has(i)) open.push(i);
    if (type !== "tool_result" || callOf[i] !== undefined) continue;
    const found = open.findIndex((call) => messages[call]?.tool === tool);
    if (found < 0) left.push(i);
    else callOf[i] = open.splice(found, 1)[0];
  }
  if (left.length === open.length) for (const [i, result] of left.entries()) callOf[result] = open[i];
}
