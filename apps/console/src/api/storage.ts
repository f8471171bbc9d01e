import type { Collection, Page } from "@pinakes/client";
import { queryOptions } from "@tanstack/react-query";
import { get } from "./request.ts";

const shownMax = 10;
const againMs = 30_000;

/** The server sorts all collections for this: polled, not refetched on events. */
export const largestCollectionsOptions = queryOptions({
  queryKey: ["storage", "largest"],
  queryFn: async ({ signal }) => {
    const query = { sort: "size", order: "desc", min_size_bytes: 1, limit: shownMax };
    return (await get<Page<Collection>>("/v1/collections", { query, signal })).items;
  },
  refetchInterval: againMs,
});
