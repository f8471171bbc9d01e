/** Where sentences begin, by the rules of Unicode. */
import type { Pause } from "./pause.ts";
import { blockEnd } from "./token-ruler.ts";

const segmenter = new Intl.Segmenter("und", { granularity: "sentence" });

/** What is longer than this without a break is no sentence; it also bounds what the segmenter sees at once. */
const paragraphCharsMax = 65_536;
const pauseEveryChars = 1_048_576;

/**
 * A line of its own: empty, or beginning with something that is no word (a bullet, a table, a heading) or with a number as in
 * "3. Title". Any other line goes on with the sentence before it, since PDF and plain text break lines anywhere.
 */
const ownLine = /[^\S\n]*(?:\n|$|[^\p{L}\p{M}\p{N}"'“”‘’„«»([¿¡]|\d+[.)]\s)/uy;

/** Without one of these there is one sentence, and the segmenter, slow to start, is not asked: a log has millions of such lines. */
const mayEnd = /[.?!\r\u0085\u0589-\uffff]/;

/** Ascending, from the first character on. */
export async function sentenceStarts(text: string, pause: Pause): Promise<readonly number[]> {
  const starts: number[] = [];
  let pauseAt = pauseEveryChars;
  for (let start = 0; start < text.length;) {
    const end = paragraphEnd(text, start);
    // A line end inside the paragraph is a space; the length stays, so the offsets do.
    const paragraph = text.slice(start, end).replaceAll("\n", " ");
    if (!mayEnd.test(paragraph)) starts.push(start);
    else for (const { index } of segmenter.segment(paragraph)) starts.push(start + index);
    start = end;
    if (start < pauseAt) continue;
    await pause();
    pauseAt = start + pauseEveryChars;
  }
  return starts;
}

function paragraphEnd(text: string, start: number): number {
  const max = Math.min(text.length, start + paragraphCharsMax);
  let end = start;
  do {
    // Up to the longest paragraph only: one line of 50 MB would be searched again for each of its parts.
    const newline = text.slice(end, max).indexOf("\n");
    if (newline < 0) return max === text.length ? max : end > start ? end : blockEnd(text, start, paragraphCharsMax);
    end += newline + 1;
    ownLine.lastIndex = end;
  } while (end < max && !ownLine.test(text));
  return end;
}
