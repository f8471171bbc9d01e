import { describe, expect, it } from "vitest";
import { decodeText } from "./decode-text.ts";
import { encode } from "./test-files.ts";

const utf16 = (text: string, bigEndian = false): Uint8Array => {
  const bytes = Buffer.from(text, "utf16le");
  return new Uint8Array(bigEndian ? bytes.swap16() : bytes);
};

describe("decoding text", () => {
  it.each([
    ["UTF-8", encode("Grüße, 世界 😀")],
    ["UTF-8 with a mark", encode("\ufeffGrüße, 世界 😀")],
    ["UTF-16 LE with a mark", utf16("\ufeffGrüße, 世界 😀")],
    ["UTF-16 BE with a mark", utf16("\ufeffGrüße, 世界 😀", true)],
  ])("%s", (_, bytes) => expect(decodeText(bytes)).toEqual({ text: "Grüße, 世界 😀", warnings: [] }));

  it.each([false, true])("UTF-16 without a mark, by its zeros (big endian: %s)", (bigEndian) => {
    expect(decodeText(utf16("A plain sentence, größer.", bigEndian)).text).toBe("A plain sentence, größer.");
  });

  it("windows-1252 is the last resort, and reported", () => {
    const { text, warnings } = decodeText(Uint8Array.of(0x47, 0x72, 0xfc, 0xdf, 0x65, 0x20, 0x80, 0x35));
    expect(text).toBe("Grüße €5");
    expect(warnings).toEqual([expect.stringContaining("windows-1252")]);
  });

  it("one broken byte does not affect the rest of a UTF-8 file", () => {
    const { text, warnings } = decodeText(
      Buffer.concat([encode("Grüße aus Köln "), Uint8Array.of(0xff), encode(" und Zürich")]),
    );
    expect(text).toBe("Grüße aus Köln \ufffd und Zürich");
    expect(warnings).toEqual([expect.stringContaining("1 character is not valid UTF-8")]);
  });

  it("a declared encoding of a page is used", () => {
    const page = Buffer.from('<meta charset="iso-8859-2"><p>\xb1\xea</p>', "latin1");
    expect(decodeText(page)).toEqual({ text: '<meta charset="iso-8859-2"><p>ąę</p>', warnings: [] });
  });

  it("line ends become \\n, and NUL is removed", () => {
    expect(decodeText(encode("a\r\nb\rc\nd\0e")).text).toBe("a\nb\nc\nde");
  });

  it("UTF-32 is rejected by name", () => {
    expect(() => decodeText(Uint8Array.of(0xff, 0xfe, 0, 0, 0x61, 0, 0, 0))).toThrow("UTF-32");
  });

  it("the limit of characters applies at it and one past it", () => {
    expect(decodeText(encode("12345"), 5).text).toBe("12345");
    expect(() => decodeText(encode("123456"), 5)).toThrow("more than 5 characters");
  });
});
