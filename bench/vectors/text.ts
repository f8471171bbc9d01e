/**
 * Synthetic text for the keyword bench: 50,000 chunks of about 100 words, whose frequencies follow Zipf's law, and 3-word OR queries.
 * No word is changed by Porter's stemmer (all end in "k") and none is the stem of another, so that every tokeniser sees the same words.
 */
import type { TextSet } from "./candidate.ts";
import { bm25 } from "./bm25.ts";
import { filterOf, k, queryCount, type Questions } from "./data.ts";
import { Random, zipf } from "./random.ts";

const chunks = 50_000;
const vocabulary = 60_000;
const seed = 20_260_102;
const streams = { chunks: 1, queries: 2 };
const consonants = "bdfglmnprtvz";
const vowels = "aeiou";

export interface TokenisedText {
  readonly data: TextSet;
  /** The words of the texts. */
  readonly tokens: readonly (readonly string[])[];
  readonly queries: readonly (readonly string[])[];
}

/** Word 0 is the most frequent; 60 syllables, from one to three and more of them, then "k". */
export function wordOf(rank: number): string {
  let word = "k";
  for (let rest = rank + 1; rest > 0; rest = Math.floor((rest - 1) / 60)) {
    const syllable = (rest - 1) % 60;
    word = (consonants[syllable % 12] ?? "") + (vowels[Math.floor(syllable / 12)] ?? "") + word;
  }
  return word;
}

export function makeText(rows = chunks): TokenisedText {
  const words = Array.from({ length: vocabulary }, (_, rank) => wordOf(rank));
  const pick = zipf(vocabulary, 1.05);
  const tokens = Array.from({ length: rows }, (_, i) => {
    const random = new Random(seed, streams.chunks, i);
    const length = Math.max(20, Math.round(100 + 25 * random.normal()));
    return Array.from({ length }, () => words[pick(random)] ?? "");
  });
  return {
    data: { name: `text-${rows}`, rows, texts: tokens.map((list) => list.join(" ")) },
    tokens,
    queries: makeQueries(words),
  };
}

/** A frequent word, a medium one and a rare one, in any order. */
function makeQueries(words: readonly string[]): string[][] {
  const bands = [
    [30, 600],
    [600, 6_000],
    [6_000, 60_000],
  ] as const;
  return Array.from({ length: queryCount }, (_, i) => {
    const random = new Random(seed, streams.queries, i);
    const terms = bands.map(([low, high]) => words[Math.floor(low * (high / low) ** random.uniform())] ?? "");
    const turn = random.integer(3);
    return [...terms.slice(turn), ...terms.slice(0, turn)];
  });
}

/** With the answers of the reference in bm25.ts. */
export function loadText(): { data: TextSet; questions: Questions<readonly string[]> } {
  const { data, tokens, queries } = makeText();
  const reference = bm25(tokens);
  const truth = queries.map((terms) => Int32Array.from(reference.search(terms, k), ({ id }) => id));
  return {
    data,
    questions: {
      count: queries.length,
      query: (i) => queries[i] ?? [],
      filter: filterOf,
      truth: (i, field) => {
        if (field !== undefined) throw new Error("texts have no tags");
        return truth[i] ?? new Int32Array();
      },
    },
  };
}
