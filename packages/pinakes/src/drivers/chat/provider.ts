/** The AI SDK's model for given settings. */
import type { LanguageModel } from "ai";
import { PinakesError } from "../../domain/errors.ts";
import type { ChatSettings } from "./settings.ts";

const openAiUrl = "https://api.openai.com/v1";
const ollamaUrl = "http://127.0.0.1:11434/v1";

export interface ChatProvider {
  readonly model: LanguageModel;
  /** For messages: who it is that did not answer. */
  readonly name: string;
  /** What must never be in a message. */
  readonly secrets: readonly string[];
}

export type Environment = Readonly<Record<string, string | undefined>>;

export async function openChatProvider(settings: ChatSettings, fetch: typeof globalThis.fetch, env: Environment): Promise<ChatProvider> {
  return settings.provider === "bedrock" ? openBedrock(settings, fetch, env) : openCompatible(settings, fetch, env);
}

async function openCompatible(
  settings: Exclude<ChatSettings, { provider: "bedrock" }>,
  fetch: typeof globalThis.fetch,
  env: Environment,
): Promise<ChatProvider> {
  const baseURL = settings.baseUrl ?? (settings.provider === "ollama" ? ollamaUrl : openAiUrl);
  const variable = settings.apiKeyEnv ?? (baseURL === openAiUrl ? "OPENAI_API_KEY" : undefined);
  const apiKey = variable === undefined ? undefined : env[variable];
  if (variable !== undefined && (apiKey === undefined || apiKey === ""))
    throw new PinakesError("UNAVAILABLE", `The model ${settings.id} needs a key: set the environment variable ${variable}.`, { retryable: false });
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const provider = createOpenAICompatible({
    name: settings.provider,
    baseURL,
    fetch,
    supportsStructuredOutputs: true,
    ...(apiKey === undefined ? {} : { apiKey }),
  });
  return { model: provider.chatModel(settings.model), name: `${settings.provider} at ${new URL(baseURL).host}`, secrets: apiKey === undefined ? [] : [apiKey] };
}

async function openBedrock(settings: Extract<ChatSettings, { provider: "bedrock" }>, fetch: typeof globalThis.fetch, env: Environment): Promise<ChatProvider> {
  const { region, baseUrl } = settings;
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: sessionToken, AWS_BEARER_TOKEN_BEDROCK: apiKey } = env;
  if (apiKey === undefined && (accessKeyId === undefined || secretAccessKey === undefined))
    throw new PinakesError(
      "UNAVAILABLE",
      `The model ${settings.id} needs AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_BEARER_TOKEN_BEDROCK.`,
      { retryable: false },
    );
  const { createAmazonBedrock } = await import("@ai-sdk/amazon-bedrock");
  const provider = createAmazonBedrock({
    region,
    fetch,
    ...(baseUrl === undefined ? {} : { baseURL: baseUrl }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(accessKeyId === undefined ? {} : { accessKeyId }),
    ...(secretAccessKey === undefined ? {} : { secretAccessKey }),
    ...(sessionToken === undefined ? {} : { sessionToken }),
  });
  return {
    model: provider(settings.model),
    name: `bedrock in ${region}`,
    secrets: [secretAccessKey, sessionToken, apiKey].filter((secret) => secret !== undefined),
  };
}
