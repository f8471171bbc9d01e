/**
 * A document's triples and what supports them (RFC 0008). The source of a triple is `<document>.<run>.<generation>`, its part the passage:
 * the same three numbers that name the passage in the vectors. Before the first triple of a source is written the document's record lists
 * it, and it is listed until a `removal` names it, so whoever dies where, somebody knows what has to go.
 */
import { hasCode } from "../../domain/errors.ts";
import type { Quad } from "../../domain/rdf.ts";
import type { Shelf } from "../records/collection-partition.ts";
import type { Extraction } from "../extraction/index.ts";
import type { DocumentGraph, DocumentRecord, IndexedVersion } from "../records/records.ts";
import type { KnowledgeParts } from "../dependencies.ts";

const writeQuadsMax = 5_000;
const writeCharsMax = 8_388_608;

/** `<run>.<generation>`: one source among those of a document. */
export function sourceMark({ run, generation }: Pick<IndexedVersion, "run" | "generation">): string {
  return `${run}.${generation}`;
}

export interface GraphSource {
  readonly documentId: string;
  readonly run: number;
  readonly generation: number;
}

/** Undefined for a source that is no document's. */
export function readSource(source: string): GraphSource | undefined {
  const [, documentId, run, generation] = /^(.+)\.(\d+)\.(\d+)$/.exec(source) ?? [];
  return documentId === undefined ? undefined : { documentId, run: Number(run), generation: Number(generation) };
}

const nothing: DocumentGraph = { sources: [], triples: 0 };

/** With one more source that may have triples from here on. */
export function withSource({ graph = nothing }: DocumentRecord, mark: string): DocumentGraph {
  return { ...graph, sources: [...graph.sources.filter((one) => one !== mark), mark] };
}

/** Those that searches show, or are about to, stay; the rest has to go. `underWay`: so has what the run that is ingested has written. */
export function parted(
  record: DocumentRecord,
  underWay: "stays" | "goes",
): { readonly graph: DocumentGraph | undefined; readonly stale: readonly string[] } {
  const { graph, live, prepared, run } = record;
  if (graph === undefined) return { graph: undefined, stale: [] };
  const shown = new Set([live, prepared ?? null].flatMap((version) => (version === null ? [] : [sourceMark(version)])));
  const stays = (mark: string) =>
    shown.has(mark) || (underWay === "stays" && live?.run !== run && mark.startsWith(`${run}.`));
  return {
    graph: { ...graph, sources: graph.sources.filter(stays) },
    stale: graph.sources.filter((mark) => !stays(mark)),
  };
}

export async function writeGraph(
  parts: Pick<KnowledgeParts, "triples">,
  shelf: Shelf,
  documentId: string,
  mark: string,
  {
    extraction,
    signal,
    told,
  }: { readonly extraction: Extraction; readonly signal: AbortSignal; readonly told: () => Promise<void> },
): Promise<void> {
  if (extraction.parts.size === 0) return;
  const { incarnation } = shelf.place;
  await parts.triples.open(shelf.scope, incarnation);
  for (const [part, quads] of extraction.parts)
    for (const insert of pieces(quads)) {
      signal.throwIfAborted();
      await parts.triples.write(shelf.scope, incarnation, {
        insert,
        source: { source: `${documentId}.${mark}`, part },
      });
      await told();
    }
}

/** What these alone supported goes with them. False: the collection is in the trash, where nothing changes until it is restored. */
export async function removeSources(
  parts: Pick<KnowledgeParts, "triples">,
  shelf: Shelf,
  documentId: string,
  marks: readonly string[],
): Promise<boolean> {
  for (const mark of marks) {
    try {
      await parts.triples.removeSource(shelf.scope, shelf.place.incarnation, `${documentId}.${mark}`);
    } catch (error) {
      if (!hasCode(error, "NOT_FOUND", "CONFLICT")) throw error;
      // Never opened, or purged: there is nothing any more.
      if (error.code === "CONFLICT" && (await shelf.fence())?.record.status !== "PURGED") return false;
    }
  }
  return true;
}

function* pieces(quads: readonly Quad[]): Generator<readonly Quad[]> {
  let from = 0;
  let chars = 0;
  for (const [i, { s, p, o, g }] of quads.entries()) {
    const own = s.length + p.length + o.length + g.length;
    if (i > from && (i - from >= writeQuadsMax || chars + own > writeCharsMax)) {
      yield quads.slice(from, i);
      [from, chars] = [i, 0];
    }
    chars += own;
  }
  if (from < quads.length) yield quads.slice(from);
}
