/** Reads the quads of a collection: the graph of labels is hidden unless a pattern names it or `all` asks for it. */
import type { Caller } from "../../domain/caller.ts";
import { hasCode, PinakesError } from "../../domain/errors.ts";
import type { Quad } from "../../domain/rdf.ts";
import type { QuadPage, QuadPattern } from "../../ports/triple-store.ts";
import { hideGraphs, tripleStoreSource } from "../../sparql/index.ts";
import type { OpenCollection } from "../access/open-collection.ts";
import { labelsGraph } from "../extraction/index.ts";
import { graphLimits } from "./graph-limits.ts";
import type { TripleReads } from "./visible-triples.ts";

/** What the caller may see of the store (visible-triples.ts). */
export interface QuadDependencies {
  readonly triples: TripleReads;
}

export async function matchQuads(
  deps: QuadDependencies,
  caller: Caller,
  { collection }: OpenCollection,
  pattern: QuadPattern,
  { all = false, ...options }: { readonly limit: number; readonly cursor?: string | undefined; readonly all?: boolean },
): Promise<Pick<QuadPage, "quads" | "cursor">> {
  const { triples } = deps;
  try {
    if (all || pattern.g !== undefined)
      return await triples.match(caller.scope, collection.incarnation, pattern, options);
    return await hideGraphs(tripleStoreSource(triples, caller.scope, [collection.incarnation]), [labelsGraph]).match(
      pattern,
      options,
    );
  } catch (error) {
    // Fenced between the access decision and now.
    if (!hasCode(error, "CONFLICT")) throw error;
    throw new PinakesError("NOT_FOUND", `Collection "${collection.collection_id}" was deleted concurrently.`, {
      cause: error,
    });
  }
}

/** True also if the store has more rows, but none of them is visible. */
export async function isLastPage(
  deps: QuadDependencies,
  caller: Caller,
  opened: OpenCollection,
  pattern: QuadPattern,
  { cursor }: Pick<QuadPage, "cursor">,
): Promise<boolean> {
  if (cursor === undefined || pattern.g !== undefined) return cursor === undefined;
  const next = await matchQuads(deps, caller, opened, pattern, { limit: 1, cursor });
  return next.quads.length === 0 && next.cursor === undefined;
}

export async function* quadPages(
  deps: QuadDependencies,
  caller: Caller,
  opened: OpenCollection,
  pattern: QuadPattern,
  { all = false } = {},
): AsyncGenerator<readonly Quad[]> {
  let cursor: string | undefined;
  do {
    const page = await matchQuads(deps, caller, opened, pattern, { limit: graphLimits.pageTriplesMax, cursor, all });
    if (page.quads.length > 0) yield page.quads;
    ({ cursor } = page);
  } while (cursor !== undefined);
}
