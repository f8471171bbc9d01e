/** What an answer adds about its graph, and what `explain` reports of a search. */
import type { Caller } from "../../domain/caller.ts";
import { hasCode } from "../../domain/errors.ts";
import type { Filter } from "../../domain/filter.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { HiddenDocuments } from "../access/hidden-documents.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import type { Joined } from "./graph-hits.ts";
import { inParallel } from "../../runtime/in-parallel.ts";
import type { CheckedSearch } from "./search-input.ts";
import type { SearchResult } from "./search-result.ts";
import { atOnce, type Target } from "./search-scope.ts";
import { isUnknownField } from "./unknown-fields.ts";

type Dependencies = Pick<KnowledgeDependencies, "vectors">;

/** What was searched, and how much the filter removed. */
export async function explainSearch(
  deps: Dependencies,
  caller: Caller,
  targets: readonly Target[],
  query: CheckedSearch,
): Promise<JsonObject> {
  const collections = await inParallel(
    targets,
    atOnce,
    async ({ opened: { collection, decision }, partition, generation = 1, model, rows, hidden }) => {
      const count = async (filter?: Filter) =>
        countRows(deps, caller, partition.vectors(generation), { filter, hidden });
      const passages = await count();
      const matching = query.filter === undefined ? passages : await count(query.filter);
      const { repository_id, collection_id } = collection;
      const own =
        rows === undefined ? {} : { own_rows: await countRows(deps, caller, rows.name, {}), own_rows_dims: rows.dims };
      return {
        repository_id,
        collection_id,
        embedding_model: model,
        access: decision.reason,
        passages,
        removed_by_filter: passages - matching,
        ...own,
      };
    },
  );
  return { mode: query.mode, fusion: query.fusion, vector_weight: query.weight, collections };
}

async function countRows(
  deps: Dependencies,
  caller: Caller,
  name: string,
  { filter, hidden }: { readonly filter?: Filter | undefined; readonly hidden?: HiddenDocuments | undefined },
): Promise<number> {
  try {
    return await deps.vectors.count(caller.scope, name, { ...(filter === undefined ? {} : { filter }), hidden });
  } catch (error) {
    // The search itself has already reported a field that no collection knows: here it matches nothing.
    if (isUnknownField(error) || hasCode(error, "NOT_FOUND")) return 0;
    throw error;
  }
}

export function graphView(joined: readonly Joined[], query: CheckedSearch): Pick<SearchResult, "graph"> {
  const withGraph = joined.filter((one) => one.graphSearched);
  if (withGraph.length === 0 && query.mode !== "graph") return {};
  const best = <Entry extends { readonly score: number }>(entries: readonly Entry[]) =>
    entries.toSorted((a, b) => b.score - a.score);
  return {
    graph: {
      entities: best(withGraph.flatMap(({ entities }) => entities)),
      edges: best(withGraph.flatMap(({ edges }) => edges)).slice(0, query.graph?.limit ?? 0),
    },
  };
}

/** The contribution of the graph. */
export function explainGraph(joined: readonly Joined[], { graph }: CheckedSearch): JsonObject {
  if (graph === undefined) return {};
  const count = (of: (one: Joined) => number) => joined.reduce((sum, one) => sum + of(one), 0);
  return {
    graph: {
      ...graph,
      entities: count(({ entities }) => entities.length),
      passages_added: count(({ added }) => added),
    },
  };
}
