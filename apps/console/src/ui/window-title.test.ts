import { describe, expect, it } from "vitest";
import { windowTitle } from "./window-title.ts";

describe("the title of the window", () => {
  it("has the name of the page first, then the product; hidden signs are shown", () => {
    expect(windowTitle("Workflows")).toBe("Workflows · Pinakes");
    expect(windowTitle("a\u202Egnp.exe")).toBe("a[U+202E]gnp.exe · Pinakes");
    expect(windowTitle("")).toBe("Pinakes");
  });

  it("eighty signs are shown as they are, one more is cut, and no sign in the middle", () => {
    expect(windowTitle("😀".repeat(80))).toBe(`${"😀".repeat(80)} · Pinakes`);
    expect(windowTitle("😀".repeat(81))).toBe(`${"😀".repeat(79)}… · Pinakes`);
  });
});
