/**
 * RECURSIVE: a span ends at the last occurrence of the first separator that leaves it reasonably full. A paragraph that fits stays whole;
 * one that does not is cut between lines, then sentences, then words.
 */
import { firstWord, mayCut, type Cutter, type Cutting } from "./pack.ts";
import { isBlank } from "./spans.ts";

/** A span shorter than this share of the size (such as a title before a long paragraph) is made only if no other separator helps. */
const fillMin = 1 / 4;

export function recursiveCutter(cutting: Cutting, separators: readonly string[]): Cutter {
  const { ruler, size } = cutting;
  const cutPoints = separators.map((separator) => ({ separator, offset: cutOffset(separator) }));
  return {
    end(_start, fresh, limit) {
      const enough = ruler.reach(fresh, Math.floor(size * fillMin));
      let best = fresh;
      for (const cutPoint of cutPoints) {
        const cut = lastCut(cutting, cutPoint, fresh, limit);
        if (cut > fresh && cut >= enough) return cut;
        if (best === fresh) best = cut;
      }
      return best;
    },
    overlapStart: (span, from) => firstWord(cutting, span, from),
  };
}

interface Cut {
  readonly separator: string;
  readonly offset: number;
}

/** ". " belongs to the text before it, "\n## " to the text after it: the cut is after the separator, or after its leading blanks. */
function cutOffset(separator: string): number {
  let blanks = 0;
  while (blanks < separator.length && isBlank(separator.charCodeAt(blanks))) blanks += 1;
  return blanks === 0 ? separator.length : blanks;
}

function lastCut(cutting: Cutting, { separator, offset }: Cut, fresh: number, limit: number): number {
  // A slice: lastIndexOf on the whole text would search back to its beginning for a missing separator.
  const window = cutting.text.slice(fresh, limit + separator.length);
  for (let last = limit - fresh - offset; last >= 0; last -= 1) {
    last = window.lastIndexOf(separator, last);
    if (last < 0) break;
    const cut = fresh + last + offset;
    if (cut > fresh && mayCut(cutting, cut, fresh)) return cut;
  }
  return fresh;
}
