/**
 * Which chat models there are: a list that is written once, in the settings, and named by collections.
 *
 * @example
 * readChatSettings([
 *   { id: "small", provider: "openai", model: "gpt-5-mini", apiKeyEnv: "OPENAI_API_KEY" },
 *   { id: "own", provider: "ollama", model: "llama3.2" },
 *   { id: "claude", provider: "bedrock", model: "anthropic.claude-haiku-4-5", region: "eu-central-1" },
 * ]);
 */
import { z } from "zod";
import { invalid, show } from "../../domain/errors.ts";

export const chatModelsMax = 100;
const textCharsMax = 1_000;

const text = z.string().min(1).max(textCharsMax);
const common = {
  id: z
    .string()
    .min(1)
    .max(128)
    .regex(/^[\w.:/@-]+$/, "may have letters, digits and _ . : / @ - only"),
  model: text,
  baseUrl: z.url({ protocol: /^https?$/ }).optional(),
};
/** The name of the variable, never the key itself: settings are shown and stored. */
const apiKeyEnv = z
  .string()
  .regex(/^[A-Z_][A-Z0-9_]*$/i, "must be the name of an environment variable, not the key itself")
  .optional();

const settings = z.discriminatedUnion("provider", [
  z.strictObject({ provider: z.literal("openai"), apiKeyEnv, ...common }),
  z.strictObject({ provider: z.literal("ollama"), apiKeyEnv, ...common }),
  z.strictObject({ provider: z.literal("bedrock"), region: text, ...common }),
]);

export type ChatSettings = Readonly<z.infer<typeof settings>>;

export function readChatSettings(json: unknown): readonly ChatSettings[] {
  if (!Array.isArray(json))
    throw invalid(`chatModels: must be a list such as [{ "id": "own", "provider": "ollama", "model": "llama3.2" }], got ${show(json)}.`);
  if (json.length > chatModelsMax) throw invalid(`chatModels: at most ${chatModelsMax}, got ${json.length}.`);
  const models = json.map((entry: unknown, i) => readOne(entry, `chatModels[${i}]`));
  for (const [i, { id }] of models.entries())
    if (models.findIndex((other) => other.id === id) !== i) throw invalid(`chatModels[${i}].id: "${id}" is there twice; collections name a model by its id.`);
  return models;
}

function readOne(entry: unknown, where: string): ChatSettings {
  const result = settings.safeParse(entry);
  if (result.success) return Object.freeze(result.data);
  const [issue] = result.error.issues;
  const path = (issue?.path ?? []).map((key) => `.${String(key)}`).join("");
  if (path === ".provider") throw invalid(`${where}.provider: must be "openai", "ollama" or "bedrock".`);
  throw invalid(`${where}${path}: ${issue?.message ?? "is not a model"}.`);
}
