import { describe, expect, it } from "vitest";
import { parserLimits } from "./limits.ts";
import { Sections, headingText } from "./sections.ts";
import { TextBuilder } from "./text-builder.ts";

describe("TextBuilder", () => {
  it("keeps at most two blank lines and no spaces at the end of a line, and marks stay right", () => {
    const out = new TextBuilder();
    const marks: number[] = [];
    out.newline();
    out.write("one  \n\n\n\n\n");
    out.mark((start) => marks.push(start));
    out.flow("  two \n words ");
    out.newline();
    out.write("  three ");
    expect(out.finish()).toBe("one\n\n\ntwo words\n  three");
    expect(marks).toEqual([6]);
  });

  it("accepts as many characters as the limit and not one more", () => {
    const out = new TextBuilder(5);
    out.write("12345 \n");
    expect(out.finish()).toBe("12345");
    expect(() => out.write("6")).toThrow("more than 5 characters");
  });
});

describe("Sections", () => {
  it("a heading ends those of its level and below", () => {
    const sections = new Sections();
    for (const [start, level, title] of [
      [0, 1, "A"],
      [5, 3, "B"],
      [9, 2, " C\n c "],
      [12, 1, "D"],
    ] as const)
      sections.heading(start, level, title);
    expect(sections.finish([])).toEqual([
      { start: 0, path: ["A"] },
      { start: 5, path: ["A", "B"] },
      { start: 9, path: ["A", "C c"] },
      { start: 12, path: ["D"] },
    ]);
  });

  it("at the limit all are kept; one past it, the rest of the text has none and a warning says so", () => {
    const atLimit = new Sections(2);
    for (const start of [0, 3]) atLimit.add(start, [`at ${start}`]);
    const warnings: string[] = [];
    expect(atLimit.finish(warnings)).toHaveLength(2);
    expect(warnings).toEqual([]);
    for (const start of [6, 9]) atLimit.add(start, [`at ${start}`]);
    expect(atLimit.finish(warnings)).toEqual([
      { start: 0, path: ["at 0"] },
      { start: 3, path: ["at 3"] },
      { start: 6, path: [] },
    ]);
    expect(warnings).toEqual([expect.stringContaining("more than 2 headings")]);
  });

  it("a long heading is truncated at the limit", () => {
    const longest = "x".repeat(parserLimits.headingCharsMax);
    expect(headingText(longest)).toBe(longest);
    expect(headingText(`${longest}x`)).toBe(`${longest.slice(1)}…`);
  });
});
