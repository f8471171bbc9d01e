/** What a collection is called, for screens that know only its ids. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { collectionOptions, collectionsOptions, type Collection, type CollectionId } from "../../api/collections.ts";

/** Undefined as long as it is not known, or when it is gone. The list has most of them at once; only one that it lacks is asked for. */
export function useCollection({ rid, cid }: CollectionId): Collection | undefined {
  const list = useInfiniteQuery(collectionsOptions()).data?.items;
  const listed = list?.find((one) => one.repository_id === rid && one.collection_id === cid);
  const asked = useQuery({ ...collectionOptions({ rid, cid }), enabled: list !== undefined && listed === undefined }).data;
  return listed ?? asked;
}

const madeId = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Which repository, and the id where somebody chose it. */
export function placeOf({ repository_name, collection_id }: Collection): string {
  return madeId.test(collection_id) ? repository_name : `${repository_name} / ${collection_id}`;
}
