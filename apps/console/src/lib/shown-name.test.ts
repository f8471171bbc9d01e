import { describe, expect, it } from "vitest";
import { nameParts, shownName, typableName } from "./shown-name.ts";

const trick = "invoice\u202Egnp.exe";

describe("shown names", () => {
  it("a sign that turns the direction is told by its number, and the letters keep their order", () => {
    expect(nameParts(trick)).toEqual([
      { text: "invoice", control: false },
      { text: "U+202E", control: true },
      { text: "gnp.exe", control: false },
    ]);
    expect(shownName(trick)).toBe("invoice[U+202E]gnp.exe");
    expect(typableName(trick)).toBe("invoicegnp.exe");
  });

  it("the first and the last of each range of hidden signs are told by number, their neighbours stay as they are", () => {
    for (const sign of [
      "\u0000",
      "\u001F",
      "\u007F",
      "\u009F",
      "\u061C",
      "\u200E",
      "\u200F",
      "\u2028",
      "\u2029",
      "\u202A",
      "\u202E",
      "\u2066",
      "\u2069",
    ])
      expect(nameParts(sign), sign.codePointAt(0)?.toString(16)).toEqual([
        { text: expect.stringMatching(/^U\+[0-9A-F]{4}$/), control: true },
      ]);
    for (const sign of [" ", "~", "\u00A0", "\u200D", "\u2027", "\u202F", "\u2065", "\u206A", "é", "日", "שלום", "👩‍💻"])
      expect(shownName(sign)).toBe(sign);
  });

  it("an empty name has no parts", () => expect(nameParts("")).toEqual([]));
});
