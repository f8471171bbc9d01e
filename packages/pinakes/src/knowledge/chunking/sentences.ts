/** Starts of sentences by the Unicode rules. */
import type { Pause } from "./pause.ts";
import { blockEnd } from "./token-ruler.ts";

const segmenter = new Intl.Segmenter("und", { granularity: "sentence" });

/** Anything longer without a break is not a sentence; this also bounds the segmenter's input. */
const paragraphCharsMax = 65_536;
const pauseEveryChars = 1_048_576;

/**
 * A line that does not continue a sentence: empty, or starting with a non-word (a bullet, a table, a heading) or with a number as in "3.
 * Title". Any other line continues the sentence before it, since PDF and plain text wrap anywhere.
 */
const ownLine = /[^\S\n]*(?:\n|$|[^\p{L}\p{M}\p{N}"'“”‘’„«»([¿¡]|\d+[.)]\s)/uy;

/** A paragraph without one of these is a single sentence, and skips the slow segmenter: a log has millions of such lines. */
const mayEnd = /[.?!\r\u0085\u0589-\uffff]/;

/** Ascending, from the first character. */
export async function sentenceStarts(text: string, pause: Pause): Promise<readonly number[]> {
  const starts: number[] = [];
  let pauseAt = pauseEveryChars;
  for (let start = 0; start < text.length;) {
    const end = paragraphEnd(text, start);
    // A line end inside the paragraph becomes a space; the length and so the offsets stay.
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
    // Searches only the longest paragraph: a single line of 50 MB would be searched again for each of its parts.
    const newline = text.slice(end, max).indexOf("\n");
    if (newline < 0) return max === text.length ? max : end > start ? end : blockEnd(text, start, paragraphCharsMax);
    end += newline + 1;
    ownLine.lastIndex = end;
  } while (end < max && !ownLine.test(text));
  return end;
}
