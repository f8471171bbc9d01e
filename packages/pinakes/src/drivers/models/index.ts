/** Embedding and chat models by their settings. A provider's library is loaded only when one of its models is opened. */
import { invalid } from "../../domain/errors.ts";
import type { ChatModel } from "../../ports/chat-model.ts";
import type { Embedder, EmbedOptions } from "../../ports/embedder.ts";
import type { ChatSettings } from "./chat/settings.ts";
import { pooledEmbedder } from "./pooled-embedder.ts";
import type { ModelSettings } from "./settings.ts";

export { cachedEmbedder } from "./cached-embedder.ts";
export { readChatSettings } from "./chat/settings.ts";
export { readModelSettings, type ModelSettings } from "./settings.ts";

export async function openEmbedder(settings: ModelSettings): Promise<Embedder> {
  const embedder = await open(settings);
  const { queryPrefix = "", documentPrefix = "" } = settings;
  return queryPrefix === "" && documentPrefix === ""
    ? embedder
    : pooledEmbedder(await withPrefixes(embedder, queryPrefix, documentPrefix));
}

async function open(settings: ModelSettings): Promise<Embedder> {
  if (settings.provider === "local") {
    const { openLocalEmbedder } = await import("./local/index.ts");
    return openLocalEmbedder(settings);
  }
  const { openAiSdkEmbedder } = await import("./ai-sdk/index.ts");
  return openAiSdkEmbedder(settings);
}

export async function openChatModel(settings: ChatSettings): Promise<ChatModel> {
  const chat = await import("./chat/index.ts");
  return chat.openChatModel(settings);
}

/**
 * Some models were trained with a prefix that marks a text as query or document. Its tokens are subtracted from the limit, so that a text
 * that fits still fits with it.
 */
async function withPrefixes(embedder: Embedder, queryPrefix: string, documentPrefix: string): Promise<Embedder> {
  const tokenizer = await embedder.tokenizer();
  const taken = Math.max(
    ...[queryPrefix, documentPrefix].map((prefix) =>
      tokenizer.words(prefix).tokens.reduce((sum, tokens) => sum + tokens, 0),
    ),
  );
  const { model } = embedder;
  if (taken >= model.tokensMax)
    throw invalid(
      `models: the prefix of "${model.id}" leaves no room for a text; the model reads ${model.tokensMax} tokens.`,
    );
  return {
    model: { ...model, tokensMax: model.tokensMax - taken },
    tokenizer: () => embedder.tokenizer(),
    embed: (texts: readonly string[], options?: EmbedOptions) => {
      const prefix = options?.kind === "query" ? queryPrefix : documentPrefix;
      return embedder.embed(prefix === "" ? texts : texts.map((text) => prefix + text), options);
    },
    close: () => embedder.close(),
  };
}
