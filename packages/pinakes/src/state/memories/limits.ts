/** Every limit of memories and threads, with its unit last. */
import { PinakesError, invalid } from "../../domain/errors.ts";

export const memoryLimits = Object.freeze({
  /** Messages of one append; they are one batch, with what it checks. */
  appendMessagesMax: 20,
  /** Operations of one batch, on every engine: messages, their sessions, and parents outside of the call. */
  batchOperationsMax: 25,
  agentIdCharsMax: 256,
  sessionIdCharsMax: 256,
  idempotencyKeyCharsMax: 255,
  ancestorsMax: 1_000,
  childrenMax: 1_000,
  contextTokensMax: 100_000_000,
  /** What one context holds at most, also of messages that cost nothing. */
  contextMessagesMax: 5_000,
  /** By relevance, so many of the newest messages are weighed. */
  relevanceMessagesMax: 10_000,
  /** System messages that a session opens with and that stay in every context. */
  openingMessagesMax: 20,
  agentsPageDefault: 20,
  agentsPageMax: 100,
  /** Agents that one list looks at, with those of whom nobody sees anything. */
  lookedAtAgentsMax: 100,
  /** Pages of messages that one list of agents looks through for the first and the last that somebody sees: two of each agent without any. */
  agentsMessagePagesMax: 200,
  agentsMessagePageItems: 25,
  sessionsPageDefault: 20,
  sessionsPageMax: 100,
  searchHitsDefault: 10,
  searchHitsMax: 100,
  searchQueryCharsMax: 10_000,
  /** Messages of a thread in one append. */
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
