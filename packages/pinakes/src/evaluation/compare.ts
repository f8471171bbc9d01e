/**
 * Whether one ranking is better than another on the same queries, or only luckier. Randomisation test: if both were equally good, the sign
 * of each difference would be random. The p-value is the share of random signs that give a difference of the means at least as large.
 * Deterministic for a seed.
 */
import { invariant } from "../domain/invariant.ts";
import { mean } from "./measure.ts";

export interface Comparison {
  readonly a: number;
  readonly b: number;
  /** b − a. */
  readonly difference: number;
  /** Two-sided. Below 0.05 is commonly called significant; among many comparisons one such occurs by chance. */
  readonly pValue: number;
  /** Queries on which b is better, worse and equal. */
  readonly won: number;
  readonly lost: number;
  readonly tied: number;
}

const roundsDefault = 10_000;
/** Maximum rounding difference of a sum in another order. */
const rounding = 1e-9;

export function comparePaired(
  a: readonly number[],
  b: readonly number[],
  { seed = 1, rounds = roundsDefault } = {},
): Comparison {
  invariant(a.length === b.length, "INTERNAL", "rankings of different queries");
  const differences = b.map((value, i) => value - (a[i] as number));
  // Ties add nothing, whatever their sign.
  const moved = differences.filter((difference) => Math.abs(difference) > rounding);
  const observed = Math.abs(moved.reduce((sum, difference) => sum + difference, 0));
  const random = seededRandom(seed);
  let asLarge = 0;
  for (let round = 0; round < rounds; round += 1) {
    let sum = 0;
    for (const difference of moved) sum += random() < 0.5 ? difference : -difference;
    if (Math.abs(sum) >= observed - rounding) asLarge += 1;
  }
  const won = moved.filter((difference) => difference > 0).length;
  return {
    a: mean(a),
    b: mean(b),
    difference: mean(differences),
    // The observed signs are one of the possibilities, so p is never 0.
    pValue: (asLarge + 1) / (rounds + 1),
    won,
    lost: moved.length - won,
    tied: differences.length - moved.length,
  };
}

/** mulberry32: small, fast, and good enough for signs. */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
