/** Responses: a model answers, from vector stores with verified citations if the request has the tool `file_search`. */
import { z } from "zod";
import type { Caller } from "../../../../domain/caller.ts";
import { invalid } from "../../../../domain/errors.ts";
import { timeOrderedId } from "../../../../runtime/time-ordered-id.ts";
import type { Pinakes } from "../../../../open.ts";
import { ok, sse, type Route } from "../../../framework/index.ts";
import { includeQuery, itemsMax, readItem, type ConversationItem } from "../conversation-items.ts";
import { Conversations } from "../conversations.ts";
import { Metadata } from "../metadata.ts";
import { openAiRoute } from "../openai-route.ts";
import { projectOf } from "../project.ts";
import type { Stores } from "../stores.ts";
import { searchOf, ToolChoice, Tools } from "./file-search.ts";
import { beginGeneration } from "./generate.ts";
import { readConversation } from "./messages.ts";
import { responseEvents, type ResponseEvent, type Run } from "./response-events.ts";
import { asItem, startedResponse, type ResponseObject } from "./response-object.ts";
import { readRoutes, ResponseSchema } from "./response-reads.ts";
import { StoredResponses } from "./stored-responses.ts";

const inputItemsMax = 500;
const historyItemsMax = 100;
const instructionsCharsMax = 50_000;
const hexId = (): string => timeOrderedId(Date.now()).replaceAll("-", "");
const newId = (prefix: string): string => `${prefix}_${hexId()}`;

const ignored = z.unknown().optional().describe("Accepted, without effect.");
const Body = z.strictObject({
  model: z.string().optional().describe("A chat model of this server; defaults to the first."),
  input: z
    .union([z.string().min(1), z.array(z.unknown()).min(1).max(inputItemsMax)])
    .describe("A string, or messages."),
  instructions: z.string().max(instructionsCharsMax).nullish(),
  tools: Tools.nullish(),
  tool_choice: ToolChoice.nullish(),
  include: z.array(includeQuery.include.unwrap().element).nullish(),
  previous_response_id: z.string().nullish(),
  conversation: z.union([z.string(), z.strictObject({ id: z.string() })]).nullish(),
  store: z.boolean().nullish().describe("Default true: the response can be read again and continued."),
  stream: z.boolean().nullish(),
  max_output_tokens: z.int().min(1).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  metadata: Metadata.nullish(),
  text: z
    .strictObject({ format: z.strictObject({ type: z.literal("text") }).optional(), verbosity: z.string().nullish() })
    .nullish(),
  background: z.literal(false, { error: "is not supported; omit it, and use stream" }).nullish(),
  parallel_tool_calls: ignored,
  prompt_cache_key: ignored,
  safety_identifier: ignored,
  service_tier: ignored,
  stream_options: ignored,
  truncation: z.enum(["auto", "disabled"]).nullish(),
  user: ignored,
});
type Body = z.infer<typeof Body>;

interface Request {
  readonly caller: Caller;
  readonly body: Body;
  readonly header: (name: string) => string | undefined;
  readonly signal: AbortSignal;
}

export function responseRoutes(
  { knowledge, state }: Pick<Pinakes, "knowledge" | "state">,
  stores: Stores,
): readonly Route[] {
  const stored = new StoredResponses(knowledge);
  const creation = new ResponseCreation(knowledge, stores, stored, new Conversations(state));
  return [creation.createRoute(), ...readRoutes(stored)];
}

class ResponseCreation {
  readonly #knowledge: Pinakes["knowledge"];
  readonly #stores: Stores;
  readonly #stored: StoredResponses;
  readonly #conversations: Conversations;

  constructor(knowledge: Pinakes["knowledge"], stores: Stores, stored: StoredResponses, conversations: Conversations) {
    this.#knowledge = knowledge;
    this.#stores = stores;
    this.#stored = stored;
    this.#conversations = conversations;
  }

