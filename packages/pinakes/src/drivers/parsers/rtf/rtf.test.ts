import { describe, expect, it } from "vitest";
import { parseRtf } from "./rtf.ts";
import { sectionOf } from "../test-files.ts";

const rtf = (text: string) => parseRtf(new Uint8Array(Buffer.from(text, "latin1")));

describe("RTF", () => {
  it("keeps the text and leaves out fonts, colours, pictures and hidden parts", () => {
    const parsed = rtf(
      String.raw`{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0 Arial;}}{\colortbl;\red0;}{\*\generator Word;}{\info{\author Me}}
{\pict\pngblip 89504e47}\pard\outlinelevel0 Chapter \'dcber\par
\pard Plain {\b bold} \u8364?5 \u-10179?\u-8704? {\v secret}{\deleted gone}\line next\tab line \{x\} a\~b\par
{\field{\*\fldinst HYPERLINK "http://x"}{\fldrslt link}}\par\par\par\par\par
one\cell two\cell\row end}`,
    );
    expect(parsed.text).toBe("Chapter Über\nPlain bold €5 😀\nnext\tline {x} a\u00a0b\nlink\n\n\none | two\nend");
    expect(sectionOf(parsed, "Plain")).toEqual(["Chapter Über"]);
    expect(parsed.sections).toHaveLength(1);
  });

  it("\\uc says how many characters replace one", () => {
    expect(rtf(String.raw`{\rtf1\uc2 \u233 ab{\uc0 \u232 c}\u233\'65\'65d}`).text).toBe("éècéd");
  });

  it("other code pages are read, including double-byte ones", () => {
    expect(rtf(String.raw`{\rtf1\ansi\ansicpg1251 \'cf\'f0\'e8}`).text).toBe("При");
    expect(rtf(String.raw`{\rtf1\ansi\ansicpg932 \'93\'fa\'96\'7b}`).text).toBe("日本");
  });

  it("binary data is skipped by its length", () => {
    expect(rtf("{\\rtf1 a{\\pict\\bin5 }}{\\}}b}").text).toBe("ab");
  });

  it("100,000 groups work, and a missing end is reported", () => {
    const parsed = rtf(`{\\rtf1 ${"{".repeat(100_000)}deep`);
    expect(parsed.text).toBe("deep");
    expect(parsed.warnings).toEqual([expect.stringContaining("end may be missing")]);
  });
});
