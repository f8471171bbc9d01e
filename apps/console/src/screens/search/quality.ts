/**
 * Quality of one answer by the user's marks: the same metrics as an evaluation run, for the current question.
 * A document counts once, at its best chunk.
 */
export interface Quality {
  readonly ndcg: number;
  readonly recall: number;
  /** 1 divided by the rank of the first relevant one. */
  readonly mrr: number;
  readonly k: number;
}

export function qualityOf(
  hits: readonly { readonly document_id: string }[],
  relevant: ReadonlySet<string>,
  k = 10,
): Quality | undefined {
  if (relevant.size === 0) return undefined;
  const documents = [...new Set(hits.map(({ document_id }) => document_id))].slice(0, k);
  const ranks = documents.flatMap((id, index) => (relevant.has(id) ? [index + 1] : []));
  const gain = (rank: number) => 1 / Math.log2(rank + 1);
  const ideal = Array.from({ length: Math.min(relevant.size, k) }, (_, index) => gain(index + 1));
  return {
    ndcg: sum(ranks.map(gain)) / sum(ideal),
    recall: ranks.length / relevant.size,
    mrr: ranks[0] === undefined ? 0 : 1 / ranks[0],
    k,
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