  createRoute(): Route {
    return openAiRoute({
      method: "POST",
      path: "/openai/v1/responses",
      operationId: "createResponse",
      summary: "Generate an answer, from vector stores with verified citations",
      body: Body,
      answers: {
        200: {
          description: "The response, or its events with stream: true.",
          schema: ResponseSchema,
          alsoTypes: ["text/event-stream"],
        },
      },
      handler: async (request) => {
        const run = await this.#begin(request);
        if (request.body.stream === true) return sse(request, (_, signal) => numbered(responseEvents(run, signal)));
        return ok(await whole(responseEvents(run, request.signal)));
      },
    });
  }

  async #begin({ caller, header, signal, body }: Request): Promise<Run> {
    const input = readInput(body.input);
    const conversation = typeof body.conversation === "string" ? body.conversation : body.conversation?.id;
    const before = await this.#before(caller, conversation, body.previous_response_id ?? undefined);
    if (conversation !== undefined && input.length > itemsMax)
      throw invalid(`input: at most ${itemsMax} items can be added to a conversation at once, got ${input.length}.`);
    const read = readConversation([...before, ...input], body.instructions, "input");
    const generation = await beginGeneration(
      { knowledge: this.#knowledge, stores: this.#stores, caller, project: projectOf(header), signal },
      {
        ...read,
        model: body.model,
        search: searchOf(body.tools, body.tool_choice),
        tokensMax: body.max_output_tokens ?? undefined,
        temperature: body.temperature ?? undefined,
        topP: body.top_p ?? undefined,
      },
    );
    const started = startedResponse(newId("resp"), settingsOf(body, generation.model, conversation));
    return {
      started,
      generation,
      question: read.question,
      withResults: body.include?.includes("file_search_call.results") === true,
      streamed: body.stream === true,
      newId,
      keep: (response) => this.#keep(caller, response, input),
    };
  }

  async #before(
    caller: Caller,
    conversation: string | undefined,
    previous: string | undefined,
  ): Promise<readonly ConversationItem[]> {
    if (conversation !== undefined && previous !== undefined)
      throw invalid("previous_response_id: cannot be used together with conversation.");
    if (previous !== undefined) return this.#stored.transcript(caller, previous);
    if (conversation === undefined) return [];
    const newest = { order: "desc", limit: historyItemsMax } as const;
    return (await this.#conversations.items(caller, conversation, newest)).items.toReversed();
  }

  async #keep(caller: Caller, response: ResponseObject, input: readonly ConversationItem[]): Promise<void> {
    if (response.store) await this.#stored.put(caller, response, input);
    if (response.conversation !== null)
      await this.#conversations.addItems(caller, response.conversation.id, [...input, ...response.output.map(asItem)]);
  }
}

function readInput(input: Body["input"]): readonly ConversationItem[] {
  const items = typeof input === "string" ? [{ role: "user", content: input }] : input;
  return items.map((item, i) => readItem(item, `input[${i}]`, hexId));
}

function settingsOf(body: Body, model: string, conversation: string | undefined) {
  return {
    model,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    metadata: body.metadata ?? {},
    previous_response_id: body.previous_response_id ?? null,
    conversation: conversation === undefined ? null : { id: conversation },
    store: body.store ?? true,
    temperature: body.temperature ?? null,
    top_p: body.top_p ?? null,
    tools: body.tools ?? [],
    tool_choice: body.tool_choice ?? "auto",
  };
}

async function* numbered(events: AsyncIterable<ResponseEvent>) {
  let sequence_number = 0;
  for await (const { type, ...fields } of events) {
    yield { event: type, data: { type, sequence_number, ...fields } };
    sequence_number += 1;
  }
}

async function whole(events: AsyncGenerator<ResponseEvent, ResponseObject>): Promise<ResponseObject> {
  for (;;) {
    const next = await events.next();
    if (next.done === true) return next.value;
  }
}
