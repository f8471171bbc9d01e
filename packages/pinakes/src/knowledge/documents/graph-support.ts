/**
 * A document's triples and their sources (RFC 0008). The source of a triple is `<document>.<run>.<generation>`, its part the chunk: the
 * same numbers that name the chunk in the vector store. The document's record lists a source before its first triple is written and until a
 * `removal` names it, so after any crash some record names what must be removed.
 */
import { hasCode } from "../../domain/errors.ts";
import type { Quad } from "../../domain/rdf.ts";
import type { CollectionPartition } from "../records/collection-partition.ts";
import type { Extraction } from "../extraction/index.ts";
import type { DocumentGraph, DocumentRecord, IndexedVersion } from "../records/records.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";

const writeQuadsMax = 5_000;
const writeCharsMax = 8_388_608;

/** `<run>.<generation>`: identifies a source within a document. */
export function sourceMark({ run, generation }: Pick<IndexedVersion, "run" | "generation">): string {
  return `${run}.${generation}`;
}

const nothing: DocumentGraph = { sources: [], triples: 0 };

/** Adds a source that may have triples from here on. */
export function withSource({ graph = nothing }: DocumentRecord, mark: string): DocumentGraph {
  return { ...graph, sources: [...graph.sources.filter((one) => one !== mark), mark] };
}

/**
 * Splits the sources into those that are live or prepared, and stale ones to remove. `underWay`: whether sources of the run in progress
 * stay.
 */
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
  deps: Pick<KnowledgeDependencies, "triples">,
  partition: CollectionPartition,
  documentId: string,
  mark: string,
  {
    extraction,
    signal,
    onProgress,
  }: { readonly extraction: Extraction; readonly signal: AbortSignal; readonly onProgress: () => Promise<void> },
): Promise<void> {
  if (extraction.parts.size === 0) return;
  const { incarnation } = partition.key;
  await deps.triples.open(partition.scope, incarnation);
  for (const [part, quads] of extraction.parts)
    for (const insert of inserts(quads)) {
      signal.throwIfAborted();
      await deps.triples.write(partition.scope, incarnation, {
        insert,
        source: { source: `${documentId}.${mark}`, part },
      });
      await onProgress();
    }
}

/**
 * Also removes the triples that only these sources support. False: the collection is in the trash, where nothing changes until it is
 * restored.
 */
export async function removeSources(
  deps: Pick<KnowledgeDependencies, "triples">,
  partition: CollectionPartition,
  documentId: string,
  marks: readonly string[],
): Promise<boolean> {
  for (const mark of marks) {
    try {
      await deps.triples.removeSource(partition.scope, partition.key.incarnation, `${documentId}.${mark}`);
    } catch (error) {
      if (!hasCode(error, "NOT_FOUND", "CONFLICT")) throw error;
      // Never opened, or purged: nothing is left.
      if (error.code === "CONFLICT" && (await partition.fence())?.record.status !== "PURGED") return false;
    }
  }
  return true;
}

function* inserts(quads: readonly Quad[]): Generator<readonly Quad[]> {
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
