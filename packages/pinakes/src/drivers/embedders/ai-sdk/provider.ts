/** The AI SDK's model for given settings, and how it likes to be called. */
import type { EmbeddingModel as SdkModel } from "ai";
import { PinakesError } from "../../../domain/errors.ts";
import type { RemoteModelSettings } from "../settings.ts";

const openAiUrl = "https://api.openai.com/v1";
const ollamaUrl = "http://127.0.0.1:11434/v1";

export interface ProviderModel {
  readonly model: SdkModel;
  /** For messages: who it is that did not answer. */
  readonly name: string;
  /** What must never be in a message. */
  readonly secrets: readonly string[];
  readonly batchTextsMax: number;
  readonly batchesMax: number;
  /** Calls at a time within a batch, of providers that take one text a call. */
  readonly callsMax: number;
  options(kind: "document" | "query"): ProviderOptions;
}

export interface ProviderOptions {
  readonly dimensions?: number;
  readonly providerOptions?: { readonly amazonBedrock: Record<string, string | number | boolean> };
}

type Environment = Readonly<Record<string, string | undefined>>;

export async function openProvider(settings: RemoteModelSettings, fetch: typeof globalThis.fetch, env: Environment): Promise<ProviderModel> {
  return settings.provider === "bedrock" ? openBedrock(settings, fetch, env) : openCompatible(settings, fetch, env);
}

type CompatibleSettings = Extract<RemoteModelSettings, { readonly provider: "openai" | "ollama" }>;

async function openCompatible(settings: CompatibleSettings, fetch: typeof globalThis.fetch, env: Environment): Promise<ProviderModel> {
  const ollama = settings.provider === "ollama";
  const baseURL = settings.baseUrl ?? (ollama ? ollamaUrl : openAiUrl);
  const variable = settings.apiKeyEnv ?? (baseURL === openAiUrl ? "OPENAI_API_KEY" : undefined);
  const apiKey = variable === undefined ? undefined : env[variable];
  if (variable !== undefined && (apiKey === undefined || apiKey === "")) {
    throw new PinakesError("UNAVAILABLE", `The model ${settings.id} needs a key: set the environment variable ${variable}.`, { retryable: false });
  }
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const provider = createOpenAICompatible({ name: settings.provider, baseURL, fetch, ...(apiKey === undefined ? {} : { apiKey }) });
  return {
    model: provider.embeddingModel(settings.model),
    name: `${settings.provider} at ${new URL(baseURL).host}`,
    secrets: apiKey === undefined ? [] : [apiKey],
    // A request holds about 100 passages: well under what providers take (2,048 texts, 300,000 tokens), and little is lost when one fails.
    batchTextsMax: ollama ? 32 : 96,
    batchesMax: ollama ? 1 : 4,
    callsMax: 1,
    options: () => (settings.requestDims === true ? { dimensions: settings.dims } : {}),
  };
}

type BedrockSettings = Extract<RemoteModelSettings, { readonly provider: "bedrock" }>;

async function openBedrock(settings: BedrockSettings, fetch: typeof globalThis.fetch, env: Environment): Promise<ProviderModel> {
  const { region, baseUrl } = settings;
  const accessKeyId = env["AWS_ACCESS_KEY_ID"];
  const secretAccessKey = env["AWS_SECRET_ACCESS_KEY"];
  const sessionToken = env["AWS_SESSION_TOKEN"];
  const apiKey = env["AWS_BEARER_TOKEN_BEDROCK"];
  if (apiKey === undefined && (accessKeyId === undefined || secretAccessKey === undefined)) {
    throw new PinakesError(
      "UNAVAILABLE",
      `The model ${settings.id} needs AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_BEARER_TOKEN_BEDROCK.`,
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
    model: provider.embeddingModel(settings.model),
    name: `bedrock in ${region}`,
    secrets: [secretAccessKey, sessionToken, apiKey].filter((secret) => secret !== undefined),
    // Titan and Nova take one text a call, Cohere 96.
    batchTextsMax: 96,
    batchesMax: 1,
    callsMax: 8,
    options: (kind) => ({ providerOptions: { amazonBedrock: bedrockOptions(settings, kind) } }),
  };
}

function bedrockOptions({ model, dims, requestDims }: BedrockSettings, kind: "document" | "query"): Record<string, string | number | boolean> {
  if (model.includes("cohere.embed-")) {
    return { inputType: kind === "query" ? "search_query" : "search_document", truncate: "END", ...(requestDims === true ? { outputDimension: dims } : {}) };
  }
  if (model.includes("amazon.nova-")) {
    return { embeddingPurpose: kind === "query" ? "TEXT_RETRIEVAL" : "GENERIC_INDEX", truncate: "END", embeddingDimension: dims };
  }
  return requestDims === true ? { dimensions: dims } : {};
}
