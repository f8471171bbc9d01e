/** A search with the extra options of collections/query-options.ts. */
import { requireCaller, type Caller } from "../../domain/caller.ts";
import { openToQuery } from "../collections/open-or-create.ts";
import type { Services } from "./services.ts";
import type { CollectionView } from "../views.ts";
import { withCatalogLimit } from "../search/catalog-hits.ts";
import {
  knownAmong,
  recordsOf,
  type CollectionName,
  type QueryMore,
  type QueryWishes,
} from "../collections/query-options.ts";
import type { SearchTarget } from "../collections/query-options.ts";
import { checkSearch, type SearchInput } from "../search/search-input.ts";
import type { SearchResult } from "../search/search-result.ts";

type Dependencies = Pick<Services, "deps" | "collections" | "repositories" | "search" | "activity">;

export async function answerQuery(
  services: Dependencies,
  caller: Caller,
  input: SearchInput & QueryWishes,
  recordOf: (name: CollectionName) => Promise<CollectionView>,
): Promise<SearchResult & QueryMore> {
  const scope = requireCaller(caller);
  const { include_metadata, unknown_collections, ...rest } = input;
  const { input: query, warnings } = withCatalogLimit(rest, services.deps.quotas.catalogHitsMax);
  const lenient = unknown_collections === "empty" && query.collections !== undefined;
  const open = ({ repository, collection }: SearchTarget): Promise<unknown> =>
    collection === undefined
      ? services.repositories.get(caller, repository)
      : openToQuery(services, caller, repository, collection);
  const { known, missing } = lenient
    ? await knownAmong(query.collections ?? [], open)
    : { known: query.collections, missing: [] };
  const result =
    lenient && known?.length === 0
      ? nothingFound(query)
      : await services.search.search(caller, { ...query, collections: known });
  services.activity.add(scope, { searches: 1, search_ms: result.timings.total_ms });
  // For whole repositories and for a search over everything: the collections that have hits.
  const wide = known === undefined || known.some(({ collection }) => collection === undefined);
  const named = [
    ...(known ?? []).flatMap(({ repository, collection }) =>
      collection === undefined ? [] : [{ repository, collection }],
    ),
    ...(wide
      ? result.hits.map(({ repository_id, collection_id }) => ({
          repository: repository_id,
          collection: collection_id,
        }))
      : []),
  ];
  return {
    ...result,
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(include_metadata === true ? { collections: await recordsOf(named, recordOf) } : {}),
    ...(lenient ? { collection_exists: missing.length === 0, missing } : {}),
  };
}

/** When no collection is left to search, an invalid query is still refused. */
function nothingFound(input: SearchInput): SearchResult {
  const { mode } = checkSearch(input);
  return { hits: [], outcome: "empty", mode_used: mode, timings: { embed_ms: 0, search_ms: 0, total_ms: 0 } };
}
