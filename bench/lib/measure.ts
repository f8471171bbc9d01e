/** Two implementations of the same operation, measured in turns, so that a noisy neighbour affects both. */
import { performance } from "node:perf_hooks";

export interface Comparison {
  /** How many times faster ours is: the median over the rounds. */
  readonly ratio: number;
  readonly oursUs: number;
  readonly theirsUs: number;
}

/** Each function runs `operations` operations; times are per operation. */
export async function compare(options: {
  rounds: number;
  operations: number;
  ours: () => Promise<void>;
  theirs: () => Promise<void> | void;
}): Promise<Comparison> {
  const { rounds, operations, ours, theirs } = options;
  await theirs();
  await ours();
  const pairs: { ours: number; theirs: number }[] = [];
  for (let i = 0; i < rounds; i += 1) {
    // The order alternates each round.
    const first = i % 2 === 0;
    const a = await time(first ? theirs : ours);
    const b = await time(first ? ours : theirs);
    pairs.push(first ? { theirs: a, ours: b } : { ours: a, theirs: b });
  }
  const per = (total: number) => (total * 1000) / operations;
  return {
    ratio: median(pairs.map((pair) => pair.theirs / pair.ours)),
    oursUs: per(median(pairs.map((pair) => pair.ours))),
    theirsUs: per(median(pairs.map((pair) => pair.theirs))),
  };
}

async function time(work: () => Promise<void> | void): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export function us(value: number): string {
  return value >= 1000 ? `${(value / 1000).toPrecision(3)} ms` : `${value.toPrecision(3)} µs`;
}

/** 0.5 is the median. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
