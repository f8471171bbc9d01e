/** One search over several segments, in the calling thread: the best k of each part over all of them. */
import { PinakesError } from "../../domain/errors.ts";
import { evaluateFilter } from "../filter/evaluate.ts";
import type { Bitmap } from "../segment/bitmap.ts";
import { SegmentRows } from "../segment/segment-rows.ts";
import { analyzerFor } from "../text/analyzer.ts";
import { countTerms, keywordSearch } from "../text/keyword-search.ts";
import { noTerms, type TermCounts } from "../text/statistics.ts";
import type { FlatHits, SearchTask, TaskInput } from "./messages.ts";
import type { SegmentSearch, VectorHits } from "./search-segment.ts";

/** A segment as a thread knows it. */
export interface ThreadSegment {
  readonly search: SegmentSearch;
  readonly dead: Bitmap | undefined;
}

interface Source {
  readonly search: SegmentSearch;
  readonly number: number;
  readonly dead: Bitmap | undefined;
  readonly allowed: Bitmap | undefined;
  readonly lists: Uint32Array | undefined;
}

export function runTask(task: SearchTask, segmentFor: (id: string) => ThreadSegment | undefined): TaskInput {
  const sources = task.sources.map(({ id, number, dead, lists }): Source => {
    const known = segmentFor(id);
    if (known === undefined) throw new PinakesError("INTERNAL", `Segment ${id} was not loaded into the search pool.`);
    const allowed = task.filter === undefined ? undefined : evaluateFilter(known.search.segment, task.filter);
    return { search: known.search, number, dead: dead ? known.dead : undefined, allowed, lists };
  });
  return {
    ...(task.vector === undefined ? {} : { vector: vectorHits(task, task.vector, sources) }),
    ...(task.text === undefined ? {} : { text: textHits(task, task.text, sources) }),
    ...(task.counted === undefined ? {} : { counts: countsOf(task.counted, sources) }),
  };
}

function vectorHits({ k, recall }: SearchTask, vector: Float32Array, sources: readonly Source[]): FlatHits {
  const flat = sources.map(({ search, number, dead, allowed, lists }) =>
    flatHits(number, search.search({ vector, k, recall, dead, allowed, lists })),
  );
  return flat.length === 1 ? (flat[0] as FlatHits) : bestOf(flat, k);
}

export function flatHits(source: number, { rows, scores }: VectorHits): FlatHits {
  const flat: number[] = [];
  for (let i = 0; i < rows.length; i += 1) flat.push(source, rows[i] as number, scores[i] as number);
  return flat;
}

function textHits({ k, elsewhere }: SearchTask, text: string, sources: readonly Source[]): FlatHits {
  const first = sources[0];
  if (first === undefined) return [];
  const analyzer = analyzerFor(first.search.segment.header.language);
  const rows = sources.map(({ search }) => new SegmentRows(search.segment));
  const hits = keywordSearch(
    sources.map(({ search, dead, allowed }) => ({
      segment: search.segment,
      ...(dead === undefined ? {} : { dead }),
      ...(allowed === undefined ? {} : { allowed }),
    })),
    text,
    { k, analyzer, textOf: (source, row) => rows[source]?.text(row), elsewhere },
  );
  return hits.flatMap(({ source, row, score }) => [(sources[source] as Source).number, row, score]);
}

function countsOf(text: string, sources: readonly Source[]): TermCounts {
  const first = sources[0];
  if (first === undefined) return noTerms;
  const live = sources.map(({ search, dead }) => ({
    segment: search.segment,
    ...(dead === undefined ? {} : { dead }),
  }));
  return countTerms(live, text, analyzerFor(first.search.segment.header.language));
}

/** The best k of several lists; ties by source, then row. */
export function bestOf(lists: readonly FlatHits[], k: number): FlatHits {
  const hits: (readonly [source: number, row: number, score: number])[] = [];
  for (const flat of lists) {
    for (let i = 0; i < flat.length; i += 3)
      hits.push([flat[i] as number, flat[i + 1] as number, flat[i + 2] as number]);
  }
  hits.sort((a, b) => b[2] - a[2] || a[0] - b[0] || a[1] - b[1]);
  return hits.slice(0, k).flat();
}
