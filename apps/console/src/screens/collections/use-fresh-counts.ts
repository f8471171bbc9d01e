/** While documents are indexed, counts and sizes in lists change all the time: they are asked for again, but not for every document. */
import type { Collection } from "@pinakes/client";
import { collectionRowId } from "../../api/collections.ts";
import { useEvents } from "../../api/events.ts";
import { renewSoon } from "../../app/query-client.ts";

export function useFreshCounts(): void {
  useEvents(({ type, resource: { repository_id, collection_id } }) => {
    if (type === "document.status" && repository_id !== undefined && collection_id !== undefined)
      renewCounts({ repository_id, collection_id });
  });
}

/** Soon, and once for all that happens until then. */
export function renewCounts(of: Pick<Collection, "repository_id" | "collection_id">): void {
  renewSoon(["collections"], [collectionRowId(of)]);
}
