import { describe, expect, it } from "vitest";
import { ProgressBar } from "./progress-bar.ts";

function barAt(): { bar: ProgressBar; lines: string[]; pass: (ms: number) => void } {
  let now = 0;
  const lines: string[] = [];
  return {
    bar: new ProgressBar(
      (text) => lines.push(text),
      () => now,
    ),
    lines,
    pass: (ms) => (now += ms),
  };
}

describe("the progress bar", () => {
  it("shows how much is done, how fast, and how long it will still take", () => {
    const { bar, lines, pass } = barAt();
    bar.show("documents", 0, 100);
    pass(10_000);
    bar.show("documents", 20, 100);
    expect(lines).toEqual([
      `\rdocuments  ${"░".repeat(24)}  0/100`,
      `\rdocuments  ${"█".repeat(5)}${"░".repeat(19)}  20/100  2.0/s  40 s left`.padEnd(40),
    ]);
    pass(10_000);
    bar.show("documents", 30, 1_000);
    expect(lines.at(-1)).toContain("30/1000  1.0/s  16 min 10 s left");
  });

  it("does not draw more often than eyes can follow, except for the end", () => {
    const { bar, lines, pass } = barAt();
    bar.show("queries", 0, 3);
    pass(10);
    bar.show("queries", 1, 3);
    bar.show("queries", 2, 3);
    expect(lines).toHaveLength(1);
    bar.show("queries", 3, 3);
    expect(lines.at(-1)).toContain("3/3");
  });

  it("what was done before it began says nothing about the speed", () => {
    const { bar, lines, pass } = barAt();
    bar.show("documents", 900, 1_000);
    expect(lines.at(-1)).not.toContain("/s");
    pass(1_000);
    bar.show("documents", 910, 1_000);
    expect(lines.at(-1)).toContain("10/s  9 s left");
  });

  it("wipes what a longer line left, and leaves the line empty", () => {
    const { bar, lines } = barAt();
    bar.show("a longer label", 1, 2);
    const chars = (lines[0] as string).length - 1;
    bar.show("short", 1, 2);
    expect(lines[1]).toHaveLength(chars + 1);
    bar.end();
    expect(lines[2]).toMatch(/^\r +\r$/);
    bar.end();
    expect(lines).toHaveLength(3);
  });
});
