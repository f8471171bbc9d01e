/** Style options that the interfaces of chat models let a caller choose. None of them changes what is checked. */
import type { ChatMessage, ChatUsage } from "../ports/chat-model.ts";

export interface Writing {
  /** The caller's own instructions: tone, language, form. */
  readonly instructions?: string | undefined;
  /** Earlier messages, oldest first. */
  readonly history?: readonly ChatMessage[] | undefined;
  readonly tokensMax?: number | undefined;
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  /** Called at most once, at the end, if the provider reports usage. */
  readonly onUsage?: ((usage: ChatUsage) => void) | undefined;
}
