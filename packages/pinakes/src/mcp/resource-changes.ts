/**
 * Which resources change, from the change feeds: documents and collections by the events that the caller may see, workflows and sessions by
 * the feeds of their containers. Only the feeds that the wanted URIs need are followed.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { KnowledgeEvent } from "@pinakes/client";
import type { McpSession } from "./tool.ts";
import { collectionUri, documentUri, sessionUri, workflowUri } from "./uris.ts";

/** A URI, or "list": a collection came, went or was renamed. */
export type ResourceChange = string;

export interface WantedChanges {
  readonly workflows: boolean;
  readonly sessions: boolean;
}

export const allChanges: WantedChanges = { workflows: true, sessions: true };
const pollMs = 1_000;

/** Documents and the list are always followed. */
export function wantedFor(uris: readonly string[]): WantedChanges {
  return {
    workflows: uris.some((uri) => uri.startsWith("state://workflows/")),
    sessions: uris.some((uri) => uri.startsWith("state://agents/")),
  };
}

export interface Following {
  /** Until the signal; rejects when a feed or `changed` fails. */
  readonly over: Promise<void>;
}

/** Resolves when every change from now on will be told to `changed`, which is awaited. */
export async function followResources(
  { knowledge, state }: Pick<McpSession, "knowledge" | "state">,
  { workflows, sessions }: WantedChanges,
  changed: (uri: ResourceChange) => void | Promise<void>,
  signal: AbortSignal,
): Promise<Following> {
  const stop = new AbortController();
  const until = AbortSignal.any([signal, stop.signal]);
  const { containers } = state;
  const follow = async (container: string, uriOf: (document: Readonly<Record<string, unknown>>) => string) => {
    let { cursor } = await containers.changes(container, { from: "now", limit: 1 });
    return async (): Promise<void> => {
      while (!until.aborted) {
        const page = await containers.changes(container, { cursor });
        for (const { document } of page.items) if (document !== undefined) await changed(uriOf(document));
        ({ cursor } = page);
        if (!page.more) await sleep(pollMs, undefined, { signal: until }).catch(() => {});
      }
    };
  };
  const feeds = await Promise.all([
    workflows ? follow("workflow-states", ({ workflow_id }) => workflowUri(String(workflow_id))) : undefined,
    sessions
      ? follow("agent-memories", ({ agent_id, session_id }) => sessionUri(String(agent_id), String(session_id)))
      : undefined,
  ]);
  const opened = Promise.withResolvers<void>();
  const events = followEvents(knowledge.events.follow({ signal: until, onOpen: opened.resolve }), changed);
  const over = Promise.all([events, ...feeds.map((feed) => feed?.())])
    .then(() => {})
    .finally(() => stop.abort());
  // Whoever waits for `over` hears of it; here it only ends the waiting.
  over.catch(() => {});
  await Promise.race([opened.promise, over]);
  return { over };
}

async function followEvents(
  events: AsyncIterable<KnowledgeEvent>,
  changed: (uri: ResourceChange) => void | Promise<void>,
): Promise<void> {
  for await (const { type, resource } of events) {
    const { repository_id, collection_id, document_id } = resource as Readonly<Record<string, string | undefined>>;
    if (repository_id === undefined || collection_id === undefined) continue;
    const collection = { repository_id, collection_id };
    if (document_id !== undefined) await changed(documentUri({ ...collection, document_id }));
    await changed(collectionUri(collection));
    if (type === "collection.status") await changed("list");
  }
}
