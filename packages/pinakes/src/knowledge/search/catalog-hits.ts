import { knowledgeLimits } from "../limits.ts";
import { isPersonalId, personalAlias } from "../records/ids.ts";
import type { SearchInput } from "./search-input.ts";

/**
 * Searches of personal catalogs return fewer hits: 5 by default, and at most the quota. A search that also names other collections, or
 * none, is unchanged.
 */
export function withCatalogLimit<Input extends SearchInput>(
  input: Input,
  hitsMax: number,
): { readonly input: Input; readonly warnings: readonly string[] } {
  const { collections = [], limit = Math.min(knowledgeLimits.catalogHitsDefault, hitsMax) } = input;
  const own = collections.every(({ repository }) => repository === personalAlias || isPersonalId(repository));
  if (collections.length === 0 || !own) return { input, warnings: [] };
  // An invalid limit is left to the validation of the input.
  if (limit <= hitsMax || limit > knowledgeLimits.searchHitsMax) return { input: { ...input, limit }, warnings: [] };
  return {
    input: { ...input, limit: hitsMax },
    warnings: [`limit: a search of catalogs returns at most ${hitsMax} hits; ${limit} were requested.`],
  };
}
