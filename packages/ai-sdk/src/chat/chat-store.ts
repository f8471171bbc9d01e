/**
 * Chats of the AI SDK: the functions of its guide on message persistence, on Pinakes' threads. A chat is a thread, a message is a
 * message of it under its own id.
 */
import {
  inBatches,
  type JsonObject,
  type Page,
  type Paging,
  PinakesClientError,
  type StateApi,
  type Stored,
  type ThreadMessage,
} from "@pinakes/client";
import { generateId, type UIMessage } from "ai";
import { fromDocument, isSameMessage, toDocument } from "./ui-document.ts";

export interface ChatStoreOptions {
  /** Generates ids of new chats. Default: `generateId` of the AI SDK. */
  readonly generateId?: (() => string) | undefined;
}

export interface ChatStore<Message extends UIMessage = UIMessage> {
  /** Creates an empty chat and returns its id. CONFLICT if the id is in use. */
  createChat(options?: {
    readonly chatId?: string | undefined;
    readonly metadata?: JsonObject | undefined;
  }): Promise<string>;
  /** All messages in order; none for a chat that does not exist. */
  loadChat(chatId: string): Promise<Message[]>;
  /**
   * Stores the messages: new ones are appended, changed ones replaced in place, and stored ones missing from the list between its first and
   * last message removed. Saving the same list again changes nothing.
   */
  saveChat(chat: { readonly chatId: string; readonly messages: readonly Message[] }): Promise<void>;
  listMessages(
    chatId: string,
    query?: Paging & { readonly order?: "asc" | "desc" | undefined },
  ): Promise<Page<Message>>;
  deleteChat(chatId: string): Promise<{ readonly deleted: number }>;
}

/** The container behind `threads`. */
const threadContainer = "thread-message-store";
const headerId = "pinakes.chat";
const pageItems = 100;
/** Savers of one chat take turns; more turns than this means that something else is wrong. */
const attemptsMax = 50;
const pauseMsMax = 50;

/**
 * @example
 * const chats = createChatStore(api);
 * const chatId = await chats.createChat();
 * await chats.saveChat({ chatId, messages });
 */
export function createChatStore<Message extends UIMessage = UIMessage>(
  api: Pick<StateApi, "threads" | "containers">,
  options: ChatStoreOptions = {},
): ChatStore<Message> {
  const newId = options.generateId ?? generateId;
  return {
    createChat: async ({ chatId = newId(), metadata = {} } = {}) => {
      // The token makes the content unique, so that a second create is a conflict and not a repetition.
      await api.threads.append(chatId, {
        id: headerId,
        kind: "chat",
        metadata,
        created_at: new Date().toISOString(),
        token: crypto.randomUUID(),
      });
      return chatId;
    },
    loadChat: async (chatId) =>
      (await storedMessages(api, chatId)).flatMap((document) => fromDocument<Message>(document) ?? []),
    saveChat: async ({ chatId, messages }) => save(api, chatId, messages.map(toDocument)),
    listMessages: async (chatId, query) => {
      const page = await api.threads.list(chatId, query);
      return {
        items: page.items.flatMap((document) => fromDocument<Message>(document) ?? []),
        next_cursor: page.next_cursor,
      };
    },
    deleteChat: (chatId) => api.threads.clear(chatId),
  };
}

type Api = Pick<StateApi, "threads" | "containers">;

async function storedMessages(api: Api, chatId: string): Promise<Stored<ThreadMessage>[]> {
  const documents: Stored<ThreadMessage>[] = [];
  let cursor: string | undefined;
  do {
    const page = await api.threads.list(chatId, { limit: pageItems, cursor });
    documents.push(...page.items.filter((document) => fromDocument(document) !== undefined));
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return documents;
}

/** A concurrent save of the same chat makes a step fail; then the stored chat is read and the plan is recomputed. */
async function save(api: Api, chatId: string, given: readonly Given[]): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const plan = planSave(await storedMessages(api, chatId), given);
    try {
      await carryOut(api, chatId, plan);
      return;
    } catch (error) {
      if (!isRace(error) || attempt === attemptsMax) throw error;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(pauseMsMax, attempt * 2)));
    }
  }
}

/** Additions before removals: wherever this stops, no message of the list is missing, and saving again completes it. */
async function carryOut(api: Api, chatId: string, plan: SavePlan): Promise<void> {
  for (const { stored, given } of plan.replace) {
    const { _etag, _ts, ...kept } = stored;
    await api.containers.replace(threadContainer, { ...kept, ...given }, { ifMatch: _etag });
  }
  for (const batch of inBatches(plan.append)) await api.threads.appendMany(chatId, batch);
  for (const { id, _etag } of plan.remove) await removeOnce(api, chatId, id, _etag);
}

async function removeOnce(api: Api, chatId: string, id: string, ifMatch: string): Promise<void> {
  try {
    await api.threads.deleteMessage(chatId, id, { ifMatch });
  } catch (error) {
    if (codeOf(error) !== "NOT_FOUND") throw error;
  }
}

const isRace = (error: unknown) => ["CONFLICT", "PRECONDITION_FAILED", "NOT_FOUND"].includes(codeOf(error) ?? "");

function codeOf(error: unknown): string | undefined {
  return typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : undefined;
}

/**
 * What saving a list of messages means for what is stored. The list is a window on the chat: from its first message to its last the
 * chat becomes the list, outside nothing is touched. So a whole chat can be saved again and again, a regenerated answer takes the
 * place of the old one, and a stale list, or one with only the new messages, deletes nothing.
 */
type Given = JsonObject & { readonly id: string };

interface SavePlan {
  readonly replace: readonly { readonly stored: Stored<ThreadMessage>; readonly given: Given }[];
  readonly append: readonly Given[];
  readonly remove: readonly Stored<ThreadMessage>[];
}

function planSave(stored: readonly Stored<ThreadMessage>[], given: readonly Given[]): SavePlan {
  const place = new Map(stored.map((document, index) => [document.id, index]));
  const kept = new Map<string, Given>();
  const append: Given[] = [];
  let last = -1;
  for (const message of given) {
    const at = place.get(message.id);
    if (kept.has(message.id) || append.some((other) => other.id === message.id))
      throw invalid(`The message "${message.id}" is in the list twice.`);
    if (at === undefined) append.push(message);
    else if (append.length > 0 || at < last) throw invalid(outOfOrder(message.id));
    else {
      kept.set(message.id, message);
      last = at;
    }
  }
  const first = given.length === 0 ? undefined : place.get(given[0]?.id ?? "");
  const end = append.length > 0 ? stored.length : last;
  return {
    replace: stored.flatMap((document) => {
      const message = kept.get(document.id);
      return message === undefined || isSameMessage(document, message) ? [] : [{ stored: document, given: message }];
    }),
    append,
    remove: first === undefined ? [] : stored.slice(first, end).filter((document) => !kept.has(document.id)),
  };
}

const outOfOrder = (id: string) =>
  `The message "${id}" is stored at another place of the chat than in the list. Messages keep the order in which they were first saved: load the chat, and add new messages at its end.`;

const invalid = (detail: string) => new PinakesClientError({ code: "INVALID", status: 400, detail });
