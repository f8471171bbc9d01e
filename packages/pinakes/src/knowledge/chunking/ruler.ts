/** Measures spans in the unit of the strategy. */
import { isSafeCut } from "./graphemes.ts";
import { isBlank, skipBlank } from "./spans.ts";

export interface Ruler {
  /** Size of [start, end). */
  cost(start: number, end: number): number;
  /** The furthest end such that [start, end), without the blanks at its edges, takes at most `budget`. */
  reach(start: number, budget: number): number;
  /** The earliest start such that [start, end) takes at most `budget`. */
  reachBack(end: number, budget: number): number;
  /** Whether counts still add up if the text is cut here. */
  allows(position: number): boolean;
}

/** Characters are UTF-16 code units. */
export function charRuler(text: string): Ruler {
  return {
    cost: (start, end) => end - start,
    reach(start, budget) {
      const end = start + budget;
      if (end >= text.length) return text.length;
      // Blanks at the edge are free, but a blank that belongs to the preceding cluster is not an edge.
      return isBlank(text.charCodeAt(end)) && isSafeCut(text, end, start) ? skipBlank(text, end, text.length) : end;
    },
    reachBack: (end, budget) => Math.max(0, end - budget),
    allows: () => true,
  };
}
