/**
 * The triples that the live chunks of a document state, with the chunks that state each, from the index of triples by source. Labels that
 * extraction stores to find entities by name are left out, so a page may be short and still have a cursor.
 */
import { hasCode, PinakesError } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { SourcePage, SupportedQuad } from "../../ports/triple-store.ts";
import { labelsGraph } from "../extraction/index.ts";
import type { SealedCursors } from "../records/sealed-cursors.ts";
import { tripleView, type TripleView } from "../graph/triple-view.ts";
import { sourceMark } from "./graph-support.ts";
import { chunkId } from "./passages.ts";
import type { DocumentRecord, IndexedVersion } from "../records/records.ts";
import type { ListPage } from "../records/paging.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";

/** Maximum number of triples read for one page, including those left out. */
export const lookedThroughTriplesMax = 2_000;
/** Triples read in the next call after a page with no visible ones; four times as many after each further one. */
const widthTriples = 64;

export interface DocumentTriple extends TripleView {
  /** The chunks of this document that state it, in the order of the text. */
  readonly passages: readonly { readonly chunk_id: string; readonly index: number }[];
}

interface Asked {
  readonly scope: Scope;
  /** The incarnation of the collection. */
  readonly space: string;
  readonly record: DocumentRecord;
  readonly shown: IndexedVersion | null;
  readonly limit: number;
  readonly cursor: string | undefined;
}

export async function documentTriples(
  deps: Pick<KnowledgeDependencies, "triples">,
  cursors: SealedCursors,
  { scope, space, record, shown, limit, cursor }: Asked,
): Promise<ListPage<DocumentTriple>> {
  const { document_id, graph } = record;
  if (shown === null || graph?.sources.includes(sourceMark(shown)) !== true) return { items: [], next_cursor: null };
  const source = `${document_id}.${sourceMark(shown)}`;
  const question = ["document", space, source];
  let position = cursor === undefined ? undefined : ((await cursors.open(scope, question, cursor)) as string);
  const items: DocumentTriple[] = [];
  let budget = lookedThroughTriplesMax;
  let width = 0;
  do {
    const want = limit - items.length;
    const page = await shownAmong(
      (rows) => statedBy(deps, scope, space, source, { limit: rows, cursor: position }),
      want,
      Math.min(Math.max(want, width), budget),
    );
    for (const { quad, parts: indexes } of page.quads.filter(isShown))
      items.push({
        ...tripleView(quad),
        passages: indexes.map((index) => ({ chunk_id: chunkId(document_id, shown.run, index), index })),
      });
    budget -= page.quads.length;
    position = page.cursor;
    width = Math.max(widthTriples, 4 * width);
  } while (position !== undefined && items.length < limit && budget > 0);
  return { items, next_cursor: position === undefined ? null : await cursors.seal(scope, question, position) };
}

function isShown({ quad }: SupportedQuad): boolean {
  return quad.g !== labelsGraph;
}

/**
 * At most `want` visible triples among up to `rows`. Cursors exist only at the ends of the store's pages, so if there are more, the store
 * is read once more for exactly as many rows as hold the wanted ones.
 */
async function shownAmong(
  read: (rows: number) => Promise<SourcePage>,
  want: number,
  rows: number,
): Promise<SourcePage> {
  const page = await read(rows);
  const at = page.quads.flatMap((row, i) => (isShown(row) ? [i] : []));
  if (at.length <= want) return page;
  const again = await read((at[want - 1] as number) + 1);
  // If rows in between were deleted concurrently: reading only `want` rows never gives more.
  return again.quads.filter(isShown).length <= want ? again : read(want);
}

async function statedBy(
  { triples }: Pick<KnowledgeDependencies, "triples">,
  scope: Scope,
  space: string,
  source: string,
  options: { readonly limit: number; readonly cursor: string | undefined },
): Promise<SourcePage> {
  try {
    return await triples.ofSource(scope, space, source, options);
  } catch (error) {
    // Fenced between the access decision and now.
    if (!hasCode(error, "CONFLICT")) throw error;
    throw new PinakesError("NOT_FOUND", "The collection was deleted meanwhile.", { cause: error });
  }
}
