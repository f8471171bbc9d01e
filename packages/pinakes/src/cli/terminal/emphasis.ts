/** Matching words in found chunks: which part to show, and what to emphasise. */
import { styled, type Terminal } from "./terminal.ts";

const word = /[\p{L}\p{N}]+/gu;
/** Words of one or two letters, and these, are too common. */
const everywhere = new Set([
  "the",
  "and",
  "are",
  "for",
  "how",
  "what",
  "who",
  "why",
  "does",
  "with",
  "der",
  "die",
  "das",
  "und",
  "wie",
  "was",
]);
const charsMin = 3;
/** Typical length of an ending: computing and computed match, compost does not. */
const endingCharsMax = 3;

/** The stems of the question's words. */
function stemsOf(query: string): readonly string[] {
  const words = [...query.toLowerCase().matchAll(word)]
    .map(([found]) => found)
    .filter((found) => found.length >= charsMin && !everywhere.has(found));
  return [
    ...new Set(
      words.map((found) => found.slice(0, found.length - Math.min(endingCharsMax, Math.floor((found.length - 1) / 3)))),
    ),
  ];
}

function isMeant(found: string, stems: readonly string[]): boolean {
  const lower = found.toLowerCase();
  return stems.some((stem) => lower.startsWith(stem) && lower.length - stem.length <= endingCharsMax * 2);
}

export function emphasised(terminal: Pick<Terminal, "color">, text: string, query: string): string {
  if (!terminal.color) return text;
  const stems = stemsOf(query);
  return text.replaceAll(word, (found) => (isMeant(found, stems) ? styled(terminal, "yellow", found) : found));
}

/** The part of the text with most of the matching words, cut between words, with an ellipsis at each cut. */
export function snippet(text: string, query: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const stems = stemsOf(query);
  const places = [...text.matchAll(word)].filter(([found]) => isMeant(found, stems)).map(({ index }) => index);
  let best = { from: 0, hits: -1 };
  for (const from of [0, ...places.map((place) => Math.max(0, place - Math.floor(charsMax / 4)))]) {
    const hits = places.filter((place) => place >= from && place < from + charsMax).length;
    if (hits > best.hits) best = { from, hits };
  }
  const from = Math.min(best.from, text.length - charsMax);
  const begin = from <= 0 ? 0 : afterSpace(text, from);
  const end = from + charsMax >= text.length ? text.length : text.lastIndexOf(" ", from + charsMax);
  return `${begin === 0 ? "" : "… "}${text.slice(begin, end > begin ? end : from + charsMax)}${end === text.length ? "" : " …"}`;
}

function afterSpace(text: string, from: number): number {
  const space = text.indexOf(" ", from);
  return space === -1 ? from : space + 1;
}
