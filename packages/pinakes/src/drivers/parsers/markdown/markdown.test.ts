import { describe, expect, it } from "vitest";
import { parseMarkdown } from "./markdown.ts";
import { sectionOf } from "../test-files.ts";

const source = `---
title: Not a heading
---

Before all.

# The *great* [guide](http://x)

Intro.

## Setup \`npm\`

\`\`\`
# no heading in code
\`\`\`

Steps
-----

Do it.

# Next
`;

describe("Markdown", () => {
  const parsed = parseMarkdown(source);

  it("the text is the source, and headings make paths", () => {
    expect(parsed.text).toBe(source);
    expect(sectionOf(parsed, "Before all")).toBeUndefined();
    expect(sectionOf(parsed, "Intro.")).toEqual(["The great guide"]);
    expect(sectionOf(parsed, "no heading in code")).toEqual(["The great guide", "Setup npm"]);
    expect(sectionOf(parsed, "Do it.")).toEqual(["The great guide", "Steps"]);
    expect(parsed.sections.map(({ start }) => source.slice(start).split("\n")[0])).toEqual([
      "# The *great* [guide](http://x)",
      "## Setup `npm`",
      "Steps",
      "# Next",
    ]);
  });

  it("front matter is no heading, and an unclosed one is text", () => {
    expect(parseMarkdown("+++\nx = 1\n+++\n# A").sections).toEqual([{ start: 14, path: ["A"] }]);
    expect(parseMarkdown("---\n\n# A").sections).toEqual([{ start: 5, path: ["A"] }]);
  });

  it("a long file that is parsed in pieces has the headings of the whole", () => {
    const filler = "Words and more words.\n\n- item\n\n  # in a list\n\n".repeat(300);
    const long = `# One\n\n${filler}\`\`\`\n\n# code\n${"x\n".repeat(6_000)}\n# code\n\`\`\`\n\n<!--\n\n# comment\n\n-->\n\n<pre>\n\n# raw\n</pre>\n\n${filler}Two\n===\n\n${filler}## Three\n`;
    const whole = parseMarkdown(long);
    expect(whole.sections.map(({ path }) => path)).toEqual([["One"], ["Two"], ["Two", "Three"]]);
    expect(whole.sections.map(({ start }) => long.slice(start, start + 5))).toEqual(["# One", "Two\n=", "## Th"]);
  });

  it("letters of any kind keep offsets right", () => {
    const parsedEmoji = parseMarkdown("😀😀 x\n\n# Ü 世界\n\ntext");
    expect(parsedEmoji.text.slice(parsedEmoji.sections[0]?.start)).toBe("# Ü 世界\n\ntext");
  });
});
