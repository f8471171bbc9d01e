/** The words of a question, found again in a passage. Pure. */
interface Part {
  readonly text: string;
  readonly found: boolean;
}

/** A question of a thousand words marks everything; the first ones will do. */
const wordsMax = 24;
const stemCharsMin = 4;
const common = new Set(
  "a an and are as at be but by can could did do does for from get had has have how i if in into is it its may me my no not of on or our should so than that the their then there these they this to up was we were what when where which who why will with without would you your".split(
    " ",
  ),
);

export function wordsOf(question: string): readonly string[] {
  const words = question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const telling = [...new Set(words)].filter((word) => !common.has(word));
  return telling.slice(0, wordsMax);
}

/** Cuts the text where one of the words stands. Endings do not count: "restarts" and "restarting" are marked for "restarted". */
export function partsOf(text: string, words: readonly string[]): readonly Part[] {
  if (words.length === 0) return text === "" ? [] : [{ text, found: false }];
  // Words are letters and digits only, so they need no escaping.
  const any = words.map(stemOf).join("|");
  const parts = text.split(new RegExp(`(?<![\\p{L}\\p{N}])((?:${any})[\\p{L}\\p{N}]*)`, "giu"));
  return parts.map((part, index) => ({ text: part, found: index % 2 === 1 })).filter((part) => part.text !== "");
}

/** The part of a long passage that holds most of the words. */
export function excerptOf(text: string, words: readonly string[], charsMax: number): string {
  if (text.length <= charsMax) return text;
  const places: number[] = [];
  let at = 0;
  for (const part of partsOf(text, words)) {
    if (part.found) places.push(at);
    at += part.text.length;
  }
  const within = (from: number) => places.filter((place) => place >= from && place < from + charsMax).length;
  const best = places.reduce((most, place) => (within(place) > within(most) ? place : most), places[0] ?? 0);
  const lead = Math.floor(charsMax / 8);
  const start = wordStart(text, Math.max(0, Math.min(best - lead, text.length - charsMax)));
  const end = wordEnd(text, Math.min(text.length, start + charsMax));
  return `${start > 0 ? "… " : ""}${text.slice(start, end).trim()}${end < text.length ? " …" : ""}`;
}

function wordStart(text: string, from: number): number {
  if (from === 0) return 0;
  const space = text.slice(from).search(/\s/u);
  return space < 0 ? from : from + space + 1;
}

function wordEnd(text: string, to: number): number {
  if (to === text.length) return to;
  const end = text.slice(0, to).search(/\s\S*$/u);
  return end <= 0 ? to : end;
}

function stemOf(word: string): string {
  if (word.length <= stemCharsMin) return word;
  const stem = word.replace(/(?:ings?|ed|es|s|e)$/u, "");
  return stem.length >= stemCharsMin ? stem : word;
}
