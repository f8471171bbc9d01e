/**
 * Splits Markdown where no block can continue across, because its parser takes quadratic time: after a blank line, before a line that
 * begins with a letter or a heading, outside of code, comments and raw HTML. A list does not continue across such a line, since its content
 * is indented. If there is no such line for long, it splits before any line that is not indented and cannot be the underline, fence or end
 * of the previous block; after eight times as much, at any line at all.
 */
const segmentCharsMin = 2_048;
const segmentCharsMax = 4_096;

export function* markdownSegments(
  text: string,
  from: number,
): Generator<{ readonly start: number; readonly text: string }> {
  let start = from;
  let ends: RegExp | undefined;
  let blankBefore = false;
  for (let at = from; at < text.length;) {
    const newline = text.indexOf("\n", at);
    const next = newline < 0 ? text.length : newline + 1;
    const line = text.slice(at, next);
    if (ends === undefined) {
      const chars = at - start;
      const apart = blankBefore && chars >= segmentCharsMin && /^[#\p{L}]/u.test(line);
      if (
        apart ||
        (chars >= segmentCharsMax && /^(?:[#>\p{L}\p{N}[]|[-+*] )/u.test(line)) ||
        chars >= 8 * segmentCharsMax
      ) {
        yield { start, text: text.slice(start, at) };
        start = at;
      }
      ends = endOfBlock(line);
    } else if (ends.test(line)) ends = undefined;
    blankBefore = line.trim() === "";
    at = next;
  }
  yield { start, text: text.slice(start) };
}

/** How a block ends that may contain blank lines, if this line begins one. */
function endOfBlock(line: string): RegExp | undefined {
  const fence = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/.exec(line)?.[1];
  if (fence !== undefined) return new RegExp(`^ {0,3}${fence[0]}{${Math.min(fence.length, 1_000)},}[ \\t]*$`);
  const raw = /^ {0,3}<(script|pre|style|textarea)(?=[\s>])/i.exec(line)?.[1];
  const end = raw === undefined ? undefined : new RegExp(`</${raw}>`, "i");
  if (end !== undefined) return end.test(line) ? undefined : end;
  return /^ {0,3}<!--/.test(line) && !line.includes("-->") ? /-->/ : undefined;
}
