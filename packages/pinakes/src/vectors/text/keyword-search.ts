/**
 * BM25 over the rows of several segments as if they were one: a row's score depends on the live rows, not on their distribution. With the
 * counts of other collections it scores as if their rows were here too, so that hits of several collections can be ranked together.
 *
 * A row with any of the terms is a hit. A repeated term of the query weighs as often as it is repeated. A row that contains a "quoted
 * phrase" word for word scores ×1.5 for each such phrase; its words also count as terms.
 */
import type { Bitmap } from "../segment/bitmap.ts";
import type { SegmentBytes } from "../segment-bytes.ts";
import type { Analyzer } from "./analyzer.ts";
import { boostPhrases, phrasesOf, type Phrase, type TextOf } from "./phrases.ts";
import { searchRows } from "./search-rows.ts";
import { liveFrequency, liveTotals, type IndexedSource, type TermCounts } from "./statistics.ts";
import { cursorAt, type TermScale } from "./term-cursor.ts";
import { textIndexOf } from "./text-index.ts";
import { averageLength, bm25 } from "./text-writer.ts";
import { TopHits, type KeywordHit } from "./top-hits.ts";

export type { TextOf } from "./phrases.ts";
export type { KeywordHit } from "./top-hits.ts";

export interface KeywordSource {
  readonly segment: SegmentBytes;
  /** Rows that are excluded from hits and statistics. Keep the object from query to query: its counts are cached. */
  readonly dead?: Bitmap;
  /** Rows that pass the filter; they do not change the statistics. */
  readonly allowed?: Bitmap;
}

export interface KeywordOptions {
  readonly k: number;
  /** The one that the sources were built with. */
  readonly analyzer: Analyzer;
  /** A row's text. Without it quoted phrases are only terms. */
  readonly textOf?: TextOf | undefined;
  /** Rows of other collections that contribute to the weight of each term. */
  readonly elsewhere?: TermCounts | undefined;
}

/** A term of the query in each source that has it. */
export interface QueryTerm {
  readonly weight: number;
  /** By source: the number of the term there, or -1. */
  readonly numbers: readonly number[];
}

/** Best first; ties by source order, then row. */
export function keywordSearch(sources: readonly KeywordSource[], query: string, options: KeywordOptions): KeywordHit[] {
  const { analyzer, k, textOf, elsewhere } = options;
  if (k < 1) return [];
  const indexed = indexedSources(sources);
  const own = liveTotals(indexed);
  const rows = own.rows + (elsewhere?.rows ?? 0);
  const average = averageLength(rows, own.tokens + (elsewhere?.tokens ?? 0));
  const terms = queryTerms(indexed, rows, analyzer.tokens(query), elsewhere);
  if (terms.length === 0) return [];
  const phrases: readonly Phrase[] = textOf === undefined ? [] : phrasesOf(query, analyzer);
  const search = (of: readonly IndexedSource[], count: number): KeywordHit[] => bestRows(of, terms, average, count);
  const hits = search(indexed, k);
  if (phrases.length === 0 || textOf === undefined) return hits;
  return boostPhrases({ sources: indexed, phrases, hits, search, textOf, analyzer, k });
}

/** The counts of a search for this query, for searches elsewhere. */
export function countTerms(
  sources: readonly Omit<KeywordSource, "allowed">[],
  query: string,
  analyzer: Analyzer,
): TermCounts {
  const indexed = indexedSources(sources);
  const frequencies = new Map<string, number>();
  for (const token of new Set(analyzer.tokens(query))) {
    frequencies.set(token, lookUp(indexed, token).frequency);
  }
  return { ...liveTotals(indexed), frequencies };
}

function indexedSources(sources: readonly KeywordSource[]): IndexedSource[] {
  return sources.map(({ segment, dead, allowed }) => ({ index: textIndexOf(segment), dead, allowed }));
}

function queryTerms(
  sources: readonly IndexedSource[],
  rows: number,
  tokens: readonly string[],
  elsewhere: TermCounts | undefined,
): QueryTerm[] {
  const repeats = new Map<string, number>();
  for (const token of tokens) repeats.set(token, (repeats.get(token) ?? 0) + 1);
  const terms: QueryTerm[] = [];
  for (const [token, count] of repeats) {
    const { numbers, frequency: own } = lookUp(sources, token);
    // Including terms that only others have: the sum of all weights decides how scores are rounded, which must be the same everywhere.
    const frequency = own + (elsewhere?.frequencies.get(token) ?? 0);
    if (frequency === 0) continue;
    const idf = Math.log(1 + (rows - frequency + 0.5) / (frequency + 0.5));
    terms.push({ weight: count * idf * (bm25.k1 + 1), numbers });
  }
  return terms;
}

/** The number of a term in each source, and how many live rows contain it. */
function lookUp(
  sources: readonly IndexedSource[],
  token: string,
): { readonly numbers: readonly number[]; readonly frequency: number } {
  const bytes = Buffer.from(token, "utf8");
  let frequency = 0;
  const numbers = sources.map((source) => {
    const number = source.index.find(bytes);
    if (number >= 0) frequency += liveFrequency(source, number);
    return number;
  });
  return { numbers, frequency };
}

function bestRows(
  sources: readonly IndexedSource[],
  terms: readonly QueryTerm[],
  average: number,
  k: number,
): KeywordHit[] {
  const hits = new TopHits(k);
  // Every part of a score is rounded to a multiple of this, small enough to lose nothing relevant and large enough that sums are exact: the
  // order of addition, which differs from segment to segment, does not change a bit of a score.
  const quantum = 2 ** (Math.ceil(Math.log2(terms.reduce((sum, { weight }) => sum + weight, 0))) - 51);
  const rounder = 1.5 * 2 ** 52 * quantum;
  sources.forEach((source, number) => {
    const { index } = source;
    const larger = Math.max(1, average / averageLength(index.rowsWithText, index.tokens));
    const cursors = [];
    for (const { weight, numbers } of terms) {
      const term = numbers[number] as number;
      if (term < 0) continue;
      // The impact is kept in 32 bits, which may have rounded it down.
      const impactFactor = weight * larger * (1 + 1e-6);
      const scale: TermScale = {
        weight,
        lengthFactor: (bm25.k1 * bm25.b) / average,
        rounder,
        impactFactor,
        slack: quantum,
      };
      const cursor = cursorAt(cursors.length);
      cursor.open(index, term, scale);
      cursors.push(cursor);
    }
    if (cursors.length > 0) searchRows(source, number, cursors, hits);
  });
  return hits.done();
}
