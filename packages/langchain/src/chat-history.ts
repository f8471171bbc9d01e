/** A chat history of LangChain on a thread of Pinakes: each message is one of the thread's, whole, as LangChain stores it. */
import { BaseListChatMessageHistory } from "@langchain/core/chat_history";
import {
  mapChatMessagesToStoredMessages,
  mapStoredMessagesToChatMessages,
  type BaseMessage,
  type StoredMessage,
} from "@langchain/core/messages";
import { inBatches, type JsonObject, type StateApi, type ThreadsApi } from "@pinakes/client";

export interface PinakesChatHistoryInput {
  /** `client.api` of a client, or any StateApi. */
  readonly api: Pick<StateApi, "threads">;
  readonly sessionId: string;
}

const messageKind = "langchain-message";
const pageItems = 100;

/**
 * @example
 * new RunnableWithMessageHistory({
 *   runnable: chain,
 *   getMessageHistory: (sessionId) => new PinakesChatHistory({ api: client.api, sessionId }),
 * });
 */
export class PinakesChatHistory extends BaseListChatMessageHistory {
  override lc_namespace = ["pinakes", "chat_history"];
  readonly #threads: ThreadsApi;
  readonly #sessionId: string;

  constructor({ api, sessionId }: PinakesChatHistoryInput) {
    super();
    this.#threads = api.threads;
    this.#sessionId = sessionId;
  }

  /** In insertion order. Other data in the thread is ignored. */
  override async getMessages(): Promise<BaseMessage[]> {
    const stored: StoredMessage[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.#threads.list(this.#sessionId, { limit: pageItems, cursor });
      for (const { kind, message } of page.items as readonly JsonObject[])
        if (kind === messageKind) stored.push(message as unknown as StoredMessage);
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    return mapStoredMessagesToChatMessages(stored);
  }

  override async addMessage(message: BaseMessage): Promise<void> {
    await this.addMessages([message]);
  }

  /** Up to 20 messages and 1 MB all or none; more of them in several steps. */
  override async addMessages(messages: BaseMessage[]): Promise<void> {
    const stored = JSON.parse(JSON.stringify(mapChatMessagesToStoredMessages(messages))) as StoredMessage[];
    mapStoredMessagesToChatMessages(stored); // A kind that LangChain could not read again is refused here.
    const documents = stored.map((message) => ({
      // The same id when the call is repeated on a broken connection, so a message is never there twice.
      id: crypto.randomUUID(),
      kind: messageKind,
      message: message as unknown as JsonObject,
    }));
    for (const batch of inBatches(documents)) await this.#threads.appendMany(this.#sessionId, batch);
  }

  override async clear(): Promise<void> {
    await this.#threads.clear(this.#sessionId);
  }
}
