/**
 * A reference BM25, for comparing results, not for speed: k1 = 1.2, b = 0.75, Lucene's idf ln(1 + (N − df + 0.5) / (df + 0.5)), tf / (tf +
 * k1 · (1 − b + b · length / average)) without the factor k1 + 1 (which changes no order), exact lengths. Documents are lists of tokens; a
 * repeated query word counts twice; equal scores come in the order of ids.
 */
export interface Hit {
  readonly id: number;
  readonly score: number;
}

interface Postings {
  readonly ids: number[];
  readonly counts: number[];
}

const k1 = 1.2;
const b = 0.75;

export function bm25(documents: readonly (readonly string[])[]): {
  search(terms: readonly string[], k: number): Hit[];
} {
  const postings = new Map<string, Postings>();
  for (const [id, tokens] of documents.entries()) {
    for (const token of tokens) {
      let list = postings.get(token);
      if (list === undefined) postings.set(token, (list = { ids: [], counts: [] }));
      const last = list.ids.length - 1;
      if (list.ids[last] === id) list.counts[last] = (list.counts[last] ?? 0) + 1;
      else {
        list.ids.push(id);
        list.counts.push(1);
      }
    }
  }
  const average = documents.reduce((sum, tokens) => sum + tokens.length, 0) / documents.length;
  const norms = Float64Array.from(documents, (tokens) => k1 * (1 - b + (b * tokens.length) / average));
  return {
    search(terms, k) {
      const scores = new Float64Array(documents.length);
      const found = new Set<number>();
      for (const term of terms) {
        const { ids, counts } = postings.get(term) ?? { ids: [], counts: [] };
        const idf = Math.log(1 + (documents.length - ids.length + 0.5) / (ids.length + 0.5));
        for (const [i, id] of ids.entries()) {
          const count = counts[i] ?? 0;
          scores[id] = (scores[id] ?? 0) + (idf * count) / (count + (norms[id] ?? 0));
          found.add(id);
        }
      }
      return Array.from(found, (id) => ({ id, score: scores[id] ?? 0 }))
        .sort((x, y) => y.score - x.score || x.id - y.id)
        .slice(0, k);
    },
  };
}
