/** `repository/collection`: how calls name a collection. */
import type { CollectionRef, SearchPlace } from "./api/knowledge-api.ts";
import { invalidInput } from "./errors.ts";

export function collectionOf(at: CollectionRef): { readonly repository: string; readonly collection: string } {
  if (typeof at === "object" && at !== null && typeof at.repository === "string" && typeof at.collection === "string")
    return at;
  const [repository = "", collection = "", ...rest] = typeof at === "string" ? at.split("/") : [];
  if (repository !== "" && collection !== "" && rest.length === 0) return { repository, collection };
  throw invalidInput(`A collection is named "repository/collection", such as "me/notes"; got ${JSON.stringify(at)}.`);
}

/** The collections named by a search; undefined for all. */
export function collectionsOf(
  within: SearchPlace | readonly SearchPlace[] | undefined,
): readonly { readonly repository: string; readonly collection?: string }[] | undefined {
  if (within === undefined) return undefined;
  return (Array.isArray(within) ? (within as readonly SearchPlace[]) : [within as SearchPlace]).map((place) =>
    typeof place === "object" && place !== null && !("collection" in place) && typeof place.repository === "string"
      ? place
      : collectionOf(place as CollectionRef),
  );
}
