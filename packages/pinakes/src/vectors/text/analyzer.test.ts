import { describe, expect, it } from "vitest";
import { analyzerFor, languages } from "./analyzer.ts";

const english = analyzerFor("english");
const plain = analyzerFor("none");

describe("analyzer", () => {
  it("splits at everything but letters, digits and marks, in lower case", () => {
    expect(plain.tokens("Hello, WORLD! 42 foo/bar (x)")).toEqual(["hello", "world", "42", "foo", "bar", "x"]);
    expect(plain.tokens("")).toEqual([]);
    expect(plain.tokens("… — !")).toEqual([]);
  });

  it("stems English and drops its stop words", () => {
    expect(english.tokens("The connections of the connected")).toEqual(["connect", "connect"]);
    expect(english.words("The connections of the connected")).toEqual(["the", "connect", "of", "the", "connect"]);
  });

  it("emits compounds as parts and as a whole, so that every spelling finds the others", () => {
    expect(plain.tokens("COVID-19 vaccine")).toEqual(["covid", "19", "covid19", "vaccine"]);
    expect(plain.tokens("covid\u201119")).toEqual(["covid", "19", "covid19"]);
    expect(plain.tokens("a-b-c x- -y")).toEqual(["a", "b", "c", "abc", "x", "y"]);
    expect(plain.tokens("snake_case")).toEqual(["snake", "case", "snakecase"]);
    expect(plain.words("COVID-19 vaccine")).toEqual(["covid", "19", "vaccine"]);
  });

  it("drops English tails after an apostrophe and separates at others", () => {
    expect(english.tokens("John's dog, the dogs’ bone, we'll see O'Brien")).toEqual([
      "john",
      "dog",
      "dog",
      "bone",
      "see",
      "o",
      "brien",
    ]);
    expect(analyzerFor("french").tokens("l'avion")).toEqual(["avion"]);
    expect(plain.tokens("john's")).toEqual(["john", "s"]);
  });

  it("normalises: full width, ligatures, composed and decomposed letters", () => {
    expect(plain.tokens("Ｆｕｌｌ ﬁne cafe\u0301")).toEqual(["full", "fine", "café"]);
    expect(english.tokens("naïve Café")).toEqual(english.tokens("naive cafe"));
    expect(analyzerFor("german").tokens("schön")).not.toEqual(analyzerFor("german").tokens("schon"));
  });

  it("emits pairs of characters for scripts without spaces", () => {
    expect(english.tokens("東京都")).toEqual(["東京", "京都"]);
    expect(english.tokens("猫")).toEqual(["猫"]);
    expect(plain.tokens("iPhone用ケース")).toEqual(["iphone", "用ケ", "ケー", "ース"]);
    expect(plain.tokens("ภาษา")).toEqual(["ภา", "าษ", "ษา"]);
    expect(plain.tokens("\u{20000}\u{20001}x")).toEqual(["\u{20000}\u{20001}", "x"]);
  });

  it("keeps words with combining marks whole and makes none of marks alone", () => {
    expect(plain.tokens("हिन्दी भाषा")).toEqual(["हिन्दी", "भाषा"]);
    expect(plain.tokens("❤\ufe0f ok 👍🏽")).toEqual(["ok"]);
    expect(plain.tokens("\ud800 lone \udc00")).toEqual(["lone"]);
  });

  it("truncates words after 64 characters, never within a surrogate pair", () => {
    expect(plain.tokens("x".repeat(64))).toEqual(["x".repeat(64)]);
    expect(plain.tokens("x".repeat(65))).toEqual(["x".repeat(64)]);
    expect(plain.tokens(`${"x".repeat(63)}\u{10400}`)).toEqual(["x".repeat(63)]);
  });

  it("supports every language it names, and rejects others", () => {
    for (const language of languages) expect(analyzerFor(language).tokens("Wikipedia").length).toBe(1);
    expect(() => analyzerFor("klingon")).toThrow(/Unknown language "klingon"; use one of none, /);
    expect(analyzerFor("russian").tokens("книги и книга")).toEqual(["книг", "книг"]);
  });

  it("emits the same terms after its cache was cleared", () => {
    const before = english.tokens("running quickly");
    for (let i = 0; i < 100_001; i += 1) english.tokens(`filler${i}`);
    expect(english.tokens("running quickly")).toEqual(before);
  });
});
