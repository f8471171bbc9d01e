/** Stored responses: read, delete, and list their input. */
import { z } from "zod";
import { invalid, show } from "../../../../domain/errors.ts";
import { ok, queryInteger, type Route } from "../../../framework/index.ts";
import { included, includeQuery, shownItem } from "../conversation-items.ts";
import { openAiRoute } from "../openai-route.ts";
import { list, listOf } from "../pages.ts";
import { shownResponse } from "./response-object.ts";
import type { StoredResponses } from "./stored-responses.ts";

export const ResponseSchema = z
  .looseObject({ id: z.string(), object: z.literal("response") })
  .meta({ id: "OpenAIResponse" });
const params = z.object({ response: z.string().describe("Id of the response: `resp_…`.") });

export function readRoutes(stored: StoredResponses): readonly Route[] {
  return [
    openAiRoute({
      method: "GET",
      path: "/openai/v1/responses/{response}",
      operationId: "getResponse",
      summary: "Get a stored response",
      params,
      query: z.object({
        ...includeQuery,
        stream: z.literal("false", { error: "a stored response cannot be streamed; omit stream" }).optional(),
      }),
      answers: { 200: { description: "The response.", schema: ResponseSchema } },
      handler: async ({ caller, params: p, query }) => {
        const { response } = await stored.get(caller, p.response);
        return ok(shownResponse(response, included(query).has("file_search_call.results")));
      },
    }),
    openAiRoute({
      method: "DELETE",
      path: "/openai/v1/responses/{response}",
      operationId: "deleteResponse",
      summary: "Delete a stored response",
      params,
      answers: {
        200: {
          description: "The response was deleted.",
          schema: z.object({ id: z.string(), object: z.literal("response"), deleted: z.literal(true) }),
        },
      },
      handler: async ({ caller, params: p }) => {
        await stored.delete(caller, p.response);
        return ok({ id: p.response, object: "response", deleted: true });
      },
    }),
    openAiRoute({
      method: "POST",
      path: "/openai/v1/responses/{response}/cancel",
      operationId: "cancelResponse",
      summary: "Always refused: only background responses can be cancelled",
      params,
      answers: { 200: { description: "Never returned: there are no background responses.", schema: ResponseSchema } },
      handler: async ({ caller, params: p }) => {
        await stored.get(caller, p.response);
        throw invalid("Only background responses can be cancelled; close the connection of a stream instead.");
      },
    }),
    inputItemsRoute(stored),
  ];
}

function inputItemsRoute(stored: StoredResponses): Route {
  const Item = z.looseObject({ id: z.string(), type: z.string() });
  return openAiRoute({
    method: "GET",
    path: "/openai/v1/responses/{response}/input_items",
    operationId: "listResponseInputItems",
    summary: "List the input items of a stored response, newest first",
    params,
    query: z.object({
      limit: queryInteger({ min: 1, max: 100 }).optional(),
      order: z.enum(["asc", "desc"]).optional(),
      after: z.string().min(1).max(256).optional(),
      ...includeQuery,
    }),
    answers: { 200: { description: "A page.", schema: listOf(Item) } },
    handler: async ({ caller, params: p, query: { limit = 20, order = "desc", after, ...rest } }) => {
      const oldest = await stored.inputOf(caller, p.response);
      const items = order === "asc" ? oldest : oldest.toReversed();
      const position = after === undefined ? -1 : items.findIndex(({ id }) => id === after);
      if (after !== undefined && position === -1) throw invalid(`after: there is no item ${show(after)}.`);
      const page = items.slice(position + 1, position + 1 + limit);
      const wanted = included(rest);
      return ok(
        list(
          page.map((item) => shownItem(item, wanted)),
          position + 1 + limit < items.length,
        ),
      );
    },
  });
}
