/** Joins hits of the graph with those of vectors and keywords, and adds the sources of each edge. */
import type { Caller } from "../../domain/caller.ts";
import { hasCode } from "../../domain/errors.ts";
import { compileFilter, type Filter } from "../../domain/filter.ts";
import { termOf } from "../../domain/rdf.ts";
import type { QueryHit, VectorRow } from "../../vectors/index.ts";
import type { CollectionPartition } from "../records/collection-partition.ts";
import { tripleView } from "../graph/triple-view.ts";
import type { OpenCollection } from "../access/open-collection.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { graphSearchLimits } from "./graph-limits.ts";
import type { Found } from "./rank-hits.ts";
import type { GraphEdge, GraphFound } from "./search-graph.ts";
import type { Citation, GraphEdgeView, GraphEntityView } from "./search-result.ts";

interface Joining {
  readonly opened: OpenCollection;
  readonly partition: CollectionPartition;
  readonly generation: number;
  readonly model: string;
  readonly filter: Filter | undefined;
  readonly limit: number;
}

export interface Joined {
  readonly found: readonly Found[];
  readonly entities: readonly GraphEntityView[];
  readonly edges: readonly GraphEdgeView[];
  /** Chunks that only the graph found. */
  readonly added: number;
  /** Whether the collection has any triples. */
  readonly graphSearched: boolean;
}

export async function joinGraph(
  deps: Pick<KnowledgeDependencies, "vectors">,
  caller: Caller,
  candidates: readonly Found[],
  graph: GraphFound,
  { opened, partition, generation, model, filter, limit }: Joining,
): Promise<Joined> {
  const known = new Map<string, Passage>(candidates.map(({ hit }) => [hit.id, hit]));
  const shown = graph.edges.slice(0, limit);
  const wanted = new Set([
    ...graph.passages.keys(),
    ...shown.flatMap(({ passages }) => passages.slice(0, graphSearchLimits.sourcesShownMax)),
  ]);
  const matches = filter === undefined ? () => true : compileFilter(filter);
  const rows = await readRows(
    deps,
    caller,
    partition.vectors(generation),
    [...wanted].filter((id) => !known.has(id)),
  );
  for (const row of rows) if (matches(row.metadata)) known.set(row.id, row);
  const scored = candidates.map((candidate) => withGraph(candidate, graph.passages.get(candidate.hit.id)));
  const among = new Set(candidates.map(({ hit }) => hit.id));
  const only = [...graph.passages].flatMap(([id, score]): Found[] => {
    const row = known.get(id);
    const document = graph.documents.get(row?.metadata["document_id"] as string);
    if (row === undefined || document === undefined || among.has(id)) return [];
    return [{ opened, document, model, hit: { ...row, score: 0, scores: {} }, graph: score }];
  });
  const { repository_id, collection_id } = opened.collection;
  const edges = shown.flatMap((edge) => {
    const sources = edge.passages.slice(0, graphSearchLimits.sourcesShownMax).flatMap((id) => known.get(id) ?? []);
    return edge.passages.length > 0 && sources.length === 0
      ? []
      : [{ repository_id, collection_id, ...edgeView(edge, sources) }];
  });
  const entities = graph.seeds.map(({ entity, words, score }) => ({
    repository_id,
    collection_id,
    entity: termOf(entity),
    words,
    score: rounded(score),
  }));
  return { found: [...scored, ...only], entities, edges, added: only.length, graphSearched: true };
}

type Passage = Pick<QueryHit, "id" | "metadata" | "text" | "vector">;

function withGraph(candidate: Found, graph: number | undefined): Found {
  return graph === undefined ? candidate : { ...candidate, graph };
}

function edgeView(
  { quad, hop, score }: GraphEdge,
  passages: readonly Passage[],
): Omit<GraphEdgeView, "repository_id" | "collection_id"> {
  const sources = passages.map(({ id, metadata }) => {
    const { document_id, filename, version, page, start, end } = metadata as unknown as Citation;
    return { document_id, chunk_id: id, filename, version, ...(page === undefined ? {} : { page }), start, end };
  });
  return { ...tripleView(quad), hop, score: rounded(score), sources };
}

/** Empty if the generation of the vectors was replaced. */
async function readRows(
  deps: Pick<KnowledgeDependencies, "vectors">,
  caller: Caller,
  vectors: string,
  ids: readonly string[],
): Promise<readonly VectorRow[]> {
  if (ids.length === 0) return [];
  try {
    return (await deps.vectors.get(caller.scope, vectors, ids)).filter((row) => row !== undefined);
  } catch (error) {
    if (hasCode(error, "NOT_FOUND")) return [];
    throw error;
  }
}

function rounded(score: number): number {
  return Math.round(score * 1e6) / 1e6;
}
