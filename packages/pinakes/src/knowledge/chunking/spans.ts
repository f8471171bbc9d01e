/** Spans of a text, their blank edges, and word boundaries. */
import { isSafeCut } from "./graphemes.ts";

/** `text.slice(start, end)`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Code units that `\s` matches. */
export function isBlank(code: number): boolean {
  if (code <= 0x20) return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  if (code < 0xa0) return false;
  if (code === 0xa0 || code === 0x1680 || code === 0x3000 || code === 0xfeff) return true;
  return (code >= 0x2000 && code <= 0x200a) || code === 0x2028 || code === 0x2029 || code === 0x202f || code === 0x205f;
}

/** The first non-blank position from `start`. A blank that carries an accent is a character, and stays. */
export function skipBlank(text: string, start: number, end: number): number {
  let position = start;
  while (position < end && isBlank(text.charCodeAt(position)) && isSafeCut(text, position + 1, position)) position += 1;
  return position;
}

/** `end` without the blanks before it. */
export function trimEnd(text: string, start: number, end: number): number {
  let position = end;
  while (position > start && isBlank(text.charCodeAt(position - 1)) && isSafeCut(text, position - 1, start))
    position -= 1;
  return position;
}

/** Scripts written without spaces: every character may end a word. Inclusive pairs. */
const unspacedRanges = [
  [0x0e00, 0x109f], // Thai, Lao, Tibetan, Burmese
  [0x1780, 0x17ff], // Khmer
  [0x2e80, 0xa4cf], // Han, Kana, Yi and their punctuation
  [0xf900, 0xfaff], // Han, compatibility
  [0xff00, 0xffef], // full width forms
] as const;

const unspaced = new Uint8Array(0x1_0000);
for (const [first, last] of unspacedRanges) unspaced.fill(1, first, last + 1);

function isUnspaced(code: number): boolean {
  return unspaced[code] === 1;
}

/** Whether a word begins or ends here, as far as code units tell; the caller checks separately that a cut is safe. */
export function isWordEdge(text: string, position: number): boolean {
  if (position <= 0 || position >= text.length) return true;
  const before = text.charCodeAt(position - 1);
  const after = text.charCodeAt(position);
  return isBlank(before) || isBlank(after) || isUnspaced(before) || isUnspaced(after);
}

/** Number of the ascending numbers below `value`. */
export function countBelow(numbers: ArrayLike<number>, value: number, length = numbers.length): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? Infinity) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
