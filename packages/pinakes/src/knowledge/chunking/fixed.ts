/** FIXED and TOKEN: windows of one size, cut at the last word that fits. */
import { firstWord, lastWordEdge, type Cutter, type Cutting } from "./pack.ts";

export function fixedCutter(cutting: Cutting): Cutter {
  return {
    end: (_start, fresh, limit) => lastWordEdge(cutting, fresh, limit),
    overlapStart: (span, from) => firstWord(cutting, span, from),
  };
}
