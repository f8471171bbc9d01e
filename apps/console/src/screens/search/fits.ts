/** Whether an answer is one, or only what is least far from a question that nothing answers. Pure. */
import type { Hit } from "@pinakes/client";
import { partsOf, wordsOf } from "./found-words.ts";

/**
 * Measured with the local model: nonsense and questions of another world reach 0.04 to 0.26, questions in other words than the text's 0.3
 * and more. A model whose scores are all higher is never said to fit badly.
 */
const vectorScoreLow = 0.3;
const looked = 3;

/** Not one of the best hits holds a word of the question, and none is near in meaning. */
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
