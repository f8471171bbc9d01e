/** Embedding and chat models by their settings. What a provider needs is loaded only when one of its models is opened. */
import type { ChatModel } from "../../ports/chat-model.ts";
import type { Embedder, EmbedOptions, Tokenizer } from "../../ports/embedder.ts";
import type { ChatSettings } from "./chat/settings.ts";
import type { ModelSettings } from "./settings.ts";

export { cachedEmbedder } from "./cached-embedder.ts";
export { readChatSettings } from "./chat/settings.ts";
export { readModelSettings, type ModelSettings } from "./settings.ts";

export async function openEmbedder(settings: ModelSettings): Promise<Embedder> {
  return withPrefixes(await open(settings), settings);
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

/** Counts tokens as a local model does: the default, or the one in a folder. */
export async function openLocalTokenizer(dir?: string): Promise<Tokenizer> {
  const tokenizers = await import("./local/tokenizer.ts");
  return tokenizers.openLocalTokenizer(dir);
}

/** Some models were trained with a word before each text that says whether it is a question or a passage. */
function withPrefixes(embedder: Embedder, { queryPrefix = "", documentPrefix = "" }: ModelSettings): Embedder {
  if (queryPrefix === "" && documentPrefix === "") return embedder;
  return {
    model: embedder.model,
    embed: (texts: readonly string[], options?: EmbedOptions) => {
      const prefix = options?.kind === "query" ? queryPrefix : documentPrefix;
      return embedder.embed(prefix === "" ? texts : texts.map((text) => prefix + text), options);
    },
    close: () => embedder.close(),
  };
}
