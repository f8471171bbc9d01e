import { describe, expect, it } from "vitest";
import { excerptOf, partsOf, wordsOf } from "./words.ts";

describe("words of a question", () => {
  it("are those that tell something, each once", () => {
    expect(wordsOf("How do I restart the workers, and the WORKERS?")).toEqual(["restart", "workers"]);
    expect(wordsOf("the and of")).toEqual([]);
  });

  it("are found with other endings and in any case, as whole words, and no character is lost", () => {
    const text = "Restarting a worker: homeworkers rest. <b>worked</b>";
    const parts = partsOf(text, ["restarted", "workers"]);
    expect(parts.map((part) => part.text).join("")).toBe(text);
    expect(parts.filter(({ found }) => found).map((part) => part.text)).toEqual(["Restarting", "worker"]);
  });

  it("are no pattern, whatever was typed", () => {
    expect(wordsOf("(.*)+ [a-z] \\w")).toEqual(["z", "w"]);
    expect(partsOf("aaa", wordsOf("((((("))).toEqual([{ text: "aaa", found: false }]);
  });

  it("an excerpt is around most of them, and short texts stay whole", () => {
    expect(excerptOf("short", ["short"], 100)).toBe("short");
    const text = `${"filler words here ".repeat(50)}drain the workers then restart workers ${"more filler here ".repeat(50)}`;
    const excerpt = excerptOf(text, ["drain", "restart", "workers"], 120);
    expect(excerpt).toContain("drain the workers then restart workers");
    expect(excerpt.length).toBeLessThanOrEqual(124);
    expect(excerpt.startsWith("… ")).toBe(true);
    expect(excerpt.endsWith(" filler …") || excerpt.endsWith(" here …") || excerpt.endsWith(" more …")).toBe(true);
  });
});
