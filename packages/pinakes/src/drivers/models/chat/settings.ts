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
import { apiKeyEnv, baseUrl, id, readModels, text } from "../settings-fields.ts";

const common = { id, model: text, baseUrl };

const settings = z.discriminatedUnion("provider", [
  z.strictObject({ provider: z.literal("openai"), apiKeyEnv, ...common }),
  z.strictObject({ provider: z.literal("ollama"), apiKeyEnv, ...common }),
  z.strictObject({ provider: z.literal("bedrock"), region: text, ...common }),
]);

export type ChatSettings = Readonly<z.infer<typeof settings>>;

export function readChatSettings(json: unknown): readonly ChatSettings[] {
  return readModels<ChatSettings>(json, {
    name: "chatModels",
    schema: settings,
    providers: ["openai", "ollama", "bedrock"],
    example: '[{ "id": "own", "provider": "ollama", "model": "llama3.2" }]',
  });
}
