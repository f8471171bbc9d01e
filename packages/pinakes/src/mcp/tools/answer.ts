/** Answers whose sentences have citations verified against the stored bytes. */
import { answerFinishes, answerModes, refusalReasons, searchOutcomes, type Answer } from "@pinakes/client";
import { z } from "zod";
import { defineTool, reads, type McpTool, type ToolAnswer } from "../tool.ts";
import { collections, citation, placeOf } from "./search.ts";

const limitMax = 20;
const questionCharsMax = 2_000;

export const answerTools: readonly McpTool[] = [
  defineTool({
    name: "answer",
    title: "Answer a question",
    description:
      "Answers a question from the caller's documents. Each sentence carries citations that were verified against the stored text; a sentence that no source supports is marked `supported: false`. Without a chat model on the server the answer consists of quotes (`mode: extractive`). `refusal` says why there is no answer.",
    input: z.strictObject({
      question: z.string().min(1).max(questionCharsMax),
      in: collections,
      limit: z.number().int().min(1).max(limitMax).optional().describe(`Chunks to answer from; 1–${limitMax}.`),
      mode: z.enum(answerModes).optional().describe("If absent, the best mode of the server."),
    }),
    output: z.looseObject({
      mode: z.enum(answerModes),
      model: z.string().nullable(),
      outcome: z.enum(searchOutcomes),
      text: z.string().describe("The supported sentences; empty when there is a refusal."),
      sentences: z.array(z.looseObject({ text: z.string(), supported: z.boolean(), citations: z.array(citation) })),
      refusal: z.looseObject({ reason: z.enum(refusalReasons), message: z.string() }).optional(),
      finish: z.enum(answerFinishes),
    }),
    annotations: reads,
    run: async ({ knowledge, signal, progress }, { question, in: within, ...options }) => {
      let sentences = 0;
      for await (const event of knowledge.answers.stream(question, { ...options, in: within?.map(placeOf), signal })) {
        if (event.type === "answer") return answerOf(event.answer);
        if (event.type === "sentence") await progress((sentences += 1), undefined, event.sentence.text);
      }
      throw new Error("The stream of an answer ended without the answer.");
    },
  }),
];

/** Sentences with the numbers of their sources, followed by the list of sources. */
function answerOf({ timings: _, ...answer }: Answer): ToolAnswer {
  if (answer.refusal !== undefined)
    return { structured: answer, content: [{ type: "text", text: answer.refusal.message }] };
  const sources = [...new Set(answer.sentences.flatMap(({ citations }) => citations.map(({ filename }) => filename)))];
  const sentences = answer.sentences.map(({ text, supported, citations }) => {
    const numbers = [...new Set(citations.map(({ filename }) => `[${sources.indexOf(filename) + 1}]`))].join("");
    return supported ? `${text} ${numbers}` : `${text} (no source supports this)`;
  });
  const text = [sentences.join(" "), ...sources.map((name, index) => `[${index + 1}] ${name}`)].join("\n");
  return { structured: answer, content: [{ type: "text", text }] };
}
