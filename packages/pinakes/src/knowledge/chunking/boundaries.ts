import { mayCut, type Cutter, type Cutting } from "./pack.ts";
import { countBelow } from "./spans.ts";

/** Cuts only at the given ascending boundaries (starts of sentences or records), and overlaps by whole ones. */
export function boundaryCutter(cutting: Cutting, boundaries: ArrayLike<number>): Cutter {
  return {
    end(_start, fresh, limit) {
      for (let i = countBelow(boundaries, limit + 1) - 1; i >= 0; i -= 1) {
        const cut = boundaries[i] ?? 0;
        if (cut <= fresh) break;
        if (mayCut(cutting, cut, fresh)) return cut;
      }
      return fresh;
    },
    overlapStart(span, from) {
      for (let i = countBelow(boundaries, from); i < boundaries.length; i += 1) {
        const start = boundaries[i] ?? span.end;
        if (start >= span.end) break;
        if (mayCut(cutting, start, span.start)) return start;
      }
      return span.end;
    },
  };
}
