/** Searches of users' own catalogs answer with fewer hits: 5 when the limit is absent, and at most what the quota allows. */
import { knowledgeLimits } from "../limits.ts";
import { isPersonalId, personalAlias } from "../records/ids.ts";
import type { SearchInput } from "./search-input.ts";

/** The search as it is run, and what the answer says about it. A search that names other collections as well, or none, is unchanged. */
export function withCatalogLimit<Input extends SearchInput>(
  input: Input,
  hitsMax: number,
): { readonly input: Input; readonly warnings: readonly string[] } {
  const { collections = [], limit = Math.min(knowledgeLimits.catalogHitsDefault, hitsMax) } = input;
  const own = collections.every(({ repository }) => repository === personalAlias || isPersonalId(repository));
  if (collections.length === 0 || !own) return { input, warnings: [] };
  // What no search takes is refused by the check of the input.
  if (limit <= hitsMax || limit > knowledgeLimits.searchHitsMax) return { input: { ...input, limit }, warnings: [] };
  return {
    input: { ...input, limit: hitsMax },
    warnings: [`limit: a search of catalogs has at most ${hitsMax} hits; ${limit} were asked for.`],
  };
}
