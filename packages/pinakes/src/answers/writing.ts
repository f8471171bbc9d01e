/** How a chat model writes: what the interfaces of chat models let a caller choose. None of it changes what is checked. */
import type { ChatMessage, ChatUsage } from "../ports/chat-model.ts";

export interface Writing {
  /** The caller's own: tone, language, form. */
  readonly instructions?: string | undefined;
  /** Earlier messages, the oldest first. */
  readonly history?: readonly ChatMessage[] | undefined;
  readonly tokensMax?: number | undefined;
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  /** Called at most once, at the end, where the provider counts. */
  readonly onUsage?: ((usage: ChatUsage) => void) | undefined;
}
