/** The AI SDK's model for the configured settings, and its limits per call. */
import type { EmbeddingModel as SdkModel } from "ai";
import type { RemoteModelSettings } from "../settings.ts";
import { connectBedrock, connectCompatible, type Connection, type Environment } from "./connect.ts";

export interface ProviderModel extends Pick<Connection<unknown>, "name" | "secrets"> {
  readonly model: SdkModel;
  readonly batchTextsMax: number;
  readonly batchesMax: number;
  /** Concurrent calls within a batch, for providers that take one text per call. */
  readonly callsMax: number;
  options(kind: "document" | "query"): ProviderOptions;
}

export interface ProviderOptions {
  readonly dimensions?: number | undefined;
  readonly providerOptions?: { readonly amazonBedrock: Record<string, string | number | boolean> } | undefined;
}

export async function openProvider(
  settings: RemoteModelSettings,
  fetch: typeof globalThis.fetch,
  env: Environment,
): Promise<ProviderModel> {
  return settings.provider === "bedrock" ? openBedrock(settings, fetch, env) : openCompatible(settings, fetch, env);
}

type CompatibleSettings = Extract<RemoteModelSettings, { readonly provider: "openai" | "ollama" }>;

async function openCompatible(
  settings: CompatibleSettings,
  fetch: typeof globalThis.fetch,
  env: Environment,
): Promise<ProviderModel> {
  const ollama = settings.provider === "ollama";
  const { provider, name, secrets } = await connectCompatible(settings, fetch, env);
  return {
    model: provider.embeddingModel(settings.model),
    name,
    secrets,
    // A request has about 100 texts: well under the providers' limits (2,048 texts, 300,000 tokens), and little is lost when one fails.
    batchTextsMax: ollama ? 32 : 96,
    batchesMax: ollama ? 1 : 4,
    callsMax: 1,
    options: () => (settings.requestDims === true ? { dimensions: settings.dims } : {}),
  };
}

type BedrockSettings = Extract<RemoteModelSettings, { readonly provider: "bedrock" }>;

async function openBedrock(
  settings: BedrockSettings,
  fetch: typeof globalThis.fetch,
  env: Environment,
): Promise<ProviderModel> {
  const { provider, name, secrets } = await connectBedrock(settings, fetch, env);
  return {
    model: provider.embeddingModel(settings.model),
    name,
    secrets,
    // Titan and Nova take one text per call, Cohere 96.
    batchTextsMax: 96,
    batchesMax: 1,
    callsMax: 8,
    options: (kind) => ({ providerOptions: { amazonBedrock: bedrockOptions(settings, kind) } }),
  };
}

/** `truncate: NONE`: a text that is longer than the model's limit is rejected, never silently truncated. */
function bedrockOptions(
  { model, dims, requestDims }: BedrockSettings,
  kind: "document" | "query",
): Record<string, string | number | boolean> {
  if (model.includes("cohere.embed-")) {
    return {
      inputType: kind === "query" ? "search_query" : "search_document",
      truncate: "NONE",
      ...(requestDims === true ? { outputDimension: dims } : {}),
    };
  }
  if (model.includes("amazon.nova-")) {
    return {
      embeddingPurpose: kind === "query" ? "TEXT_RETRIEVAL" : "GENERIC_INDEX",
      truncate: "NONE",
      embeddingDimension: dims,
    };
  }
  return requestDims === true ? { dimensions: dims } : {};
}
