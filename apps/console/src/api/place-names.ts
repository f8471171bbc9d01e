/** Names of repositories and collections for lists that have their ids only. What is deleted or another's has no name here. */
import { useQuery } from "@tanstack/react-query";
import { uiStrings } from "../strings/ui.ts";
import { refOf } from "./collection-ref.ts";
import { repositoriesOptions, type Collection, type Repository } from "./collections.ts";
import type { Page } from "./page.ts";
import { get } from "./request.ts";

/** The server gives no more at once; the newest are those that lists are about. */
const collectionsMax = 100;

interface PlaceIds {
  readonly repository_id: string;
  readonly collection_id: string;
}

/** "Papers / My notes"; what has no name here, by its id. */
export type PlaceName = (place: PlaceIds) => string;

const personalId = /^personal-([0-9a-f]{8})[0-9a-f]{24}$/;

export function placeName(
  repositories: readonly Pick<Repository, "repository_id" | "name">[],
  collections: readonly Pick<Collection, "repository_id" | "collection_id" | "name">[],
): PlaceName {
  const repositoryNames = new Map(repositories.map((one) => [one.repository_id, one.name]));
  const collectionNames = new Map(collections.map((one) => [refOf({ rid: one.repository_id, cid: one.collection_id }), one.name]));
  return ({ repository_id: rid, collection_id: cid }) => {
    const repository = repositoryNames.get(rid) ?? rid.replace(personalId, (_, begin: string) => uiStrings.personalOf(begin));
    return cid === "" ? repository : `${repository} / ${collectionNames.get(refOf({ rid, cid })) ?? cid}`;
  };
}

export function usePlaceName(): PlaceName {
  const repositories = useQuery(repositoriesOptions).data?.items;
  const collections = useQuery({
    queryKey: ["collections", "names"],
    queryFn: ({ signal }) => get<Page<Collection>>("/v1/collections", { query: { limit: collectionsMax }, signal }),
  }).data?.items;
  return placeName(repositories ?? [], collections ?? []);
}
