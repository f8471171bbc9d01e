/** "Quoted phrases" of a query: rows that contain the words in sequence rank higher. */
import { Bitmap } from "../segment/bitmap.ts";
import type { Analyzer } from "./analyzer.ts";
import type { IndexedSource } from "./statistics.ts";
import { TermCursor, type TermScale } from "./term-cursor.ts";
import { TopHits, type KeywordHit } from "./top-hits.ts";

export type TextOf = (source: number, row: number) => string | undefined;

export interface Phrase {
  /** As `Analyzer.words` returns them: stop words included. */
  readonly words: readonly string[];
  /** The indexed words, once each: a row without one of them cannot contain the phrase. */
  readonly terms: readonly Uint8Array[];
}

export interface PhraseSearch {
  readonly sources: readonly IndexedSource[];
  readonly phrases: readonly Phrase[];
  /** The best k by score alone. */
  readonly hits: readonly KeywordHit[];
  readonly search: (sources: readonly IndexedSource[], count: number) => KeywordHit[];
  readonly textOf: TextOf;
  readonly analyzer: Analyzer;
  readonly k: number;
}

const boost = 1.5;
const candidatesMin = 100;
/** For each requested hit, this many rows with all words of a phrase are read. */
const candidatesPerHit = 5;
/** Each phrase costs the reading of its candidates. Further ones count only as terms. */
const phrasesMax = 8;
const noScale: TermScale = { weight: 0, lengthFactor: 0, rounder: 0, impactFactor: 0, slack: 0 };

/** An unclosed quote begins no phrase; nor do stop words alone. */
export function phrasesOf(query: string, analyzer: Analyzer): Phrase[] {
  const phrases: Phrase[] = [];
  for (const [, text] of query.matchAll(/["\u201c\u201d\u201e]([^"\u201c\u201d\u201e]*)["\u201c\u201d]/g)) {
    const words = analyzer.words(text as string);
    const distinct = new Set(words);
    const terms = [...new Set(analyzer.tokens(text as string))].filter((term) => distinct.has(term));
    if (terms.length > 0) phrases.push({ words, terms: terms.map((term) => Buffer.from(term, "utf8")) });
  }
  return phrases.slice(0, phrasesMax);
}

/** The best k, with the boost of every phrase for the best rows by score that contain all its words. */
export function boostPhrases(of: PhraseSearch): KeywordHit[] {
  const { sources, phrases, hits, search, textOf, analyzer, k } = of;
  const found = new Map<string, KeywordHit>(hits.map((hit) => [`${hit.source}:${hit.row}`, hit]));
  const factors = new Map<string, number>();
  const wordsOf = new Map<string, readonly string[]>();
  for (const phrase of phrases) {
    const holding = sources.map((source) => ({ ...source, allowed: rowsWithAll(source, phrase.terms) }));
    for (const hit of search(holding, Math.max(candidatesMin, candidatesPerHit * k))) {
      const key = `${hit.source}:${hit.row}`;
      found.set(key, hit);
      const words = wordsOf.get(key) ?? analyzer.words(textOf(hit.source, hit.row) ?? "");
      wordsOf.set(key, words);
      if (includesSequence(words, phrase.words)) factors.set(key, (factors.get(key) ?? 1) * boost);
    }
  }
  const order = [...found].sort(([, a], [, b]) => a.source - b.source || a.row - b.row);
  const best = new TopHits(k);
  for (const [key, { source, row, score }] of order) best.add(source, row, score * (factors.get(key) ?? 1));
  return best.done();
}

/** The rows of a source that contain every term and pass its filter. */
function rowsWithAll({ index, allowed }: IndexedSource, terms: readonly Uint8Array[]): Bitmap {
  const result = new Bitmap(index.rows);
  const numbers = terms.map((term) => index.find(term));
  if (numbers.some((number) => number < 0)) return result;
  numbers.sort((a, b) => (index.frequencies[a] as number) - (index.frequencies[b] as number));
  const cursors = numbers.map((number) => {
    const cursor = new TermCursor();
    cursor.open(index, number, noScale);
    return cursor;
  });
  const [rarest, ...others] = cursors as [TermCursor, ...TermCursor[]];
  for (let more = rarest.load(0); more; more = rarest.load(0)) {
    for (let i = 0; i < rarest.count; i += 1) {
      const row = rarest.rows[i] as number;
      if ((allowed === undefined || allowed.has(row)) && others.every((cursor) => cursor.seek(row))) result.add(row);
    }
    rarest.block += 1;
  }
  return result;
}

function includesSequence(words: readonly string[], sequence: readonly string[]): boolean {
  for (
    let start = words.indexOf(sequence[0] as string);
    start >= 0;
    start = words.indexOf(sequence[0] as string, start + 1)
  ) {
    if (sequence.every((word, i) => words[start + i] === word)) return true;
  }
  return false;
}
