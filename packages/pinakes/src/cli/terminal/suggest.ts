/** What somebody may have meant who mistyped a command or an option. */
import { nearestWord } from "../../domain/nearest-word.ts";

/** The same in another case, one that begins so, or the nearest of those that are near enough to be meant. */
export function suggest(word: string, known: readonly string[]): string | undefined {
  const far = Math.max(1, Math.floor(word.length / 3));
  const begun = word.length > 1 ? known.find((name) => name.startsWith(word)) : undefined;
  return nearestWord(word, known, 0) ?? begun ?? nearestWord(word, known, far);
}
