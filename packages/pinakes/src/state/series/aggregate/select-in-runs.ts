/** Exact percentiles of values in several sorted runs, without merging them. */

/** The values at these ranks (from 0), as if all runs were one sorted list. Every run is ascending; a rank is below the number of values. */
export function selectInRuns(runs: readonly Float64Array[], ranks: readonly number[]): number[] {
  const filled = runs.filter((run) => run.length > 0);
  const [only] = filled;
  if (filled.length === 1 && only !== undefined) return ranks.map((rank) => only[rank] as number);
  return ranks.map((rank) => selectOne(filled, rank));
}

/** Of each run a window is left in which the value may lie. Every look at a pivot takes a quarter of what is left away, or ends it. */
function selectOne(runs: readonly Float64Array[], wanted: number): number {
  let low = new Uint32Array(runs.length);
  let high = Uint32Array.from(runs, (run) => run.length);
  let rank = wanted;
  for (;;) {
    const pivot = middleOfMiddles(runs, low, high);
    const [from, to] = [new Uint32Array(runs.length), new Uint32Array(runs.length)];
    let [less, notGreater] = [0, 0];
    for (const [i, run] of runs.entries()) {
      const start = low[i] as number;
      from[i] = notBelow(run, start, high[i] as number, pivot);
      to[i] = above(run, from[i], high[i] as number, pivot);
      less += from[i] - start;
      notGreater += to[i] - start;
    }
    if (rank < less) high = from;
    else if (rank < notGreater) return pivot;
    else {
      rank -= notGreater;
      low = to;
    }
  }
}

/** The median of the windows' medians, each counted as often as its window is long: whatever the runs are, it lies well inside. */
function middleOfMiddles(runs: readonly Float64Array[], low: Uint32Array, high: Uint32Array): number {
  const middles: { readonly value: number; readonly weight: number }[] = [];
  let all = 0;
  for (const [i, run] of runs.entries()) {
    const [from, to] = [low[i] as number, high[i] as number];
    if (from === to) continue;
    middles.push({ value: run[(from + to) >>> 1] as number, weight: to - from });
    all += to - from;
  }
  middles.sort((a, b) => a.value - b.value);
  let before = 0;
  for (const { value, weight } of middles) {
    before += weight;
    if (2 * before >= all) return value;
  }
  throw new RangeError("A rank is beyond the values.");
}

/** Index of the first value that is not less. */
function notBelow(run: Float64Array, start: number, end: number, pivot: number): number {
  let [low, high] = [start, end];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((run[middle] as number) < pivot) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Index of the first value that is greater. */
function above(run: Float64Array, start: number, end: number, pivot: number): number {
  let [low, high] = [start, end];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((run[middle] as number) <= pivot) low = middle + 1;
    else high = middle;
  }
  return low;
}
