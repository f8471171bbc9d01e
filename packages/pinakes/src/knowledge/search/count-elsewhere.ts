/**
 * One scale for the keyword scores of several collections.
 *
 * BM25 weighs a word by the number of rows that contain it. A collection weighted by its own rows alone has its own scale: the only
 * document about zebras scores 0.6 in a collection of one, and one that shares a common word with the query scores 5 among thousands. So
 * the words are first counted in all collections of a search, and each collection is then searched as if it also contained the rows of the
 * others: scores and order are those of a single collection with everything. The total is also the scale of the scores that callers see
 * (calibration.ts).
 */
import { PinakesError } from "../../domain/errors.ts";
import type { TermCounts } from "../../vectors/index.ts";
import { inParallel } from "../../runtime/in-parallel.ts";

/** Collections counted concurrently. */
const atOnce = 16;

type Count = (name: string) => Promise<TermCounts>;

export interface Counted {
  readonly all: TermCounts;
  /** By name, the sum of all other collections; empty if there is only one. */
  readonly elsewhere: ReadonlyMap<string, TermCounts>;
}

export async function countEverywhere(names: readonly string[], count: Count): Promise<Counted> {
  const counted = await inParallel(names, atOnce, async (name) => ({ name, own: await countedOrNone(name, count) }));
  const all = sum(counted.flatMap(({ own }) => own ?? []));
  if (names.length < 2) return { all, elsewhere: new Map() };
  return {
    all,
    elsewhere: new Map(counted.map(({ name, own }) => [name, own === undefined ? all : without(all, own)])),
  };
}

/** Undefined if nothing was ever ingested or the vectors cannot be read: the search of the collection itself reports the error. */
async function countedOrNone(name: string, count: Count): Promise<TermCounts | undefined> {
  try {
    return await count(name);
  } catch (error) {
    if (PinakesError.isInstance(error) && error.code !== "INVALID") return undefined;
    throw error;
  }
}

function sum(counts: readonly TermCounts[]): TermCounts {
  const frequencies = new Map<string, number>();
  let rows = 0;
  let tokens = 0;
  for (const one of counts) {
    rows += one.rows;
    tokens += one.tokens;
    for (const [term, frequency] of one.frequencies) frequencies.set(term, (frequencies.get(term) ?? 0) + frequency);
  }
  return { rows, tokens, frequencies };
}

function without(all: TermCounts, own: TermCounts): TermCounts {
  const frequencies = new Map<string, number>();
  for (const [term, frequency] of all.frequencies) {
    const remaining = frequency - (own.frequencies.get(term) ?? 0);
    if (remaining > 0) frequencies.set(term, remaining);
  }
  return { rows: all.rows - own.rows, tokens: all.tokens - own.tokens, frequencies };
}
