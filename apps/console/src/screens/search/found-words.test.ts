import { describe, expect, it } from "vitest";
import { bestPlaceOf, excerptOf } from "./excerpt.ts";
import { fitsBadly } from "./fits.ts";
import { foundIn, partsOf, wordsOf } from "./found-words.ts";

describe("words of a question", () => {
  it("are those that tell something, each once, and at most 24", () => {
    expect(wordsOf("How do I restart the workers, and the WORKERS?")).toEqual(["restart", "workers"]);
    expect(wordsOf("the and of")).toEqual([]);
    const many = (count: number) =>
      wordsOf(Array.from({ length: count }, (_, index) => `word${index}`).join(" ")).length;
    expect([many(24), many(25)]).toEqual([24, 24]);
  });

  it("keep a name with a digit whole, cut other joined words, and leave single letters out", () => {
    expect(wordsOf("price of part P-117, in 5.2 (x) e-mail drain-then-restart 7")).toEqual([
      "price",
      "part",
      "p-117",
      "5.2",
      "mail",
      "drain",
      "restart",
      "7",
    ]);
    expect(wordsOf("(.*)+ [a-z] \\w")).toEqual([]);
    expect(wordsOf("漢")).toEqual(["漢"]);
  });

  it("are found with other endings and in any case, as whole words, and no character is lost", () => {
    const text = "Restarting a worker: homeworkers rest. <b>worked</b>";
    const parts = partsOf(text, wordsOf("restarted workers"));
    expect(parts.map((part) => part.text).join("")).toBe(text);
    expect(parts.filter(({ found }) => found).map((part) => part.text)).toEqual(["Restarting", "worker"]);
    expect(foundIn("Engines and the ENGINE were designed.", wordsOf("who designs the engine?"))).toEqual([
      "Engines",
      "designed",
    ]);
  });

  it("P-117 is marked as one, where P-115, P.117x and 117 are not", () => {
    expect(
      foundIn("part,price\nP-115,bearing\nP-117-A,nut\nP.117x 117 XP-117", wordsOf("price of part P-117")),
    ).toEqual(["part", "price", "P-117"]);
  });

  it("leave the text as it is, whatever it holds", () => {
    const text = "<script>alert('über')</script> über\n\n 漢字 ";
    for (const question of ["über", "script", "", "漢字", "([", "a.b-c_1"])
      expect(
        partsOf(text, wordsOf(question))
          .map((part) => part.text)
          .join(""),
      ).toBe(text);
  });
});

describe("an excerpt", () => {
  it("is around most of the words, and short texts stay whole", () => {
    expect(excerptOf("short", ["short"], 5)).toBe("short");
    const text = `${"filler words here ".repeat(50)}drain the workers then restart workers ${"more filler here ".repeat(50)}`;
    const excerpt = excerptOf(text, ["drain", "restart", "workers"], 120);
    expect(excerpt).toContain("drain the workers then restart workers");
    expect(excerpt.length).toBeLessThanOrEqual(124);
    expect(excerpt.startsWith("… ")).toBe(true);
    expect(excerpt.endsWith(" filler …") || excerpt.endsWith(" here …") || excerpt.endsWith(" more …")).toBe(true);
  });

  it("holds the row that was asked for, although the head of the table holds more words, and every row some", () => {
    const rows = Array.from({ length: 40 }, (_, index) => `P-${100 + index},spare part of steel,${index}.50`);
    const excerpt = excerptOf(["part,kind,price", ...rows].join("\n"), wordsOf("price of part P-137"), 420);
    expect(excerpt).toContain("P-137,spare part of steel,37.50");
  });

  it("begins at the beginning when it holds none of the words, and is cut where there is no space", () => {
    expect(excerptOf("one two three four", ["five"], 12)).toBe("one two …");
    expect(excerptOf("x".repeat(30), [], 10)).toBe(`${"x".repeat(10)} …`);
    expect(bestPlaceOf("one two", ["five"], 10)).toBeUndefined();
  });
});

describe("an answer that is none", () => {
  const hit = (vector: number | undefined, text = "Fine words about Lisbon.", more: object = {}) => ({
    text,
    scores: { ...(vector === undefined ? {} : { vector }), ...more },
    citation: { filename: "a.txt" } as never,
  });

  it("holds no word of the question and is near to it in nothing", () => {
    expect(fitsBadly("zxqv", [hit(0.299), hit(0.2)])).toBe(true);
    expect(fitsBadly("zxqv", [hit(0.3), hit(0.2)])).toBe(false);
    expect(fitsBadly("Is Lisbon nice?", [hit(0.1)])).toBe(false);
    expect(fitsBadly("zxqv", [hit(0.1, "b", { keyword: 2 })])).toBe(false);
    expect(fitsBadly("zxqv", [hit(undefined, "b", { keyword: 2 })])).toBe(false);
    expect(fitsBadly("zxqv", [])).toBe(false);
    // Hits after the best three do not count.
    expect(fitsBadly("zxqv", [hit(0.1), hit(0.1), hit(0.1), hit(0.1, "zxqv")])).toBe(true);
  });
});
