/** Suggestions for a mistyped command or option. */
import { nearestWord } from "../../domain/nearest-word.ts";

/** The same in another case, one with this prefix, or the nearest by edit distance if it is near enough. */
export function suggest(word: string, known: readonly string[]): string | undefined {
  const far = Math.max(1, Math.floor(word.length / 3));
  const begun = word.length > 1 ? known.find((name) => name.startsWith(word)) : undefined;
  return nearestWord(word, known, 0) ?? begun ?? nearestWord(word, known, far);
}
