/** The text sections of newly written rows, for a delta or a fold. */
import { compareUtf8 } from "../../domain/json.ts";
import type { Analyzer } from "./analyzer.ts";
import { U32Writer } from "./growable.ts";
import { TextWriter, type TextSections } from "./text-writer.ts";

export function buildTextSections(texts: readonly (string | undefined)[], analyzer: Analyzer): TextSections {
  const lengths = new Uint32Array(texts.length);
  const collected = collect(texts, analyzer, lengths);
  const { terms, frequencies } = collected;
  const { rows, counts, starts } = byTerm(collected, lengths.length);
  const writer = new TextWriter(lengths);
  for (const [term, id] of sorted(terms)) {
    const start = starts[id] as number;
    const count = frequencies.values[id] as number;
    writer.add(
      Buffer.from(term, "utf8"),
      rows.subarray(start, start + count),
      counts.subarray(start, start + count),
      count,
    );
  }
  return writer.done();
}

interface Collected {
  readonly terms: ReadonlyMap<string, number>;
  /** By term: rows that contain it. */
  readonly frequencies: U32Writer;
  /** Distinct terms of each row, row after row, with their counts. */
  readonly ids: U32Writer;
  readonly counts: U32Writer;
  /** By row: distinct terms. */
  readonly distinct: Uint32Array;
}

function collect(texts: readonly (string | undefined)[], analyzer: Analyzer, lengths: Uint32Array): Collected {
  const terms = new Map<string, number>();
  const frequencies = new U32Writer();
  // By term: the index of its count for the current row, plus one, if that is not before the row's first.
  const places = new U32Writer();
  const ids = new U32Writer();
  const counts = new U32Writer();
  const distinct = new Uint32Array(texts.length);
  texts.forEach((text, row) => {
    if (text === undefined) return;
    const tokens = analyzer.tokens(text);
    lengths[row] = tokens.length;
    const first = ids.length;
    for (const token of tokens) {
      let id = terms.get(token);
      if (id === undefined) {
        id = terms.size;
        terms.set(token, id);
        frequencies.add(0);
        places.add(0);
      }
      const place = places.values[id] as number;
      if (place > first) {
        counts.values[place - 1] = (counts.values[place - 1] as number) + 1;
        continue;
      }
      ids.add(id);
      counts.add(1);
      places.values[id] = ids.length;
      frequencies.values[id] = (frequencies.values[id] as number) + 1;
    }
    distinct[row] = ids.length - first;
  });
  return { terms, frequencies, ids, counts, distinct };
}

/** From row-major to term-major: one counting sort, which leaves the rows of a term ascending. */
function byTerm(
  collected: Collected,
  rowCount: number,
): { rows: Uint32Array; counts: Uint32Array; starts: Uint32Array } {
  const { frequencies, ids, counts: countsByRow, distinct, terms } = collected;
  const starts = new Uint32Array(terms.size);
  for (let id = 1; id < terms.size; id += 1)
    starts[id] = (starts[id - 1] as number) + (frequencies.values[id - 1] as number);
  const next = starts.slice();
  const rows = new Uint32Array(ids.length);
  const counts = new Uint32Array(ids.length);
  let from = 0;
  for (let row = 0; row < rowCount; row += 1) {
    const to = from + (distinct[row] as number);
    for (; from < to; from += 1) {
      const id = ids.values[from] as number;
      const place = next[id] as number;
      next[id] = place + 1;
      rows[place] = row;
      counts[place] = countsByRow.values[from] as number;
    }
  }
  return { rows, counts, starts };
}

/** By UTF-8 byte, which differs from the order of JavaScript only for surrogates. */
function sorted(terms: ReadonlyMap<string, number>): [string, number][] {
  const entries = [...terms];
  const plain = entries.every(([term]) => !/[\ud800-\udfff]/.test(term));
  return entries.sort(plain ? ([a], [b]) => (a < b ? -1 : 1) : ([a], [b]) => compareUtf8(a, b));
}
