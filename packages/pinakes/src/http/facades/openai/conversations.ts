/**
 * Conversations: each is a thread of the workspace (`/v1/threads/conv_…`), whose messages are its items, and an entity with the same id,
 * which has its metadata. The entity decides whether the conversation exists.
 */
import { requireCaller, type Caller } from "../../../domain/caller.ts";
import { PinakesError, show } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../domain/json.ts";
import { ifMissing } from "../../../runtime/expected-errors.ts";
import { timeOrderedId } from "../../../runtime/time-ordered-id.ts";
import type { State } from "../../../state/index.ts";
import { readItem, type ConversationItem } from "./conversation-items.ts";
import type { Metadata } from "./metadata.ts";

export interface Conversation {
  readonly id: string;
  readonly created_at: number;
  readonly metadata: Metadata;
}

export interface ItemQuery {
  readonly order?: "asc" | "desc" | undefined;
  readonly limit?: number | undefined;
  readonly after?: string | undefined;
}

const idPattern = /^conv_[0-9a-f]{32}$/;
const hexId = (): string => timeOrderedId(Date.now()).replaceAll("-", "");

export class Conversations {
  readonly #state: Pick<State, "threads" | "entities">;

  constructor(state: Pick<State, "threads" | "entities">) {
    this.#state = state;
  }

  async create(caller: Caller, metadata: Metadata, inputs: readonly unknown[]): Promise<Conversation> {
    const { tenant: _ } = requireCaller(caller);
    const items = inputs.map((input, i) => readItem(input, `items[${i}]`, hexId));
    const conversation = { id: `conv_${hexId()}`, created_at: Math.floor(Date.now() / 1_000), metadata };
    await this.#put(caller, conversation, "absent");
    if (items.length > 0) await this.#append(caller, conversation.id, items);
    return conversation;
  }

  async get(caller: Caller, id: string): Promise<Conversation> {
    const found = idPattern.test(id) ? await ifMissing(this.#state.entities.get(caller, id)) : undefined;
    if (found?.["type"] !== "conversation") throw noConversation(id);
    const { created_at, metadata } = found as unknown as Conversation;
    return { id, created_at, metadata };
  }

  async update(caller: Caller, id: string, metadata: Metadata): Promise<Conversation> {
    const changed = { ...(await this.get(caller, id)), metadata };
    await this.#put(caller, changed, "present");
    return changed;
  }

  /** Including its items. The items are deleted again after the entity, for those that were added meanwhile. */
  async delete(caller: Caller, id: string): Promise<void> {
    await this.get(caller, id);
    await this.#state.threads.clear(caller, id);
    await ifMissing(this.#state.entities.delete(caller, id));
    await this.#state.threads.clear(caller, id);
  }

  async addItems(caller: Caller, id: string, inputs: readonly unknown[]): Promise<readonly ConversationItem[]> {
    await this.get(caller, id);
    return this.#append(
      caller,
      id,
      inputs.map((input, i) => readItem(input, `items[${i}]`, hexId)),
    );
  }

  async items(
    caller: Caller,
    id: string,
    { order = "desc", limit = 20, after }: ItemQuery,
  ): Promise<{ readonly items: readonly ConversationItem[]; readonly more: boolean }> {
    await this.get(caller, id);
    const page = await this.#state.threads.list(caller, id, { order, limit, after });
    return { items: page.items.map(itemOf), more: page.next_cursor !== null };
  }

  async item(caller: Caller, id: string, itemId: string): Promise<ConversationItem> {
    await this.get(caller, id);
    return itemOf(await this.#state.threads.get(caller, id, itemId));
  }

  async deleteItem(caller: Caller, id: string, itemId: string): Promise<Conversation> {
    const conversation = await this.get(caller, id);
    await this.#state.threads.deleteMessage(caller, id, itemId);
    return conversation;
  }

  /** A message contains the whole item, so that no field of it has a meaning for the thread. */
  async #append(caller: Caller, id: string, items: readonly ConversationItem[]): Promise<readonly ConversationItem[]> {
    const messages = items.map((item): JsonObject => ({ id: item.id, item }));
    return (await this.#state.threads.appendMany(caller, id, messages)).map(itemOf);
  }

  async #put(caller: Caller, { id, ...fields }: Conversation, must: "absent" | "present"): Promise<void> {
    const entity = { type: "conversation", ...fields, created_by: caller.userId };
    await this.#state.entities.put(caller, id, entity, { must });
  }
}

function itemOf(message: { readonly [field: string]: unknown }): ConversationItem {
  return message["item"] as ConversationItem;
}

function noConversation(id: string): PinakesError {
  return new PinakesError("NOT_FOUND", `There is no conversation ${show(id)}.`);
}
