/** The embedding models of this server, and embeddings. */
import { z } from "zod";
import { PinakesError, invalid, show } from "../../../domain/errors.ts";
import type { Knowledge } from "../../../knowledge/index.ts";
import { ok, type Route } from "../../framework/index.ts";
import { openAiRoute } from "./openai-route.ts";

const inputsMax = 2_048;
const inputCharsMax = 200_000;

const text = z.string().min(1).max(inputCharsMax);
const Model = z
  .object({ id: z.string(), object: z.literal("model"), created: z.number(), owned_by: z.string() })
  .meta({ id: "OpenAIModel" });

export function embeddingRoutes(knowledge: Knowledge): readonly Route[] {
  return [
    openAiRoute({
      method: "POST",
      path: "/openai/v1/embeddings",
      operationId: "createEmbeddings",
      summary: "Embed texts",
      readOnlyOk: true,
      limits: { bodyBytesMax: 8 * 1_048_576 },
      body: z.strictObject({
        model: z.string().optional().describe("Defaults to the default model."),
        input: z.union([
          text,
          z
            .array(z.union([text, z.number(), z.array(z.number())]))
            .min(1)
            .max(inputsMax),
        ]),
        encoding_format: z.enum(["float", "base64"]).optional(),
        dimensions: z.int().min(1).optional().describe("The dimensions of the model, or absent."),
        user: z.string().optional(),
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
        const { model, vectors, tokens } = await knowledge.search.embed(caller, textsOf(body.input), body.model);
        const dims = vectors[0]?.length;
        if (body.dimensions !== undefined && body.dimensions !== dims)
          throw invalid(`dimensions: model "${model}" only supports ${dims} dimensions.`);
        const encode = body.encoding_format === "base64" ? base64 : (vector: Float32Array) => Array.from(vector);
        const data = vectors.map((vector, index) => ({ object: "embedding", index, embedding: encode(vector) }));
        return ok({ object: "list", data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } });
      },
    }),
    openAiRoute({
      method: "GET",
      path: "/openai/v1/models",
      operationId: "listModels",
      summary: "List the models of this server: embedding models, and chat models if any are configured",
      answers: {
        200: { description: "All models.", schema: z.object({ object: z.literal("list"), data: z.array(Model) }) },
      },
      handler: () => ok({ object: "list", data: modelsOf(knowledge).map(modelObject) }),
    }),
    openAiRoute({
      method: "GET",
      path: "/openai/v1/models/{model}",
      operationId: "getModel",
      summary: "A model",
      params: z.object({ model: z.string() }),
      answers: { 200: { description: "The model.", schema: Model } },
      handler: ({ params: { model } }) => {
        const found = modelsOf(knowledge).find(({ id }) => id === model);
        if (found === undefined)
          throw new PinakesError("NOT_FOUND", `There is no model ${show(model)}.`, { reason: "model_not_found" });
        return ok(modelObject(found));
      },
    }),
  ];
}

function modelsOf({ models, answers }: Knowledge) {
  return [...models, ...answers.models];
}

/** The creation time of a model is unknown. */
function modelObject({ id, provider }: { readonly id: string; readonly provider: string }) {
  return { id, object: "model" as const, created: 0, owned_by: provider };
}

function textsOf(input: string | readonly (string | number | readonly number[])[]): readonly string[] {
  if (typeof input === "string") return [input];
  return input.map((one) => {
    if (typeof one === "string") return one;
    throw invalid("input: token arrays are not supported, since each model has its own tokenizer; send strings.");
  });
}

function base64(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString("base64");
}
