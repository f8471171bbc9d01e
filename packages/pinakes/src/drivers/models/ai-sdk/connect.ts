/** The AI SDK's providers for the configured settings: with their keys from the environment, and the details that messages may contain. */
import type { AmazonBedrockProvider } from "@ai-sdk/amazon-bedrock";
import type { OpenAICompatibleProvider } from "@ai-sdk/openai-compatible";
import { PinakesError } from "../../../domain/errors.ts";

const openAiUrl = "https://api.openai.com/v1";
const ollamaUrl = "http://127.0.0.1:11434/v1";

export type Environment = Readonly<Record<string, string | undefined>>;

/** For a model behind a network; for tests. */
export interface RemoteOptions {
  readonly env?: Environment | undefined;
  /** Timeout of one request. */
  readonly answerMsMax?: number | undefined;
  readonly retriesMax?: number | undefined;
}

/** Retries of one request, after 2 s and 4 s or when the provider says so; after that the document queue waits. */
export const retriesDefault = 2;

export interface Connection<Provider> {
  readonly provider: Provider;
  /** For messages: the provider's name. */
  readonly name: string;
  /** Secrets that must never be in a message. */
  readonly secrets: readonly string[];
}

interface CompatibleSettings {
  readonly id: string;
  readonly provider: "openai" | "ollama";
  readonly baseUrl?: string | undefined;
  readonly apiKeyEnv?: string | undefined;
}

interface BedrockSettings {
  readonly id: string;
  readonly region: string;
  readonly baseUrl?: string | undefined;
}

export async function connectCompatible(
  settings: CompatibleSettings,
  fetch: typeof globalThis.fetch,
  env: Environment,
): Promise<Connection<OpenAICompatibleProvider>> {
  const baseURL = settings.baseUrl ?? (settings.provider === "ollama" ? ollamaUrl : openAiUrl);
  const variable = settings.apiKeyEnv ?? (baseURL === openAiUrl ? "OPENAI_API_KEY" : undefined);
  const apiKey = variable === undefined ? undefined : env[variable];
  if (variable !== undefined && (apiKey === undefined || apiKey === "")) {
    throw new PinakesError(
      "UNAVAILABLE",
      `The model ${settings.id} needs a key: set the environment variable ${variable}.`,
      { retryable: false },
    );
  }
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const key = apiKey === undefined ? {} : { apiKey };
  return {
    provider: createOpenAICompatible({
      name: settings.provider,
      baseURL,
      fetch,
      supportsStructuredOutputs: true,
      ...key,
    }),
    name: `${settings.provider} at ${new URL(baseURL).host}`,
    secrets: apiKey === undefined ? [] : [apiKey],
  };
}

export async function connectBedrock(
  { id, region, baseUrl }: BedrockSettings,
  fetch: typeof globalThis.fetch,
  env: Environment,
): Promise<Connection<AmazonBedrockProvider>> {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
    AWS_BEARER_TOKEN_BEDROCK: apiKey,
  } = env;
  if (apiKey === undefined && (accessKeyId === undefined || secretAccessKey === undefined)) {
    throw new PinakesError(
      "UNAVAILABLE",
      `The model ${id} needs AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_BEARER_TOKEN_BEDROCK.`,
      { retryable: false },
    );
  }
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
    provider,
    name: `bedrock in ${region}`,
    secrets: [secretAccessKey, sessionToken, apiKey].filter((secret) => secret !== undefined),
  };
}
