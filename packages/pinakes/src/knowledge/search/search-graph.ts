/**
 * The graph's part in a search of one collection (RFC 0008): entities that the query names, the edges around them, and the chunks that
 * state these edges. A collection without triples costs one small read.
 */
import type { Caller } from "../../domain/caller.ts";
import { hasCode } from "../../domain/errors.ts";
import type { Support } from "../../ports/triple-store.ts";
import type { Decision } from "../access/access.ts";
import { seesDocument } from "../access/document-access.ts";
import type { HiddenDocuments } from "../access/hidden-documents.ts";
import { withoutHidden } from "../graph/visible-triples.ts";
import type { CollectionPartition } from "../records/collection-partition.ts";
import { chunkId } from "../documents/passages.ts";
import { readSource } from "../records/graph-source.ts";
import { shownIn, type DocumentRecord } from "../records/records.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { expandGraph, type Edge, type ShownSupports } from "./expand-graph.ts";
import { findEntities, type GraphSpace, type Seed } from "./find-entities.ts";
import { graphSearchLimits } from "./graph-limits.ts";

export interface GraphFound {
  readonly seeds: readonly Seed[];
  readonly edges: readonly GraphEdge[];
  /** Chunks by id with their score from the graph, 0…1; the best first. */
  readonly passages: ReadonlyMap<string, number>;
  /** The documents of these chunks. */
  readonly documents: ReadonlyMap<string, DocumentRecord>;
}

export interface GraphEdge extends Omit<Edge, "supports"> {
  readonly passages: readonly string[];
}

interface GraphPlace {
  readonly partition: CollectionPartition;
  readonly generation: number;
  readonly hidden: HiddenDocuments | undefined;
  readonly decision: Decision;
}

export interface GraphQuestion {
  readonly query: string;
  readonly hops: number;
}

/** Undefined: the collection has no triples. */
export async function searchGraph(
  deps: Pick<KnowledgeDependencies, "triples">,
  caller: Caller,
  { partition, generation, hidden, decision }: GraphPlace,
  { query, hops }: GraphQuestion,
): Promise<GraphFound | undefined> {
  const space = partition.key.incarnation;
  const triples = hidden === undefined ? deps.triples : withoutHidden(deps.triples, new Map([[space, hidden]]));
  const graph: GraphSpace = { triples, scope: caller.scope, space };
  const sees = (document: DocumentRecord): boolean => seesDocument(caller, decision, document);
  try {
    if ((await graph.triples.count(graph.scope, graph.space, {}, { max: 1 })) === 0) return undefined;
    const seeds = await findEntities(graph, query);
    const documents = new Map<string, DocumentRecord | undefined>();
    const edges = await expandGraph(graph, seeds, hops, shownSupports(partition, generation, documents, sees));
    return found(seeds, edges, documents);
  } catch (error) {
    // It was deleted concurrently: the rest of this search decides.
    if (hasCode(error, "CONFLICT")) return undefined;
    throw error;
  }
}

/** According to the documents' records: supports of runs that are not live count for nothing. */
function shownSupports(
  partition: CollectionPartition,
  generation: number,
  documents: Map<string, DocumentRecord | undefined>,
  sees: (document: DocumentRecord) => boolean,
): ShownSupports {
  return async (lists) => {
    const ids = new Set(lists.flat().flatMap(({ source }) => readSource(source)?.documentId ?? []));
    const missing = [...ids].filter((id) => !documents.has(id));
    const records = await partition.readMany(missing);
    for (const [i, id] of missing.entries()) {
      const record = records[i];
      documents.set(id, record !== undefined && sees(record) ? record : undefined);
    }
    return lists.map((supports) => {
      if (supports.length === 0) return [];
      const shown = supports.filter((support) => isShown(support, generation, documents));
      return shown.length === 0 ? undefined : shown;
    });
  };
}

function isShown(
  { source }: Support,
  generation: number,
  documents: ReadonlyMap<string, DocumentRecord | undefined>,
): boolean {
  const from = readSource(source);
  const document = from === undefined ? undefined : documents.get(from.documentId);
  return (
    from !== undefined &&
    document !== undefined &&
    from.generation === generation &&
    shownIn(document, generation)?.run === from.run
  );
}

function found(
  seeds: readonly Seed[],
  edges: readonly Edge[],
  documents: ReadonlyMap<string, DocumentRecord | undefined>,
): GraphFound {
  const missed = new Map<string, number>();
  const shown = edges.map(({ supports, ...edge }): GraphEdge => {
    const passages = supports.flatMap(({ source, part }) => {
      const from = readSource(source);
      return from === undefined ? [] : [chunkId(from.documentId, from.run, part)];
    });
    // Combines independent evidence: the sum never exceeds 1.
    for (const id of passages) missed.set(id, (missed.get(id) ?? 1) * (1 - edge.score));
    return { ...edge, passages };
  });
  const ranked = [...missed]
    .map(([id, miss]) => [id, 1 - miss] as const)
    .toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  // An entity without a counted edge may belong to a document that is not visible.
  const ends = new Set(edges.flatMap(({ quad }) => [quad.s, quad.o]));
  return {
    seeds: seeds.filter(({ entity }) => ends.has(entity)),
    edges: shown,
    passages: new Map(ranked.slice(0, graphSearchLimits.passagesMax)),
    documents: new Map(
      [...documents].flatMap(([id, document]) => (document === undefined ? [] : [[id, document] as const])),
    ),
  };
}
