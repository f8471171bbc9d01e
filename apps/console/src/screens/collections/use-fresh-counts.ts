/** During indexing, counts and sizes change constantly: lists are refetched, but not for every document. */
import type { Collection } from "@pinakes/client";
import { collectionRowId } from "../../api/collections.ts";
import { useEvents } from "../../api/events.ts";
import { refetchSoon } from "../../app/query-client.ts";

export function useFreshCounts(): void {
  useEvents(({ type, resource: { repository_id, collection_id } }) => {
    if (type === "document.status" && repository_id !== undefined && collection_id !== undefined)
      renewCounts({ repository_id, collection_id });
  });
}

export function renewCounts(of: Pick<Collection, "repository_id" | "collection_id">): void {
  refetchSoon(["collections"], [collectionRowId(of)]);
}
