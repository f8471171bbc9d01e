/** Chat completions: the older interface to the same models, with the tool `file_search` as an extension. */
import { z } from "zod";
import { invalid } from "../../../../domain/errors.ts";
import { isJsonObject } from "../../../../domain/json.ts";
import type { Knowledge } from "../../../../knowledge/index.ts";
import type { ChatUsage } from "../../../../ports/chat-model.ts";
import { timeOrderedId } from "../../../../runtime/time-ordered-id.ts";
import { ok, sse, type Route, type ServerEvent } from "../../../framework/index.ts";
import { toProblemAnswer } from "../../../framework/http-error.ts";
import { Metadata } from "../metadata.ts";
import { errorBody, openAiRoute } from "../openai-route.ts";
import { projectOf } from "../project.ts";
import type { Stores } from "../stores.ts";
import { searchOf, ToolChoice, Tools, type FileCitation } from "./file-search.ts";
import { beginGeneration, type Finish, type Generation } from "./generate.ts";
import { readConversation } from "./messages.ts";

const messagesMax = 500;
const ignored = z.unknown().optional().describe("Accepted, without effect.");
const zero = z.literal(0, { error: "is not supported; omit it" }).nullish();

const Body = z.strictObject({
  model: z.string().describe("A chat model of this server."),
  messages: z
    .array(z.unknown())
    .min(1)
    .max(messagesMax)
    .describe(
      "Messages with the roles system, developer, user or assistant; the last must have the role user. Text only.",
    ),
  tools: Tools.nullish().describe("`file_search`, as in responses: an extension of this server."),
  tool_choice: ToolChoice.nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.strictObject({ include_usage: z.boolean().optional(), include_obfuscation: ignored }).nullish(),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  n: z.literal(1, { error: "must be 1" }).nullish(),
  response_format: z.strictObject({ type: z.literal("text", { error: "must be text" }) }).nullish(),
  modalities: z.array(z.literal("text")).nullish(),
  store: z.literal(false, { error: "completions are not stored; use responses" }).nullish(),
  frequency_penalty: zero,
  presence_penalty: zero,
  logprobs: z.literal(false, { error: "is not supported; omit it" }).nullish(),
  metadata: Metadata.nullish(),
  parallel_tool_calls: ignored,
  prompt_cache_key: ignored,
  safety_identifier: ignored,
  seed: ignored,
  service_tier: ignored,
  user: ignored,
});

const Completion = z
  .looseObject({ id: z.string(), object: z.literal("chat.completion") })
  .meta({ id: "OpenAIChatCompletion" });

export function chatRoutes(knowledge: Knowledge, stores: Stores): readonly Route[] {
  return [
    openAiRoute({
      method: "POST",
      path: "/openai/v1/chat/completions",
      operationId: "createChatCompletion",
      summary: "Generate an answer, from vector stores with verified citations",
      readOnlyOk: true,
      body: Body,
      answers: {
        200: {
          description: "The completion, or its chunks with stream: true.",
          schema: Completion,
          alsoTypes: ["text/event-stream"],
        },
      },
      handler: async ({ body, ...request }) => {
        const { caller, header, signal } = request;
        const generation = await beginGeneration(
          { knowledge, stores, caller, project: projectOf(header), signal },
          {
            ...readConversation(body.messages.map(readMessage), undefined, "messages"),
            model: body.model,
            search: searchOf(body.tools, body.tool_choice),
            tokensMax: body.max_completion_tokens ?? body.max_tokens ?? undefined,
            temperature: body.temperature ?? undefined,
            topP: body.top_p ?? undefined,
          },
        );
        const head = {
          id: `chatcmpl-${timeOrderedId(Date.now()).replaceAll("-", "")}`,
          created: Math.floor(Date.now() / 1_000),
          model: generation.model,
        };
        if (body.stream !== true) return ok({ ...head, ...(await completion(generation, signal)) });
        const withUsage = body.stream_options?.include_usage === true;
        return sse(request, (_, until) =>
          inStreamForm(
            chunks(generation, { ...head, object: "chat.completion.chunk" }, withUsage, until),
            request.requestId,
          ),
        );
      },
    }),
  ];
}

function readMessage(message: unknown, i: number) {
  if (!isJsonObject(message)) throw invalid(`messages[${i}]: must be an object.`);
  const { role, tool_calls, function_call } = message;
  if (role === "tool" || role === "function" || isSet(tool_calls) || isSet(function_call))
    throw invalid(`messages[${i}]: function calls are not supported; send text.`);
  return { role, content: message["content"] };
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null;

async function completion(generation: Generation, signal: AbortSignal) {
  let text = "";
  let refusal: string | null = null;
  let finish: Finish = "interrupted";
  let usage: ChatUsage | undefined;
  const annotations: FileCitation[] = [];
  for await (const step of generation.steps(signal))
    if ("finish" in step) ({ finish, usage } = step);
    else if ("refusal" in step) ({ refusal } = step);
    else {
      text += step.text;
      annotations.push(...step.annotations);
    }
  const content = refusal === null ? text : null;
  const message = { role: "assistant", content, refusal, annotations };
  return {
    object: "chat.completion" as const,
    choices: [{ index: 0, message, finish_reason: reasonOf(finish), logprobs: null }],
    ...(usage === undefined ? {} : { usage: usageOf(usage) }),
  };
}

async function* chunks(
  generation: Generation,
  head: object,
  withUsage: boolean,
  signal: AbortSignal,
): AsyncGenerator<object, void> {
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason, logprobs: null }],
    ...(withUsage ? { usage: null } : {}),
  });
  yield chunk({ role: "assistant", content: "" });
  const annotations: FileCitation[] = [];
  for await (const step of generation.steps(signal)) {
    if ("refusal" in step) yield chunk({ refusal: step.refusal });
    else if ("text" in step) {
      annotations.push(...step.annotations);
      yield chunk({ content: step.text });
    } else {
      // All in one chunk: clients replace a list of an earlier chunk.
      if (annotations.length > 0) yield chunk({ annotations });
      yield chunk({}, reasonOf(step.finish));
      if (withUsage) yield { ...head, choices: [], usage: step.usage === undefined ? null : usageOf(step.usage) };
    }
  }
}

async function* inStreamForm(made: AsyncIterable<object>, requestId: string): AsyncGenerator<ServerEvent, void> {
  try {
    for await (const data of made) yield { data };
    yield { text: "[DONE]" };
  } catch (error) {
    // The status has already been sent; clients throw the error of such a chunk.
    yield { data: toProblemAnswer(error, requestId, errorBody).body };
  }
}

/** There is no finish reason for an interrupted model; `length` indicates that text is missing. */
function reasonOf(finish: Finish): "stop" | "length" {
  return finish === "stop" ? "stop" : "length";
}

function usageOf({ inputTokens, outputTokens }: ChatUsage) {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
}
