/** Routes of conversations and their items. */
import { z } from "zod";
import type { State } from "../../../state/index.ts";
import { ok, queryInteger, type Route } from "../../framework/index.ts";
import { included, includeQuery, itemsMax, shownItem } from "./conversation-items.ts";
import { Conversations, type Conversation } from "./conversations.ts";
import { Metadata } from "./metadata.ts";
import { openAiRoute } from "./openai-route.ts";
import { list, listOf } from "./pages.ts";

const Item = z.looseObject({ id: z.string(), type: z.string() }).meta({ id: "OpenAIConversationItem" });
const ConversationObject = z
  .object({
    id: z.string(),
    object: z.literal("conversation"),
    created_at: z.number(),
    metadata: z.record(z.string(), z.string()),
  })
  .meta({ id: "OpenAIConversation" });

const conversation = z.string().describe("Id of the conversation: `conv_…`.");
const item = z.string().min(1).max(256).describe("Id of the item, such as `msg_…`.");
const Items = z.array(z.unknown()).max(itemsMax).describe("Messages, tool calls and their outputs.");

export function conversationRoutes(state: State): readonly Route[] {
  const conversations = new Conversations(state);
  return [...ofConversations(conversations), ...addingItems(conversations), ...ofItems(conversations)];
}

function ofConversations(conversations: Conversations): readonly Route[] {
  const params = z.object({ conversation });
  return [
    openAiRoute({
      method: "POST",
      path: "/openai/v1/conversations",
      operationId: "createConversation",
      summary: "Create a conversation",
      body: z.strictObject({ items: Items.nullish(), metadata: Metadata.nullish() }).nullish(),
      answers: { 200: { description: "The conversation.", schema: ConversationObject } },
      handler: async ({ caller, body }) =>
        ok(conversationObject(await conversations.create(caller, body?.metadata ?? {}, body?.items ?? []))),
    }),
    openAiRoute({
      method: "GET",
      path: "/openai/v1/conversations/{conversation}",
      operationId: "getConversation",
      summary: "A conversation",
      params,
      answers: { 200: { description: "The conversation.", schema: ConversationObject } },
      handler: async ({ caller, params: p }) => ok(conversationObject(await conversations.get(caller, p.conversation))),
    }),
    openAiRoute({
      method: "POST",
      path: "/openai/v1/conversations/{conversation}",
      operationId: "updateConversation",
      summary: "Replace the metadata of a conversation",
      params,
      body: z.strictObject({ metadata: Metadata.nullable() }),
      answers: { 200: { description: "The conversation.", schema: ConversationObject } },
      handler: async ({ caller, params: p, body }) =>
        ok(conversationObject(await conversations.update(caller, p.conversation, body.metadata ?? {}))),
    }),
    openAiRoute({
      method: "DELETE",
      path: "/openai/v1/conversations/{conversation}",
      operationId: "deleteConversation",
      summary: "Delete a conversation with its items",
      params,
      answers: {
        200: {
          description: "The conversation was deleted.",
          schema: z.object({ id: z.string(), object: z.literal("conversation.deleted"), deleted: z.boolean() }),
        },
      },
      handler: async ({ caller, params: p }) => {
        await conversations.delete(caller, p.conversation);
        return ok({ id: p.conversation, object: "conversation.deleted", deleted: true });
      },
    }),
  ];
}

function addingItems(conversations: Conversations): readonly Route[] {
  return [
    openAiRoute({
      method: "POST",
      path: "/openai/v1/conversations/{conversation}/items",
      operationId: "createConversationItems",
      summary: "Add up to 20 items",
      params: z.object({ conversation }),
      query: z.object(includeQuery),
      body: z.strictObject({ items: Items.min(1) }),
      answers: { 200: { description: "The items as stored.", schema: listOf(Item) } },
      handler: async ({ caller, params: p, query, body }) => {
        const wanted = included(query);
        const added = await conversations.addItems(caller, p.conversation, body.items);
        return ok(
          list(
            added.map((each) => shownItem(each, wanted)),
            false,
          ),
        );
      },
    }),
  ];
}

function ofItems(conversations: Conversations): readonly Route[] {
  const one = z.object({ conversation, item });
  return [
    openAiRoute({
      method: "GET",
      path: "/openai/v1/conversations/{conversation}/items",
      operationId: "listConversationItems",
      summary: "List the items of a conversation, newest first",
      params: z.object({ conversation }),
      query: z.object({
        limit: queryInteger({ min: 1, max: 100 }).optional(),
        order: z.enum(["asc", "desc"]).optional(),
        after: item.optional(),
        ...includeQuery,
      }),
      answers: { 200: { description: "A page.", schema: listOf(Item) } },
      handler: async ({ caller, params: p, query }) => {
        const { limit, order, after, ...rest } = query;
        const wanted = included(rest);
        const page = await conversations.items(caller, p.conversation, { limit, order, after });
        return ok(
          list(
            page.items.map((each) => shownItem(each, wanted)),
            page.more,
          ),
        );
      },
    }),
    openAiRoute({
      method: "GET",
      path: "/openai/v1/conversations/{conversation}/items/{item}",
      operationId: "getConversationItem",
      summary: "Get an item of a conversation",
      params: one,
      query: z.object(includeQuery),
      answers: { 200: { description: "The item.", schema: Item } },
      handler: async ({ caller, params: p, query }) =>
        ok(shownItem(await conversations.item(caller, p.conversation, p.item), included(query))),
    }),
    openAiRoute({
      method: "DELETE",
      path: "/openai/v1/conversations/{conversation}/items/{item}",
      operationId: "deleteConversationItem",
      summary: "Delete an item of a conversation",
      params: one,
      answers: { 200: { description: "The conversation.", schema: ConversationObject } },
      handler: async ({ caller, params: p }) =>
        ok(conversationObject(await conversations.deleteItem(caller, p.conversation, p.item))),
    }),
  ];
}

function conversationObject({ id, created_at, metadata }: Conversation) {
  return { id, object: "conversation" as const, created_at, metadata };
}
