/** What somebody may have meant who mistyped a word. */

/** The nearest of those that are near enough to be meant. */
export function suggest(word: string, known: readonly string[]): string | undefined {
  const far = Math.max(1, Math.floor(word.length / 3));
  const near = known
    .map((name) => ({ name, distance: name.startsWith(word) && word.length > 1 ? 0.5 : editDistance(word.toLowerCase(), name.toLowerCase()) }))
    .filter(({ distance }) => distance <= far)
    .sort((a, b) => a.distance - b.distance);
  return near[0]?.name;
}

/** Letters to add, to remove, to replace or to swap with their neighbour. */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number): number => rows[i]?.[j] as number;
  for (let i = 1; i <= a.length; i += 1) {
    rows.push([i]);
    for (let j = 1; j <= b.length; j += 1) {
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(i - 2, j - 2) + 1 : Infinity;
      rows[i]?.push(Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1), swapped));
    }
  }
  return at(a.length, b.length);
}
