/** Percentiles by nearest rank, exactly, without sorting everything. */

/** Above this number of values, it yields between two passes. */
const passRows = 262_144;

/** The values at these ranks (from 0, ascending), as if `values` were sorted. Changes the order of `values`. */
export async function selectRanks(
  values: Float64Array,
  ranks: readonly number[],
  pause: () => Promise<void>,
): Promise<number[]> {
  const found: number[] = [];
  let from = 0;
  for (const rank of ranks) {
    let [low, high] = [from, values.length - 1];
    while (low < high) {
      const [less, greater] = partition(values, low, high);
      if (high - low > passRows) await pause();
      if (rank < less) high = less - 1;
      else if (rank > greater) low = greater + 1;
      else break;
    }
    // Everything before `rank` is not greater: the next, higher rank lies behind it.
    from = rank;
    found.push(values[rank] as number);
  }
  return found;
}

/** The rank (from 0) of the p-th percentile of `count` values: the smallest that at least p % are not greater than. */
export function nearestRank(percent: number, count: number): number {
  return Math.max(0, Math.ceil((percent * count) / 100) - 1);
}

/** In three around a pivot, so that many equal values end it early instead of making it slow; returns where the equal ones lie. */
function partition(values: Float64Array, low: number, high: number): readonly [less: number, greater: number] {
  const pivot = medianOfThree(values, low, high);
  let [less, at, greater] = [low, low, high];
  while (at <= greater) {
    const value = values[at] as number;
    if (value < pivot) {
      values[at] = values[less] as number;
      values[less] = value;
      less += 1;
      at += 1;
    } else if (value > pivot) {
      values[at] = values[greater] as number;
      values[greater] = value;
      greater -= 1;
    } else at += 1;
  }
  return [less, greater];
}

/** Three places spread by a fixed sequence, so that no usual order of the input is a bad one. */
function medianOfThree(values: Float64Array, low: number, high: number): number {
  const span = high - low + 1;
  const pick = (n: number): number =>
    values[low + (((Math.imul(span, 2_654_435_761) + Math.imul(n, 2_246_822_519)) >>> 0) % span)] as number;
  const [a, b, c] = [pick(1), pick(2), pick(3)];
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}
