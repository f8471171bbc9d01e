/** Searching a view: its files by the search threads, then the rows of the best. */
import { compileFilter, type Filter } from "../../domain/filter.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { SegmentCache } from "../cache/segment-cache.ts";
import { checkFilterFields } from "../filter/check-filter.ts";
import { evaluateFilter } from "../filter/evaluate.ts";
import { vectorLimits } from "../limits.ts";
import type { Hit, SearchPool, SearchResult, SearchSource } from "../search/pool.ts";
import type { FieldHeader } from "../segment-bytes.ts";
import type { TermCounts } from "../text/statistics.ts";
import { narrowedFields } from "./hidden-rows.ts";
import type { CheckedQuery, QueryMode } from "./query-input.ts";
import { liveRows, type View, type ViewSource } from "./view.ts";

export interface QueryHit {
  readonly id: string;
  /** Cosine similarity, dot product or negative distance; BM25; or the sum of reciprocal ranks. More is better. */
  readonly score: number;
  /** The score of each part; absent if it was not among the best of that part. */
  readonly scores: { readonly vector?: number; readonly keyword?: number };
  readonly text?: string;
  readonly metadata: JsonObject;
  readonly vector?: Float32Array;
}

export interface QueryResult {
  readonly hits: readonly QueryHit[];
  readonly mode: QueryMode;
  /** The state that was searched. */
  readonly version: number;
  readonly seq: number;
}

export interface Searcher {
  readonly pool: SearchPool;
  readonly cache: SegmentCache;
}

export async function queryView({ pool, cache }: Searcher, view: View, query: CheckedQuery): Promise<QueryResult> {
  const { mode, limit, vector, text, filter, recall, minScore, elsewhere } = query;
  const answer = { mode, version: view.manifest.version, seq: view.seq };
  if (filter !== undefined) checkFilter(view, filter);
  const sources = searchable(cache, view);
  if (sources.length === 0) return { hits: [], ...answer };
  const result = await pool.search({
    sources,
    k: partLimit(mode, limit, vectorLimits.queryHitsMax),
    vector,
    text,
    recall,
    filter,
    elsewhere,
  });
  const ranked = rank(result, mode, limit);
  const wanted = minScore === undefined ? ranked : ranked.filter(({ score }) => score >= minScore);
  return { hits: wanted.map((hit) => readHit(view, hit, query.includeVectors)), ...answer };
}

/** The counts of a query for this text in the view. */
export async function countTermsOfView({ pool, cache }: Searcher, view: View, text: string): Promise<TermCounts> {
  return pool.count(searchable(cache, view), text);
}

const searchables = new WeakMap<View, readonly SearchSource[]>();

/** Views are immutable, so the list is built once: the threads also cache the bitmaps by their identity. */
function searchable(cache: SegmentCache, view: View): readonly SearchSource[] {
  const known = searchables.get(view);
  if (known !== undefined) return known;
  const sources = view.sources.map(({ rows, dead }): SearchSource => ({
    segment: cache.poolId(rows.segment),
    dead,
  }));
  searchables.set(view, sources);
  return sources;
}

function readHit(view: View, hit: ReturnType<typeof rank>[number], includeVectors: boolean): QueryHit {
  const { rows } = view.sources[hit.source] as ViewSource;
  const text = rows.text(hit.row);
  return {
    id: rows.id(hit.row),
    score: hit.score,
    scores: {
      ...(hit.vector === undefined ? {} : { vector: hit.vector }),
      ...(hit.keyword === undefined ? {} : { keyword: hit.keyword }),
    },
    ...(text === undefined ? {} : { text }),
    metadata: rows.metadata(hit.row),
    ...(includeVectors ? { vector: rows.vector(hit.row) } : {}),
  };
}

/** A collection without any metadata has no known fields, and nothing can match. */
export function checkFilter(view: View, filter: Filter): void {
  const fields = fieldsOf(view);
  if (fields.length > 0 || liveRows(view) > 0) checkFilterFields(filter, fields);
}

const knownFields = new WeakMap<View, readonly FieldHeader[]>();

function fieldsOf(view: View): readonly FieldHeader[] {
  const known = knownFields.get(view);
  if (known !== undefined) return known;
  const types = new Map<string, Set<FieldHeader["types"][number]>>();
  for (const field of narrowedFields(view) ?? view.sources.flatMap(({ rows }) => rows.segment.header.fields))
    types.set(field.path, new Set([...(types.get(field.path) ?? []), ...field.types]));
  const fields = [...types].map(([path, seen]) => ({ path, types: [...seen] }));
  knownFields.set(view, fields);
  return fields;
}

/** How many rows pass the filter. */
export function countView(view: View, filter: Filter | undefined): number {
  if (filter === undefined) return liveRows(view);
  compileFilter(filter);
  checkFilter(view, filter);
  let count = 0;
  for (const { rows, dead } of view.sources)
    for (const row of evaluateFilter(rows.segment, filter)) if (!(dead?.has(row) ?? false)) count += 1;
  return count;
}

/** From the hits of each part to one list: unchanged, or joined by reciprocal rank fusion. */
interface Ranked {
  readonly source: number;
  readonly row: number;
  readonly score: number;
  readonly vector: number | undefined;
  readonly keyword: number | undefined;
}

/** The usual constant: a first rank counts little more than a second one, so that agreement of both parts wins. */
const rankOffset = 60;

/** How many hits of each part are worth fusing. */
function partLimit(mode: QueryMode, limit: number, max: number): number {
  return mode === "hybrid" ? Math.min(max, Math.max(50, limit * 4)) : limit;
}

function rank(result: SearchResult, mode: QueryMode, limit: number): Ranked[] {
  if (mode === "vector") return (result.vector ?? []).map((hit) => ({ ...hit, vector: hit.score, keyword: undefined }));
  if (mode === "keyword") return (result.text ?? []).map((hit) => ({ ...hit, vector: undefined, keyword: hit.score }));
  const joined = new Map<string, Ranked>();
  const add = (hits: readonly Hit[], part: "vector" | "keyword"): void => {
    for (const [place, hit] of hits.entries()) {
      const name = `${hit.source}/${hit.row}`;
      const known = joined.get(name) ?? {
        source: hit.source,
        row: hit.row,
        score: 0,
        vector: undefined,
        keyword: undefined,
      };
      joined.set(name, { ...known, [part]: hit.score, score: known.score + 1 / (rankOffset + place + 1) });
    }
  };
  add(result.vector ?? [], "vector");
  add(result.text ?? [], "keyword");
  return [...joined.values()].sort((a, b) => b.score - a.score || a.source - b.source || a.row - b.row).slice(0, limit);
}
