/**
 * Token counts for models whose tokenizer is not available. Plain words are counted as the local model counts them, which for English is
 * within a few percent of others. Where tokenizers differ widely (other scripts, long runs without spaces) every two bytes count as a
 * token: more than byte-pair and SentencePiece tokenizers produce for nearly any text, so a chunk that fits by this count fits.
 */
import type { Tokenizer } from "../../ports/embedder.ts";

const plainWord = /^[\x21-\x7e]{1,20}$/;
const bytesPerToken = 2;

export function estimatingTokenizer(tokenizer: Tokenizer): Tokenizer {
  return {
    words(text) {
      const { starts, ends, tokens } = tokenizer.words(text);
      const raised = tokens.map((count, i) => {
        const word = text.slice(starts[i], ends[i]);
        return plainWord.test(word)
          ? count
          : Math.max(count, Math.ceil(Buffer.byteLength(word, "utf8") / bytesPerToken));
      });
      return { starts, ends, tokens: raised };
    },
  };
}
