/** Names of repositories and collections for screens that only have ids. Deleted or inaccessible ones have no name here. */
import type { Collection, Repository } from "@pinakes/client";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { uiStrings } from "../strings/ui.ts";
import { refOf } from "./collection-ref.ts";
import { collectionOptions, collectionsOptions, repositoriesOptions, type CollectionId } from "./collections.ts";

interface CollectionIds {
  readonly repository_id: string;
  readonly collection_id: string;
}

/** "Papers / My notes"; falls back to the id. */
export type CollectionName = (place: CollectionIds) => string;

const personalId = /^personal-([0-9a-f]{8})[0-9a-f]{24}$/;

export function collectionName(
  repositories: readonly Pick<Repository, "repository_id" | "name">[],
  collections: readonly Pick<Collection, "repository_id" | "collection_id" | "name">[],
): CollectionName {
  const repositoryNames = new Map(repositories.map((one) => [one.repository_id, one.name]));
  const collectionNames = new Map(
    collections.map((one) => [refOf({ rid: one.repository_id, cid: one.collection_id }), one.name]),
  );
  return ({ repository_id: rid, collection_id: cid }) => {
    const repository =
      repositoryNames.get(rid) ?? rid.replace(personalId, (_, begin: string) => uiStrings.personalOf(begin));
    return cid === "" ? repository : `${repository} / ${collectionNames.get(refOf({ rid, cid })) ?? cid}`;
  };
}

/** Of the newest collections that are loaded: lists mostly refer to those. */
export function useCollectionName(): CollectionName {
  const repositories = useQuery(repositoriesOptions).data?.items;
  const collections = useInfiniteQuery(collectionsOptions()).data?.items;
  return collectionName(repositories ?? [], collections ?? []);
}

/** Undefined while loading or if it does not exist. Most are in the cached list; only missing ones are fetched. */
export function useCollection({ rid, cid }: CollectionId): Collection | undefined {
  const list = useInfiniteQuery(collectionsOptions()).data?.items;
  const listed = list?.find((one) => one.repository_id === rid && one.collection_id === cid);
  const asked = useQuery({
    ...collectionOptions({ rid, cid }),
    enabled: list !== undefined && listed === undefined,
  }).data;
  return listed ?? asked;
}

const madeId = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The repository, and the id if it was chosen by a user. */
export function labelOf({ repository_name, collection_id }: Collection): string {
  return madeId.test(collection_id) ? repository_name : `${repository_name} / ${collection_id}`;
}
