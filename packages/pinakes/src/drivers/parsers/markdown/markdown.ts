/**
 * Markdown: the text is the source itself; sections come from its headings. Front matter is text, but no heading.
 *
 * Only blocks are parsed: inline content of a paragraph cannot make a heading, and skipping it saves most of the time.
 */
import { fromMarkdown } from "mdast-util-from-markdown";
import type { ParsedText } from "../../../ports/parser.ts";
import { parserLimits } from "../limits.ts";
import { flattenDeepBlocks } from "./markdown-nesting.ts";
import { markdownSegments } from "./markdown-segments.ts";
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
