import { describe, expect, it } from "vitest";
import { sectionOf } from "../test-files.ts";
import { parseXml } from "./xml.ts";

describe("XML", () => {
  it("gives the text with the path of elements", () => {
    const parsed = parseXml(`<?xml version="1.0"?>
      <library><book id="1"><title>Emma &amp; I</title><p>A <i>very</i> good
      book.</p><![CDATA[ <raw> ]]></book><!-- no --></library>`);
    expect(parsed.text).toBe("Emma & I\nA very good book.\n<raw>");
    expect(sectionOf(parsed, "Emma")).toEqual(["library", "book", "title"]);
    expect(sectionOf(parsed, "very")).toEqual(["library", "book", "p"]);
    expect(sectionOf(parsed, "<raw>")).toEqual(["library", "book"]);
  });

  it("a billion laughs attack stays three letters", () => {
    const levels = Array.from({ length: 9 }, (_, i) => `<!ENTITY lol${i + 1} "${`&lol${i};`.repeat(10)}">`).join("\n");
    const parsed = parseXml(
      `<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol0 "lol">${levels}]><lolz>ha &lol9;</lolz>`,
    );
    expect(parsed.text).toBe("ha &lol9;");
    expect(parsed.warnings).toEqual([expect.stringContaining("1 references to entities")]);
  });

  it("a file on this machine is never read", () => {
    const parsed = parseXml('<!DOCTYPE x [<!ENTITY file SYSTEM "file:///etc/passwd">]><x>[&file;]</x>');
    expect(parsed.text).toBe("[&file;]");
  });

  it.each([
    ["<a>\n<b></a>", "line 2"],
    ["<a>\n\n&nope;</a>", "line 3"],
    ["<a>", "unclosed tag"],
    ["plain", "line 1"],
  ])("%j is rejected with its line", (source, detail) => {
    expect(() => parseXml(source)).toThrow(
      expect.objectContaining({ code: "INVALID", message: expect.stringContaining(detail) }),
    );
  });

  it("100,000 levels work", () => {
    const parsed = parseXml(`${"<a>".repeat(100_000)}deep${"</a>".repeat(100_000)}`);
    expect(parsed.text).toBe("deep");
    expect(parsed.sections).toEqual([{ start: 0, path: Array.from({ length: 8 }, () => "a") }]);
  });
});
