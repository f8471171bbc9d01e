/** Maximal marginal relevance: each next chunk is the most relevant one that is least similar to those already chosen. */
interface Scored {
  readonly score: number;
  readonly hit: { readonly vector?: Float32Array };
}

export function diversified<T extends Scored>(entries: readonly T[], limit: number, diversity: number): readonly T[] {
  const rest = [...entries];
  const chosen: T[] = [];
  const high = entries[0]?.score ?? 1;
  const relevance = ({ score }: T) => (high > 0 ? score / high : score);
  while (chosen.length < limit && rest.length > 0) {
    let best = 0;
    let bestValue = -Infinity;
    for (const [i, entry] of rest.entries()) {
      const likeness = chosen.reduce((most, other) => Math.max(most, cosine(entry.hit.vector, other.hit.vector)), 0);
      const value = (1 - diversity) * relevance(entry) - diversity * likeness;
      if (value > bestValue) [best, bestValue] = [i, value];
    }
    chosen.push(...rest.splice(best, 1));
  }
  return chosen;
}

function cosine(a: Float32Array | undefined, b: Float32Array | undefined): number {
  if (a === undefined || b === undefined || a.length !== b.length) return 0;
  let dot = 0;
  let lengths = 0;
  let other = 0;
  for (let i = 0; i < a.length; i += 1) {
    const x = a[i] as number;
    const y = b[i] as number;
    dot += x * y;
    lengths += x * x;
    other += y * y;
  }
  return lengths === 0 || other === 0 ? 0 : dot / Math.sqrt(lengths * other);
}
