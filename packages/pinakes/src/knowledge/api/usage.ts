/** How much a collection holds: its counters, a fresh count, and the contents of each store. */
import type { CollectionUsage } from "@pinakes/client";
import type { Caller } from "../../domain/caller.ts";
import { incarnationOf } from "../records/incarnation-of.ts";
import type { CollectionRecord } from "../records/records.ts";
import type { Services } from "./services.ts";
import { recount } from "../records/recount.ts";
import { CollectionPartition } from "../records/collection-partition.ts";

/** The caller has passed the access decision. */
export async function usageOf(
  { deps, stores, rows }: Pick<Services, "deps" | "stores" | "rows">,
  caller: Caller,
  collection: CollectionRecord,
  options: { repair?: boolean },
): Promise<CollectionUsage> {
  const counted = await recount(deps.items, new CollectionPartition(deps.items, caller.scope, collection), options);
  const { quads } = await deps.triples.usage(caller.scope, collection.incarnation);
  const held = await Promise.all(
    stores.map(async (one) => [one.store, await one.count(caller.scope, incarnationOf(collection))] as const),
  );
  return {
    ...counted,
    triples: quads,
    stores: {
      ...Object.fromEntries(held),
      documents: counted.recounted.document_count,
      vectors: await rows.count(caller, collection),
      triples: quads,
    },
  };
}
