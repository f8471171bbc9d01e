/** The AI SDK's chat model for the configured settings. */
import type { LanguageModel } from "ai";
import { connectBedrock, connectCompatible, type Connection, type Environment } from "../ai-sdk/connect.ts";
import type { ChatSettings } from "./settings.ts";

export interface ChatProvider extends Pick<Connection<unknown>, "name" | "secrets"> {
  readonly model: LanguageModel;
}

export async function openChatProvider(
  settings: ChatSettings,
  fetch: typeof globalThis.fetch,
  env: Environment,
): Promise<ChatProvider> {
  if (settings.provider === "bedrock") {
    const { provider, ...names } = await connectBedrock(settings, fetch, env);
    return { model: provider(settings.model), ...names };
  }
  const { provider, ...names } = await connectCompatible(settings, fetch, env);
  return { model: provider.chatModel(settings.model), ...names };
}
