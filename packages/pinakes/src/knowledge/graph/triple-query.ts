/** What queries and removals of triples send and return. */
import { invalid, PinakesError } from "../../domain/errors.ts";
import type { JsonValue } from "../../domain/json.ts";
import type { Quad } from "../../domain/rdf.ts";
import type { QuadPattern } from "../../ports/triple-store.ts";
import { labelsGraph } from "../extraction/index.ts";
import type { CollectionName, QueryWishes } from "../collections/query-options.ts";
import type { CollectionView } from "../views.ts";
import { bounded } from "./ask-sparql.ts";
import { graphLimits } from "./graph-limits.ts";
import type { SpaceWriter } from "./space-writer.ts";
import { readTriple, type PatternInput, type TripleInput, type TripleView } from "./triple-view.ts";

export interface TripleQuery extends PatternInput {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  /** Adds the record of the collection. */
  readonly include_metadata?: boolean | undefined;
}

export interface TriplePage<View = TripleView> {
  readonly items: readonly View[];
  readonly next_cursor: string | null;
  /** There are more triples than these. */
  readonly truncated: boolean;
  readonly collection?: CollectionView;
}

export interface AcrossQuery extends PatternInput, QueryWishes {
  readonly collections: readonly CollectionName[];
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface TaggedTriple extends TripleView {
  readonly repository_id: string;
  readonly collection_id: string;
}

export interface TripleRemoval extends PatternInput {
  /** Exact triples, instead of a pattern. */
  readonly triples?: readonly TripleInput[] | undefined;
  /** The id of the collection; required for an empty pattern. */
  readonly confirm?: string | undefined;
}

export function pageLimit(limit: number | undefined): number {
  return bounded("limit", limit, graphLimits.pageTriplesMax, graphLimits.pageTriplesDefault);
}

export function patternKey({ s, p, o, g }: QuadPattern): readonly JsonValue[] {
  return [s ?? null, p ?? null, o ?? null, g ?? null];
}

/** Splits off the quads of the hidden graph. */
export function parted(quads: readonly Quad[]): readonly [own: readonly Quad[], rest: readonly Quad[]] {
  return [quads.filter(({ g }) => g === labelsGraph), quads.filter(({ g }) => g !== labelsGraph)];
}

export async function removeGiven(
  writer: SpaceWriter,
  triples: readonly TripleInput[],
): Promise<{ readonly removed: number }> {
  if (!Array.isArray(triples) || triples.length === 0)
    throw invalid("triples: must be a list of at least one { s, p, o, g }.");
  if (triples.length > graphLimits.removedTriplesMax)
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `triples: at most ${graphLimits.removedTriplesMax} can be removed at once; send them in several requests, or use a pattern.`,
    );
  const { removed } = await writer.write({ remove: (triples as readonly TripleInput[]).map(readTriple) });
  return { removed };
}
