/**
 * The configured models: a list in the settings, to which collections refer.
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
import { apiKeyEnv, baseUrl, id, readModels, text } from "./settings-fields.ts";

export const modelDimsMax = 8_192;
const modelTokensMax = 1_000_000;

const tokensMax = z.int().min(1).max(modelTokensMax);
const prefixes = { queryPrefix: text.optional(), documentPrefix: text.optional() };
const remote = {
  id,
  model: text,
  dims: z.int().min(1).max(modelDimsMax),
  metric: z.enum(["cosine", "dot", "l2"]).optional(),
  tokensMax: tokensMax.optional(),
  /** Asks the provider for `dims` numbers, for models that support fewer. */
  requestDims: z.boolean().optional(),
  baseUrl,
  ...prefixes,
};

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
  return readModels<ModelSettings>(json, {
    name: "models",
    schema: settings,
    providers: ["local", "openai", "ollama", "bedrock"],
    example: '[{ "id": "all-MiniLM-L6-v2", "provider": "local" }]',
  });
}
