/**
 * One scale for the keyword scores of several collections.
 *
 * BM25 weighs a word by how many rows hold it. A collection that weighs by its own rows alone has a scale of its own: the only document
 * that knows zebras scores 0.6 in a collection of one, and one that shares a common word with the question scores 5 among thousands. So
 * the words are counted in all collections of a search first, and each is then searched as if the rows of the others were there too:
 * scores and order of keywords are those of one collection that holds everything. What all count together is the scale of the scores that
 * are shown (calibration.ts).
 */
import { PinakesError } from "../../domain/errors.ts";
import type { TermCounts } from "../../vectors/index.ts";
import { inParallel } from "../../runtime/in-parallel.ts";

/** Collections that are counted at the same time. */
const atOnce = 16;

type Count = (name: string) => Promise<TermCounts>;

export interface Counted {
  readonly all: TermCounts;
  /** For each of the names what all the others count together; empty where there is no other. */
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

/** Nothing where nothing was ever ingested, or where the vectors cannot be read: the search of the collection itself says what is wrong. */
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
    const left = frequency - (own.frequencies.get(term) ?? 0);
    if (left > 0) frequencies.set(term, left);
  }
  return { rows: all.rows - own.rows, tokens: all.tokens - own.tokens, frequencies };
}
