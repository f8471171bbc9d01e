/** Fenced code and tables of Markdown, which lose their meaning when cut. */
import type { Span } from "./spans.ts";

const fence = /^ {0,3}(`{3,}|~{3,})/;
/** The line under a table's header, | --- | :-: |, without spaces: with them the pattern would be slow on adversarial lines. */
const tableRule = /^\|?:?-+:?(?:\|:?-+:?)*\|?$/;
/** Longer lines are neither a fence nor a table rule; the patterns above never see them. */
const markCharsMax = 1_000;

/** Ascending, without overlaps. An unclosed fence reaches to the end of the part, as in CommonMark. */
export function wholeBlocks(text: string, part: Span): readonly Span[] {
  const blocks: Span[] = [];
  let former: Span | undefined;
  for (let line = lineAt(text, part.start, part.end); line !== undefined;) {
    const block = fencedFrom(text, line, part.end) ?? tableFrom(text, former, line, part.end);
    if (block !== undefined) blocks.push(block);
    former = block === undefined ? line : undefined;
    line = lineAt(text, block?.end ?? line.end, part.end);
  }
  return blocks;
}

function lineAt(text: string, start: number, end: number): Span | undefined {
  if (start >= end) return undefined;
  // Within the part only: searching the whole text for a line end for every part would take quadratic time.
  const newline = text.slice(start, end).indexOf("\n");
  return { start, end: newline < 0 ? end : start + newline + 1 };
}

/** A line without its line end; empty if too long to be a fence or rule. */
function markOf(text: string, { start, end }: Span): string {
  return end - start > markCharsMax ? "" : text.slice(start, end).replace(/\n$/, "");
}

function fencedFrom(text: string, first: Span, end: number): Span | undefined {
  const mark = fence.exec(markOf(text, first))?.[1];
  if (mark === undefined) return undefined;
  for (let line = lineAt(text, first.end, end); line !== undefined; line = lineAt(text, line.end, end)) {
    const content = markOf(text, line).trim();
    const closes = content.length >= mark.length && content === (mark[0] ?? "").repeat(content.length);
    if (closes) return { start: first.start, end: line.end };
  }
  return { start: first.start, end };
}

/** From the header above the rule to the last line with a column. */
function tableFrom(text: string, header: Span | undefined, rule: Span, end: number): Span | undefined {
  if (header === undefined || !hasColumns(text, header)) return undefined;
  const mark = markOf(text, rule).replaceAll(/[ \t]/g, "");
  if (!mark.includes("|") || !tableRule.test(mark)) return undefined;
  let last = rule;
  for (
    let line = lineAt(text, rule.end, end);
    line !== undefined && hasColumns(text, line);
    line = lineAt(text, line.end, end)
  )
    last = line;
  return { start: header.start, end: last.end };
}

function hasColumns(text: string, { start, end }: Span): boolean {
  return text.slice(start, end).includes("|");
}
