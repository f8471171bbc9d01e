/** The facade for clients of the OpenAI API, at the base URL `/openai/v1`. */
import type { Pinakes } from "../../../open.ts";
import type { Route } from "../../framework/index.ts";
import { conversationRoutes } from "./conversation-routes.ts";
import { embeddingRoutes } from "./embeddings.ts";
import { fileRoutes } from "./files.ts";
import { chatRoutes } from "./generation/chat-completions.ts";
import { responseRoutes } from "./generation/responses.ts";
import { searchRoutes } from "./search.ts";
import { storeFileRoutes } from "./store-files.ts";
import { Stores } from "./stores.ts";
import { uploadRoutes } from "./uploads.ts";
import { vectorStoreRoutes } from "./vector-stores.ts";

export { errorBody, openAiPrefix } from "./openai-route.ts";

export function openAiRoutes({ knowledge, state }: Pick<Pinakes, "knowledge" | "state">): readonly Route[] {
  const stores = new Stores(knowledge);
  return [
    ...fileRoutes(knowledge),
    ...uploadRoutes(knowledge),
    ...vectorStoreRoutes(knowledge, stores),
    ...storeFileRoutes(knowledge, stores),
    ...searchRoutes(knowledge, stores),
    ...embeddingRoutes(knowledge),
    ...conversationRoutes(state),
    ...responseRoutes({ knowledge, state }, stores),
    ...chatRoutes(knowledge, stores),
  ];
}
