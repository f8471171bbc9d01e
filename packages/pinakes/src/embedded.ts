/** The client without a server: the stores are in this process, and every call acts for one workspace. */
import { PinakesClientError, pinakesClient, type PinakesClient } from "@pinakes/client";
import { embeddedKnowledge } from "./embedded-knowledge.ts";
import { AuditRecorder, auditedKnowledge, auditedState } from "./governance/index.ts";
import { open, type OpenOptions, type Pinakes } from "./open.ts";

export interface EmbeddedOptions extends OpenOptions {
  readonly workspace: string;
  /** The user that the program acts for; default `embedded`. */
  readonly userId?: string | undefined;
}

export interface EmbeddedClient extends PinakesClient, AsyncDisposable {
  /** Everything else: other workspaces, the stores themselves. */
  readonly pinakes: Pinakes;
  close(): Promise<void>;
}

const userIdDefault = "embedded";

/**
 * @example
 * await using client = await openEmbedded({ dir: "./data", workspace: "acme" });
 * await client.memories.append({ agent_id: "a1", session_id: "s1", message_type: "user", content: "Hello" });
 */
export async function openEmbedded({
  workspace,
  userId = userIdDefault,
  ...options
}: EmbeddedOptions): Promise<EmbeddedClient> {
  // Before any store is opened. JavaScript callers have no types that require it.
  if (typeof workspace !== "string" || workspace === "") throw noWorkspace("It is missing.");
  const pinakes = await open(options);
  try {
    const caller = callerOf(pinakes, workspace, userId);
    const auth = pinakes.identity.embedded(caller);
    const recorder = new AuditRecorder(pinakes.audit);
    const who = { auth: () => auth, face: "embedded" } as const;
    const client = pinakesClient(
      auditedState(pinakes.state.as(caller), recorder, who),
      auditedKnowledge(embeddedKnowledge(pinakes, caller, auth), recorder, who),
    );
    const close = (): Promise<void> => pinakes.close();
    return { ...client, pinakes, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await pinakes.close();
    throw error;
  }
}

function callerOf(pinakes: Pinakes, workspace: string, userId: string): ReturnType<Pinakes["as"]> {
  try {
    return pinakes.as({ tenant: workspace, userId, role: "admin" });
  } catch (cause) {
    throw noWorkspace(cause instanceof Error ? cause.message : "", cause);
  }
}

function noWorkspace(why: string, cause?: unknown): PinakesClientError {
  return new PinakesClientError({
    code: "INVALID",
    status: 400,
    detail: `workspace: must be a workspace id, such as { workspace: "acme" }. ${why}`,
    cause,
  });
}
