/** The client of agents' state without a server: the stores are in this process, and everything is done for one workspace. */
import { createClient, type StateClient } from "@pinakes/client";
import { open, type OpenOptions, type Pinakes } from "./open.ts";

export interface EmbeddedOptions extends OpenOptions {
  readonly workspace: string;
  /** Who the program acts for; `embedded` when absent. */
  readonly userId?: string;
}

export interface EmbeddedClient extends StateClient, AsyncDisposable {
  /** Everything else: other workspaces, knowledge, the stores themselves. */
  readonly pinakes: Pinakes;
  close(): Promise<void>;
}

const userIdDefault = "embedded";

/**
 * @example
 * await using client = await openEmbedded({ dir: "./data", workspace: "acme" });
 * await client.memories.append({ agent_id: "a1", session_id: "s1", message_type: "user", content: "Hello" });
 */
export async function openEmbedded({ workspace, userId = userIdDefault, ...options }: EmbeddedOptions): Promise<EmbeddedClient> {
  const pinakes = await open(options);
  try {
    const client = createClient(pinakes.state.as(pinakes.as({ tenant: workspace, userId, role: "admin" })));
    const close = (): Promise<void> => pinakes.close();
    return { ...client, pinakes, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await pinakes.close();
    throw error;
  }
}
