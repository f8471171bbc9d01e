/**
 * Which models there are: a list that is written once, in the settings, and named by collections.
 *
 * @example
 * readModelSettings([
 *   { id: "all-MiniLM-L6-v2", provider: "local" },
 *   { id: "small", provider: "openai", model: "text-embedding-3-small", dims: 1536, apiKeyEnv: "OPENAI_API_KEY" },
 *   { id: "nomic", provider: "ollama", model: "nomic-embed-text", dims: 768, queryPrefix: "search_query: ", documentPrefix: "search_document: " },
 *   { id: "titan", provider: "bedrock", model: "amazon.titan-embed-text-v2:0", dims: 1024, region: "eu-central-1" },
 * ]);
 */
import { z } from "zod";
import { invalid, show } from "../../domain/errors.ts";

export const modelsMax = 100;
export const modelIdCharsMax = 128;
export const modelDimsMax = 8_192;
const modelTokensMax = 1_000_000;
const textCharsMax = 1_000;

const id = z
  .string()
  .min(1)
  .max(modelIdCharsMax)
  .regex(/^[\w.:/@-]+$/, "may have letters, digits and _ . : / @ - only");
const text = z.string().min(1).max(textCharsMax);
const tokensMax = z.int().min(1).max(modelTokensMax);
const prefixes = { queryPrefix: text.optional(), documentPrefix: text.optional() };
const remote = {
  id,
  model: text,
  dims: z.int().min(1).max(modelDimsMax),
  metric: z.enum(["cosine", "dot", "l2"]).optional(),
  tokensMax: tokensMax.optional(),
  /** Asks the provider for `dims` numbers, of models that can give fewer. */
  requestDims: z.boolean().optional(),
  baseUrl: z.url({ protocol: /^https?$/ }).optional(),
  ...prefixes,
};
/** The name of the variable, never the key itself: settings are shown and stored. */
const apiKeyEnv = z
  .string()
  .regex(/^[A-Z_][A-Z0-9_]*$/i, "must be the name of an environment variable, not the key itself")
  .optional();

const settings = z.discriminatedUnion("provider", [
  z.strictObject({
    provider: z.literal("local"),
    id,
    dir: text.optional(),
    threads: z.int().min(1).max(64).optional(),
    tokensMax: tokensMax.optional(),
    ...prefixes,
  }),
  z.strictObject({ provider: z.literal("openai"), apiKeyEnv, ...remote }),
  z.strictObject({ provider: z.literal("ollama"), apiKeyEnv, ...remote }),
  z.strictObject({ provider: z.literal("bedrock"), region: text, ...remote }),
]);

type Frozen<T> = T extends unknown ? { readonly [K in keyof T]: T[K] } : never;

export type ModelSettings = Frozen<z.infer<typeof settings>>;
export type RemoteModelSettings = Exclude<ModelSettings, { readonly provider: "local" }>;

export function readModelSettings(json: unknown): readonly ModelSettings[] {
  if (!Array.isArray(json)) throw invalid(`models: must be a list such as [{ "id": "all-MiniLM-L6-v2", "provider": "local" }], got ${show(json)}.`);
  if (json.length > modelsMax) throw invalid(`models: at most ${modelsMax}, got ${json.length}.`);
  const models = json.map((entry: unknown, i) => readModel(entry, `models[${i}]`));
  const ids = new Set<string>();
  for (const [i, model] of models.entries()) {
    if (ids.has(model.id)) throw invalid(`models[${i}].id: "${model.id}" is there twice; collections name a model by its id.`);
    ids.add(model.id);
  }
  return models;
}

function readModel(entry: unknown, where: string): ModelSettings {
  const result = settings.safeParse(entry);
  if (result.success) return Object.freeze(result.data);
  const [issue] = result.error.issues;
  const path = (issue?.path ?? []).map((key) => `.${String(key)}`).join("");
  if (path === ".provider") throw invalid(`${where}.provider: must be "local", "openai", "ollama" or "bedrock".`);
  throw invalid(`${where}${path}: ${issue?.message ?? "is not a model"}.`);
}
