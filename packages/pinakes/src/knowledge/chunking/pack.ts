/**
 * Packs a part of the text into spans, each as long as fits. A cutter gives the preferred cuts of its strategy; where it has none, the span
 * is cut at a word, then at a grapheme cluster, and at a code point only inside a single cluster longer than the size.
 *
 * Invariants of the spans: starts and ends ascend strictly; each takes at most `size`; neighbours share at most `overlap`; every non-blank
 * character is in one of them; no edge is blank.
 */
import { invariant } from "../../domain/invariant.ts";
import { characterStart, codePointStart, isSafeCut } from "./graphemes.ts";
import type { Ruler } from "./ruler.ts";
import { isBlank, isWordEdge, skipBlank, trimEnd, type Span } from "./spans.ts";

/** A text and its sizes, in the ruler's unit. */
export interface Cutting {
  readonly text: string;
  readonly ruler: Ruler;
  readonly size: number;
  readonly overlap: number;
}

export interface Cutter {
  /**
   * Where a span from `start` ends: after `fresh`, the first character not yet in a span, and at most at `limit`. Returns `fresh` if the
   * cutter has no cut.
   */
  end(start: number, fresh: number, limit: number): number;
  /** Where the next span begins, at or after `from`, to overlap the end of this one. Returns `end` for no overlap. */
  overlapStart(span: Span, from: number): number;
}

export function* pack(
  cutting: Cutting,
  cutter: Cutter,
  part: Span = { start: 0, end: cutting.text.length },
): Generator<Span> {
  const { text, ruler, size, overlap } = cutting;
  let fresh = skipBlank(text, part.start, part.end);
  let start = fresh;
  while (fresh < part.end) {
    let cut = cutFrom(cutting, cutter, start, fresh, part.end);
    if (cut <= fresh && start < fresh) {
      // The overlap leaves no room for new text; new text has priority.
      start = fresh;
      cut = cutFrom(cutting, cutter, start, fresh, part.end);
    }
    const forced = cut <= fresh;
    if (forced) cut = forcedCut(cutting, fresh, Math.min(part.end, ruler.reach(fresh, size)));
    const span = { start, end: trimEnd(text, start, cut) };
    invariant(
      span.end > fresh && cut <= part.end,
      "INTERNAL",
      "A chunk adds nothing to the previous one, or leaves its part of the text.",
    );
    yield span;
    fresh = skipBlank(text, cut, part.end);
    const from = Math.max(ruler.reachBack(span.end, overlap), span.start + 1);
    const repeated =
      overlap === 0 ? span.end : forced ? firstWord(cutting, span, from) : cutter.overlapStart(span, from);
    start = repeated < span.end ? skipBlank(text, repeated, span.end) : fresh;
  }
}

function cutFrom({ ruler, size }: Cutting, cutter: Cutter, start: number, fresh: number, end: number): number {
  const limit = ruler.reach(start, size);
  if (limit >= end) return end;
  return limit <= fresh ? fresh : cutter.end(start, fresh, limit);
}

function forcedCut(cutting: Cutting, fresh: number, limit: number): number {
  const { text, ruler } = cutting;
  const word = lastWordEdge(cutting, fresh, limit);
  if (word > fresh) return word;
  const character = characterStart(text, limit, fresh);
  if (character > fresh && ruler.allows(character)) return character;
  // At least one code point, or the loop would never end.
  const point = codePointStart(text, limit);
  return point > fresh ? point : fresh + String.fromCodePoint(text.codePointAt(fresh) ?? 0).length;
}

/** Whether a cut here is safe and keeps the counts right. `floor` is a safe position before it. */
export function mayCut({ text, ruler }: Cutting, position: number, floor: number): boolean {
  return ruler.allows(position) && isSafeCut(text, position, floor);
}

/** The last position in (fresh, limit] where a word begins or ends; `fresh` if there is none. */
export function lastWordEdge(cutting: Cutting, fresh: number, limit: number): number {
  for (let position = limit; position > fresh; position -= 1) {
    if (isWordEdge(cutting.text, position) && mayCut(cutting, position, fresh)) return position;
  }
  return fresh;
}

/** The first word of the span that begins at or after `from`; the span's end if there is none. */
export function firstWord(cutting: Cutting, span: Span, from: number): number {
  const { text } = cutting;
  for (let position = from; position < span.end; position += 1) {
    if (!isBlank(text.charCodeAt(position)) && isWordEdge(text, position) && mayCut(cutting, position, span.start))
      return position;
  }
  return span.end;
}
