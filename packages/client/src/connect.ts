/** One client for everything: what agents know and what they did. */
import type { KnowledgeApi } from "./api/knowledge-api.ts";
import type { StateApi } from "./api/state-api.ts";
import { httpApi } from "./http/http-api.ts";
import { httpKnowledge } from "./http/knowledge.ts";
import type { HttpOptions } from "./http/request.ts";
import { createKnowledgeClient, type KnowledgeClient } from "./knowledge-client.ts";
import { createClient, type StateClient } from "./state-client.ts";

export interface PinakesClient extends StateClient, KnowledgeClient {}

export interface ConnectOptions extends Omit<HttpOptions, "apiKey"> {
  /** An API key or a token of an identity provider; a function is called before each request. It determines the workspace. */
  readonly key?: HttpOptions["apiKey"] | undefined;
}

/**
 * @example
 * const pinakes = connect({ url: "http://127.0.0.1:7430", key });
 * await pinakes.collections.create({ repository: "me", collection_id: "notes", name: "Notes" });
 * await pinakes.documents.upload("me/notes", { name: "a.md", body: "# Trains\nPrefers trains." }, { wait: true });
 * const { hits } = await pinakes.search("how do I travel?", { in: "me/notes", limit: 5 });
 */
export function connect({ key, ...options }: ConnectOptions): PinakesClient {
  const http: HttpOptions = { ...options, apiKey: key };
  return pinakesClient(httpApi(http), httpKnowledge(http));
}

export function pinakesClient(state: StateApi, knowledge: KnowledgeApi): PinakesClient {
  return { ...createClient(state), ...createKnowledgeClient(knowledge) };
}
