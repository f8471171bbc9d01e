/** The part of a chunk to show first: with the most, and the rarest, words of the question. Pure. */
import { partsOf, stemOf } from "./found-words.ts";

/** An identifier with a digit, such as P-117, outweighs common words beside it. */
const digitWeight = 3;
const longWordChars = 10;

interface Place {
  readonly at: number;
  readonly word: string;
}

export function excerptOf(text: string, words: readonly string[], charsMax: number): string {
  if (text.length <= charsMax) return text;
  const best = bestPlaceOf(text, words, charsMax) ?? 0;
  const lead = Math.floor(charsMax / 8);
  const start = wordStart(text, Math.max(0, Math.min(best - lead, text.length - charsMax)), best);
  const end = wordEnd(text, Math.min(text.length, start + charsMax));
  return `${start > 0 ? "… " : ""}${text.slice(start, end).trim()}${end < text.length ? " …" : ""}`;
}

/** Start of the window with the highest weight; undefined if it contains no word of the question. */
export function bestPlaceOf(text: string, words: readonly string[], charsMax: number): number | undefined {
  const places = placesOf(text, words);
  const weights = weightsOf(places);
  let best: { readonly at: number; readonly weight: number } | undefined;
  // A word at the very end of the window could be cut off, so it does not count.
  const reach = charsMax - Math.floor(charsMax / 4);
  places.forEach(({ at }, first) => {
    const within = new Set<string>();
    for (let i = first; i < places.length && (places[i] as Place).at < at + reach; i += 1)
      within.add((places[i] as Place).word);
    const weight = [...within].reduce((sum, word) => sum + (weights.get(word) ?? 0), 0);
    if (best === undefined || weight > best.weight) best = { at, weight };
  });
  return best?.at;
}

function placesOf(text: string, words: readonly string[]): readonly Place[] {
  const places: Place[] = [];
  let at = 0;
  for (const part of partsOf(text, words)) {
    if (part.found) places.push({ at, word: stemOf(part.text.toLowerCase()) });
    at += part.text.length;
  }
  return places;
}

/** Long words weigh more than short ones, and rare ones more than frequent ones. */
function weightsOf(places: readonly Place[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { word } of places) counts.set(word, (counts.get(word) ?? 0) + 1);
  return new Map(
    [...counts].map(([word, count]) => {
      const weight =
        (1 + Math.min(word.length, longWordChars) / longWordChars) * (/\p{N}/u.test(word) ? digitWeight : 1);
      return [word, weight / Math.sqrt(count)];
    }),
  );
}

/** Moves back to a word boundary, but never past the match. */
function wordStart(text: string, from: number, before: number): number {
  if (from === 0) return 0;
  const space = text.slice(from).search(/\s/u);
  return space < 0 || from + space + 1 > before ? from : from + space + 1;
}

function wordEnd(text: string, to: number): number {
  if (to === text.length) return to;
  const end = text.slice(0, to).search(/\s\S*$/u);
  return end <= 0 ? to : end;
}
