/** The embedding models of this server, spoken to as OpenAI's SDK does. */
import { z } from "zod";
import type { Knowledge } from "../../knowledge/index.ts";
import { defineRoute, ok, type Route } from "../framework/index.ts";

const inputsMax = 2_048;
const inputCharsMax = 200_000;

export function embeddingRoutes(knowledge: Knowledge): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/openai/v1/embeddings",
      operationId: "createEmbeddings",
      summary: "Embed texts, as OpenAI's SDK asks for it",
      tag: "openai",
      auth: "caller",
      readOnlyOk: true,
      limits: { bodyBytesMax: 8 * 1_048_576 },
      // Loose: SDKs send more than they need.
      body: z.looseObject({
        model: z.string().optional().describe("The default model when absent."),
        input: z.union([z.string().max(inputCharsMax), z.array(z.string().max(inputCharsMax)).min(1).max(inputsMax)]),
        encoding_format: z.enum(["float", "base64"]).optional(),
      }),
      answers: {
        200: {
          description: "The vectors, in the order of the texts.",
          schema: z.looseObject({
            object: z.literal("list"),
            data: z.array(z.looseObject({ index: z.number() })),
            model: z.string(),
          }),
        },
      },
      handler: async ({ caller, body }) => {
        const texts = typeof body.input === "string" ? [body.input] : body.input;
        const { model, vectors, tokens } = await knowledge.search.embed(caller, texts, body.model);
        const encode = body.encoding_format === "base64" ? base64 : (vector: Float32Array) => Array.from(vector);
        const data = vectors.map((vector, index) => ({ object: "embedding", index, embedding: encode(vector) }));
        return ok({ object: "list", data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } });
      },
    }),
    defineRoute({
      method: "GET",
      path: "/openai/v1/models",
      operationId: "listModels",
      summary: "The embedding models of this server",
      tag: "openai",
      auth: "caller",
      answers: { 200: { description: "All of them.", schema: z.looseObject({ object: z.literal("list") }) } },
      handler: () =>
        ok({
          object: "list",
          data: knowledge.models.map(({ id, provider }) => ({ id, object: "model", owned_by: provider })),
        }),
    }),
  ];
}

function base64(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString("base64");
}
