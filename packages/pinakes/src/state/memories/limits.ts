/** Limits of memories and threads. */
import { PinakesError, invalid } from "../../domain/errors.ts";

export const memoryLimits = Object.freeze({
  /** Messages per append; they form one batch, with their conditions. */
  appendMessagesMax: 20,
  /** Operations per batch, on every engine: messages, their sessions, and outside parents. */
  batchOperationsMax: 25,
  agentIdCharsMax: 256,
  sessionIdCharsMax: 256,
  idempotencyKeyCharsMax: 255,
  ancestorsMax: 1_000,
  childrenMax: 1_000,
  contextTokensMax: 100_000_000,
  /** Maximum messages of a context, regardless of their tokens. */
  contextMessagesMax: 5_000,
  /** For `relevance`: number of the newest messages that are ranked. */
  relevanceMessagesMax: 10_000,
  /** System messages at the start of a session that stay in every context. */
  openingMessagesMax: 20,
  agentsPageDefault: 20,
  agentsPageMax: 100,
  /** Agents that one list call examines, including invisible ones. */
  lookedAtAgentsMax: 100,
  /** Pages that one list call reads to find the first and last visible messages: two per agent with none. */
  agentsMessagePagesMax: 200,
  agentsMessagePageItems: 25,
  sessionsPageDefault: 20,
  sessionsPageMax: 100,
  searchHitsDefault: 10,
  searchHitsMax: 100,
  searchQueryCharsMax: 10_000,
  /** Messages per append to a thread. */
  threadMessagesMax: 20,
});

export function checkMessageCount(messages: readonly unknown[], max: number): void {
  if (!Array.isArray(messages) || messages.length === 0)
    throw invalid("messages: must be a list with at least one message.");
  if (messages.length > max)
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `messages: ${messages.length} in one call; at most ${max} are appended together. Send them in several calls.`,
    );
}
