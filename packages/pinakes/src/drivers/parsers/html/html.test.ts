import { describe, expect, it } from "vitest";
import { parseHtml } from "./html.ts";
import { sectionOf } from "../test-files.ts";

describe("HTML", () => {
  const parsed =
    parseHtml(`<!DOCTYPE html><html><head><title>Page &amp; title</title><style>p{color:red}</style></head><body>
    <script>var secret = 1;</script><template><p>template</p></template><p hidden>hidden one</p><div style="color:red; display: none">hidden two</div>
    <h1>Fish &amp;
      chips</h1><p>First   <b>bold</b>
      paragraph.<br>New line.</p>
    <h2>Prices</h2><table><tr><th>Dish</th><th><p>Price</p></th></tr><tr><td>Cod</td><td>&euro;5&nbsp;</td></tr></table>
    <ul><li>one</li><li>two<ul><li>deep</li></ul></li></ul><pre>a
  b</pre></body></html>`);

  it("returns the visible text, block by block", () => {
    expect(parsed.text).toBe(
      "Fish & chips\n\nFirst bold paragraph.\nNew line.\n\nPrices\n\nDish | Price\nCod | €5\n\n- one\n- two\n  - deep\n\na\n  b",
    );
  });

  it("headings are sections", () => {
    expect(sectionOf(parsed, "First")).toEqual(["Fish & chips"]);
    expect(sectionOf(parsed, "Cod")).toEqual(["Fish & chips", "Prices"]);
    expect(parsed.text.slice(parsed.sections[1]?.start)).toMatch(/^Prices\n/);
  });

  it("the title replaces a missing first heading", () => {
    const untitled = parseHtml("<title>My page</title><p>Hello</p><h2>Sub</h2><p>World</p>");
    expect(untitled.text).toBe("Hello\n\nSub\n\nWorld");
    expect(sectionOf(untitled, "Hello")).toEqual(["My page"]);
    expect(sectionOf(untitled, "World")).toEqual(["My page", "Sub"]);
  });

  it("a heading that is never closed ends at the next", () => {
    expect(sectionOf(parseHtml("<h1>One<h2>Two</h2>text"), "text")).toEqual(["One", "Two"]);
  });

  it("5,000 levels are read, and one more is rejected", () => {
    expect(parseHtml(`${"<div><b>".repeat(2_500)}deep`).text).toBe("deep");
    expect(() => parseHtml(`${"<div><b>".repeat(2_500)}<i>deep`)).toThrow(expect.objectContaining({ code: "INVALID" }));
  });
});
