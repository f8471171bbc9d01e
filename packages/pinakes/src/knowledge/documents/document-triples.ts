/**
 * The triples that the passages of a document state: those that searches show, with the passages that say each. The store knows who supports
 * a triple, and not which triples a source supports, so the collection's triples are looked through, a bounded number for each answer. A page
 * may therefore be short, or empty, and still have a cursor.
 */
import { PinakesError } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { QuadPage } from "../../ports/triple-store.ts";
import type { GraphCursors } from "../graph/graph-cursors.ts";
import { tripleView, type TripleView } from "../graph/triple-view.ts";
import { sourceMark } from "../ingest/graph-support.ts";
import { chunkId } from "../ingest/passages.ts";
import type { DocumentRecord, IndexedVersion } from "../model/records.ts";
import type { ListPage } from "../paging.ts";
import type { KnowledgeParts } from "../parts.ts";

/** Triples of the collection that are looked at for one answer. */
export const lookedThroughTriplesMax = 2_000;

export interface DocumentTriple extends TripleView {
  /** The passages of this document that state it, in the order of the text. */
  readonly passages: readonly { readonly chunk_id: string; readonly index: number }[];
}

interface Asked {
  readonly scope: Scope;
  /** The life of the collection. */
  readonly space: string;
  readonly record: DocumentRecord;
  readonly shown: IndexedVersion | null;
  readonly limit: number;
  readonly cursor: string | undefined;
}

export async function documentTriples(
  parts: Pick<KnowledgeParts, "triples">,
  cursors: GraphCursors,
  { scope, space, record, shown, limit, cursor }: Asked,
): Promise<ListPage<DocumentTriple>> {
  const { document_id, graph } = record;
  if (shown === null || graph?.sources.includes(sourceMark(shown)) !== true) return { items: [], next_cursor: null };
  const source = `${document_id}.${sourceMark(shown)}`;
  const question = ["document", space, source];
  let place = cursor === undefined ? undefined : ((await cursors.open(scope, question, cursor)) as string);
  const items: DocumentTriple[] = [];
  let left = lookedThroughTriplesMax;
  do {
    // Never more than fit on the page: so the place behind them is where the next page begins.
    const page = await match(parts, scope, space, { limit: Math.min(limit - items.length, left), cursor: place });
    const supports = page.quads.length === 0 ? [] : await parts.triples.supports(scope, space, page.quads);
    for (const [i, quad] of page.quads.entries()) {
      const own = (supports[i] ?? []).filter((support) => support.source === source).map(({ part }) => part);
      if (own.length === 0) continue;
      const passages = own.map((index) => ({ chunk_id: chunkId(document_id, shown.run, index), index }));
      items.push({ ...tripleView(quad), passages });
    }
    left -= page.quads.length;
    place = page.cursor;
  } while (place !== undefined && items.length < limit && left > 0);
  return { items, next_cursor: place === undefined ? null : await cursors.seal(scope, question, place) };
}

async function match(
  { triples }: Pick<KnowledgeParts, "triples">,
  scope: Scope,
  space: string,
  options: { readonly limit: number; readonly cursor: string | undefined },
): Promise<QuadPage> {
  try {
    return await triples.match(scope, space, {}, options);
  } catch (error) {
    // Fenced between the access decision and now.
    if (!PinakesError.isInstance(error) || error.code !== "CONFLICT") throw error;
    throw new PinakesError("NOT_FOUND", "The collection was deleted meanwhile.", { cause: error });
  }
}
