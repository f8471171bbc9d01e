/** Answers over HTTP: as JSON, or streamed as server-sent events. */
import { answerFinishes, answerModes, refusalReasons, searchModes, searchOutcomes } from "@pinakes/client";
import type * as wire from "@pinakes/client";
import { z } from "zod";
import { shape } from "../../contract/index.ts";
import type { Filter } from "../../domain/filter.ts";
import { answerLimits, type Knowledge } from "../../knowledge/index.ts";
import { chooseType, defineRoute, ok, sse, type Route, type ServerEvent } from "../framework/index.ts";
import { Citation, Hit, queryWishes, searchNotes } from "./schemas.ts";

const Sentence = z.object({
  text: z.string(),
  supported: z.boolean().describe("At least one citation was verified. Unsupported sentences are not in `text`."),
  citations: z
    .array(Citation)
    .describe("Each citation quotes the passage that supports the sentence, verified against the stored bytes."),
});

const Answer = shape<wire.Answer>()(
  z
    .object({
      mode: z.enum(answerModes),
      model: z.string().nullable().describe("The chat model; null if none was used."),
      text: z.string().describe("The supported sentences, as plain text: never render it as Markdown or HTML."),
      sentences: z.array(Sentence),
      refusal: z
        .object({ reason: z.enum(refusalReasons), message: z.string() })
        .optional()
        .describe("Why there is no text; present only if `text` is empty."),
      outcome: z.enum(searchOutcomes).describe("The outcome of the search."),
      finish: z.enum(answerFinishes),
      ...searchNotes,
      hits: z.array(Hit).optional().describe("With include_hits."),
      timings: z.object({ search_ms: z.number(), answer_ms: z.number(), total_ms: z.number() }),
    })
    .meta({ id: "Answer" }),
);

const { questionCharsMax, chunksDefault, chunksMax, extractiveSentencesDefault, sentencesMax } = answerLimits;

const body = z.strictObject({
  question: z.string().describe(`1–${questionCharsMax} characters.`),
  collections: z
    .array(z.strictObject({ repository: z.string(), collection: z.string().optional() }))
    .optional()
    .describe(
      "Collections to search; default: all that the caller may read. An entry without a collection means the whole repository.",
    ),
  filter: z.record(z.string(), z.json()).optional().describe("As in searches."),
  min_score: z.number().optional().describe("0…1, as in searches."),
  archived: z.boolean().optional(),
  unknown_collections: queryWishes.unknown_collections,
  limit: z
    .number()
    .int()
    .optional()
    .describe(`Maximum number of chunks to answer from; default ${chunksDefault}, maximum ${chunksMax}.`),
  search_mode: z.enum(searchModes).optional().describe("Default hybrid."),
  mode: z
    .enum(answerModes)
    .optional()
    .describe("extractive: quotes only. generated: a chat model writes the answer; the default if one is configured."),
  model: z.string().optional().describe("Id of a chat model; default: the first configured one."),
  sentences_max: z
    .number()
    .int()
    .optional()
    .describe(
      `Maximum number of sentences; at most ${sentencesMax}, the default of generated answers; ${extractiveSentencesDefault} for extractive ones.`,
    ),
  include_hits: z.boolean().optional().describe("Includes the hits of the search."),
  stream: z
    .boolean()
    .optional()
    .describe("true: server-sent events `started`, `sentence` …, `answer`. The same as Accept: text/event-stream."),
});

const types = [
  { types: ["application/json"], value: false },
  { types: ["text/event-stream"], value: true },
] as const;

export function answerRoutes({ answers }: Knowledge): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/answers",
      operationId: "answer",
      summary: "Answer a question with verified citations",
      tag: "search",
      auth: "caller",
      readOnlyOk: true,
      body,
      answers: {
        200: {
          description:
            "The answer, or why there is none. As events: each sentence after its verification, then the whole answer.",
          schema: Answer,
          alsoTypes: ["text/event-stream"],
        },
      },
      handler: async (request) => {
        const { stream, filter, ...input } = request.body;
        const asked = { ...input, filter: filter as Filter | undefined };
        if (!(stream ?? chooseType(request.header("accept"), types).value))
          return ok(await answers.ask(request.caller, asked, { signal: request.signal }));
        // Validated before the first byte, so an invalid question gets an error status.
        const begun = await answers.begin(request.caller, asked, { signal: request.signal });
        return sse(request, (_, signal) => named(begun.events(signal)));
      },
    }),
  ];
}

async function* named(events: AsyncIterable<wire.AnswerEvent>): AsyncGenerator<ServerEvent, void> {
  for await (const event of events) yield { event: event.type, data: event };
}
