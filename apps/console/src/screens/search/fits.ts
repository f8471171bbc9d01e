/** Whether an answer is relevant, or merely the least distant. Pure. */
import type { Hit } from "@pinakes/client";
import { partsOf, wordsOf } from "./found-words.ts";

/**
 * Measured with the local model: nonsense and off-topic questions reach 0.04 to 0.26, paraphrases 0.3 and more.
 * With a model whose scores are all higher, no answer is called a bad match.
 */
const vectorScoreLow = 0.3;
const looked = 3;

/** None of the top hits contains a word of the question or is semantically close. */
export function fitsBadly(question: string, hits: readonly Pick<Hit, "scores" | "text" | "citation">[]): boolean {
  const words = wordsOf(question);
  const best = hits.slice(0, looked);
  return (
    best.length > 0 &&
    best.every(({ scores, text, citation }) => {
      const near =
        scores.vector === undefined ||
        scores.vector >= vectorScoreLow ||
        scores.keyword !== undefined ||
        scores.graph !== undefined;
      return !near && ![text, citation.filename].some((one) => partsOf(one, words).some(({ found }) => found));
    })
  );
}
