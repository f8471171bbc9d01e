/**
 * Derives resource changes from the change feeds: documents and collections by the events that the caller may see, workflows and sessions
 * by the feeds of their containers. Only the feeds needed for the subscribed URIs are followed.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { KnowledgeEvent } from "@pinakes/client";
import { collectionUri, documentUri, sessionUri, workflowUri, type McpSession } from "../../mcp/index.ts";

/** A URI, or "list": a collection was added, removed or renamed. */
export type ResourceChange = string;

export interface WantedChanges {
  readonly documents: boolean;
  readonly workflows: boolean;
  readonly sessions: boolean;
}

const pollMs = 1_000;

export function wantedFor(uris: readonly string[]): WantedChanges {
  return {
    documents: true,
    workflows: uris.some((uri) => uri.startsWith("state://workflows/")),
    sessions: uris.some((uri) => uri.startsWith("state://agents/")),
  };
}

/** Calls `changed` until the signal is aborted. A feed that fails is resumed from its last position. */
export async function followResources(
  { knowledge, state }: Pick<McpSession, "knowledge" | "state">,
  { documents, workflows, sessions }: WantedChanges,
  changed: (uri: ResourceChange) => void,
  signal: AbortSignal,
): Promise<void> {
  const follow = async (container: string, uriOf: (document: Readonly<Record<string, unknown>>) => string) => {
    let cursor: string | undefined;
    while (!signal.aborted) {
      const page = await state.containers.changes(
        container,
        cursor === undefined ? { from: "now", limit: 1 } : { cursor },
      );
      if (cursor !== undefined)
        for (const { document } of page.items) if (document !== undefined) changed(uriOf(document));
      cursor = page.cursor;
      if (!page.more) await sleep(pollMs, undefined, { signal }).catch(() => {});
    }
  };
  await Promise.all([
    documents ? followEvents(knowledge.events.follow({ signal }), changed) : undefined,
    workflows ? follow("workflow-states", ({ workflow_id }) => workflowUri(String(workflow_id))) : undefined,
    sessions
      ? follow("agent-memories", ({ agent_id, session_id }) => sessionUri(String(agent_id), String(session_id)))
      : undefined,
  ]);
}

async function followEvents(
  events: AsyncIterable<KnowledgeEvent>,
  changed: (uri: ResourceChange) => void,
): Promise<void> {
  for await (const { type, resource } of events) {
    const { repository_id, collection_id, document_id } = resource as Readonly<Record<string, string | undefined>>;
    if (repository_id === undefined || collection_id === undefined) continue;
    const collection = { repository_id, collection_id };
    if (document_id !== undefined) changed(documentUri({ ...collection, document_id }));
    changed(collectionUri(collection));
    if (type === "collection.status") changed("list");
  }
}
