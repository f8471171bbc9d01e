/**
 * Markdown: the text is the source itself; sections come from its headings. Front matter is text, but no heading.
 *
 * Only blocks are parsed: inline content of a paragraph cannot make a heading, and skipping it saves most of the time.
 */
import { fromMarkdown } from "mdast-util-from-markdown";
import type { ParsedText } from "../../../ports/parser.ts";
import { parserLimits } from "../limits.ts";
import { Sections } from "../sections.ts";

const inlineConstructs = [
  "attention",
  "autolink",
  "characterEscape",
  "characterReference",
  "codeText",
  "hardBreakEscape",
  "htmlText",
  "labelEnd",
  "labelStartImage",
  "labelStartLink",
];

/** Link markup and addresses included; unclosed brackets take quadratic time. */
const titleCharsMax = 4 * parserLimits.headingCharsMax;

export function parseMarkdown(text: string): ParsedText {
  const sections = new Sections();
  for (const segment of markdownSegments(text, frontMatterLength(text))) {
    const tree = fromMarkdown(flattenDeepBlocks(segment.text), "utf8", {
      extensions: [{ disable: { null: inlineConstructs } }],
    });
    for (const node of tree.children) {
      const start = node.position?.start.offset;
      const end = node.position?.end.offset;
      if (node.type !== "heading" || start === undefined || end === undefined) continue;
      sections.heading(segment.start + start, node.depth, titleOf(segment.text.slice(start, end)));
    }
  }
  const warnings: string[] = [];
  return { text, pages: [], sections: sections.finish(warnings), rows: [], warnings };
}

/** Between --- lines (YAML) or +++ lines (TOML), at the very beginning. */
function frontMatterLength(text: string): number {
  const fence = /^(---|\+\+\+)[ \t]*\n/.exec(text)?.[1];
  if (fence === undefined) return 0;
  const end = new RegExp(`^${fence === "---" ? "(?:---|\\.\\.\\.)" : "\\+\\+\\+"}[ \\t]*(?:\\n|$)`, "gm");
  end.lastIndex = text.indexOf("\n") + 1;
  return end.exec(text) === null ? 0 : end.lastIndex;
}

/** The words of a heading, without the markup of links and emphasis. Only the beginning of a long one is parsed: it is truncated anyway. */
function titleOf(source: string): string {
  return wordsOf(fromMarkdown(source.slice(0, titleCharsMax)));
}

interface MarkdownNode {
  readonly type: string;
  readonly value?: string;
  readonly alt?: string | null | undefined;
  readonly children?: readonly MarkdownNode[];
}

function wordsOf({ type, value, alt, children = [] }: MarkdownNode): string {
  if (value !== undefined) return type === "html" ? "" : value;
  return alt ?? children.map(wordsOf).join("");
}

/**
 * Limits the nesting of Markdown blocks before its parser sees them: it takes time quadratic in the depth, so 10 KB of "- " would take
 * minutes. One pass over the lines; a marker that is too deep becomes a letter, and the rest of its line plain words. Nothing else changes,
 * and no position: only headings outside of all lists and quotes matter.
 */
const levelsMax = 12;
/** The smallest indentation of a nested item. */
const columnsMax = 4 * levelsMax;

const marker = /[>]|[-+*](?=[ \t\n]|$)|\d{1,9}[.)](?=[ \t\n]|$)/y;

export function flattenDeepBlocks(text: string): string {
  let out = "";
  let copied = 0;
  for (let at = 0; at < text.length;) {
    const deep = deepMarker(text, at);
    if (deep !== undefined) {
      out += `${text.slice(copied, deep)}x`;
      copied = deep + 1;
    }
    const newline = text.indexOf("\n", at);
    at = newline < 0 ? text.length : newline + 1;
  }
  return copied === 0 ? text : out + text.slice(copied);
}

/** The position of the first marker that is too deep, on the line that begins here. */
function deepMarker(text: string, start: number): number | undefined {
  let columns = 0;
  let levels = 0;
  for (let at = start; at < text.length;) {
    const char = text[at];
    if (char === " " || char === "\t") {
      columns += char === "\t" ? 4 : 1;
      at += 1;
      continue;
    }
    marker.lastIndex = at;
    const length = marker.exec(text)?.[0].length;
    if (length === undefined) return undefined;
    levels += 1;
    columns += length;
    if (levels > levelsMax || columns > columnsMax) return at;
    at += length;
  }
  return undefined;
}

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
