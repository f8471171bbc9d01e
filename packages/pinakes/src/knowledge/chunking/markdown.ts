/**
 * MARKDOWN: by sections. Small neighbours under one parent share a chunk while they fit; a section that is too long is cut as by RECURSIVE,
 * but never inside fenced code or a table that fits.
 */
import type { ParsedText } from "../../ports/parser.ts";
import { wholeBlocks } from "./markdown-blocks.ts";
import { mayCut, pack, type Cutter, type Cutting } from "./pack.ts";
import { recursiveCutter } from "./recursive.ts";
import { countBelow, trimEnd, type Span } from "./spans.ts";

interface Section extends Span {
  readonly path: readonly string[];
}

export function* markdownSpans(
  cutting: Cutting,
  headings: ParsedText["sections"],
  separators: readonly string[],
): Generator<Span> {
  for (const part of mergedSections(cutting, sectionsOf(cutting, headings))) {
    yield* pack(cutting, keepingWhole(recursiveCutter(cutting, separators), fittingBlocks(cutting, part)), part);
  }
}

/** Text before the first heading is a section without a path. */
function sectionsOf(cutting: Cutting, headings: ParsedText["sections"]): readonly Section[] {
  const usable = headings.filter(({ start }) => start > 0 && mayCut(cutting, start, 0));
  const first = headings.find(({ start }) => start === 0);
  return [{ start: 0, path: first?.path ?? [] }, ...usable].map(({ start, path }, i) => ({
    start,
    path,
    end: usable[i]?.start ?? cutting.text.length,
  }));
}

function* mergedSections(cutting: Cutting, sections: readonly Section[]): Generator<Span> {
  let group: Section | undefined;
  for (const section of sections) {
    const joined: Section | undefined = group && { start: group.start, end: section.end, path: group.path };
    if (
      group !== undefined &&
      joined !== undefined &&
      underOneParent(group.path, section.path) &&
      fits(cutting, joined)
    ) {
      group = joined;
      continue;
    }
    if (group !== undefined) yield group;
    group = section;
  }
  if (group !== undefined) yield group;
}

/** Siblings, and children that follow their parent directly. */
function underOneParent(path: readonly string[], next: readonly string[]): boolean {
  return path.length > 0 && path.slice(0, -1).every((heading, i) => next[i] === heading) && next.length >= path.length;
}

function fits({ text, ruler, size }: Cutting, { start, end }: Span): boolean {
  return ruler.cost(start, trimEnd(text, start, end)) <= size;
}

function fittingBlocks(cutting: Cutting, part: Span): readonly Span[] {
  return wholeBlocks(cutting.text, part).filter((block) => fits(cutting, block));
}

function keepingWhole(cutter: Cutter, blocks: readonly Span[]): Cutter {
  const starts = blocks.map(({ start }) => start);
  /** The block that a cut here would split. */
  const blockAround = (position: number) => {
    const block = blocks[countBelow(starts, position) - 1];
    return block !== undefined && position < block.end ? block : undefined;
  };
  return {
    end(start, fresh, limit) {
      const cut = cutter.end(start, fresh, limit);
      const block = blockAround(cut);
      if (block === undefined || cut <= fresh) return cut;
      if (block.start > fresh) return block.start;
      if (block.end <= limit) return block.end;
      // The block fits without the overlap; `pack` asks again for that.
      return start < fresh ? fresh : cut;
    },
    overlapStart(span, from) {
      const start = cutter.overlapStart(span, from);
      return start < span.end && blockAround(start) !== undefined ? span.end : start;
    },
  };
}
