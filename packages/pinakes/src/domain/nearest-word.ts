/** Spelling suggestions. */

/** The nearest known word, ignoring case; the first of several equally near; undefined if all are further than `distanceMax`. */
export function nearestWord(word: string, known: readonly string[], distanceMax = Infinity): string | undefined {
  const wanted = word.toLowerCase();
  let nearest: string | undefined;
  let least = Infinity;
  for (const name of known) {
    const candidate = name.toLowerCase();
    // The difference in length is a lower bound of the distance, so most words need no comparison of letters.
    if (Math.abs(candidate.length - wanted.length) > distanceMax) continue;
    const distance = editDistance(wanted, candidate);
    if (distance <= distanceMax && distance < least) [nearest, least] = [name, distance];
  }
  return nearest;
}

/** Insertions, deletions, substitutions, and swaps of neighbours (Damerau-Levenshtein). */
function editDistance(a: string, b: string): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (last[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (beforeLast[j - 2] as number) + 1 : Infinity;
      row.push(Math.min((last[j] as number) + 1, (row[j - 1] as number) + 1, replaced, swapped));
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length] as number;
}
