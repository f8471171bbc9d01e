import { describe, expect, it } from "vitest";
import { emphasised, snippet } from "./emphasis.ts";
import { count, fields, grid, inBytes, inMs, wrapped } from "./layout.ts";
import { suggest } from "./suggest.ts";
import { columnsOf, cutToColumns, printable } from "./terminal.ts";

const plain = { columns: undefined, color: false };

describe("tables of the command line", () => {
  const rows = [
    { id: "0123456789", name: "a name that is rather long", size: 7, when: "2030-01-01", note: "" },
    { id: "9876543210", name: "short", size: 1234, when: "2030-01-02", note: "" },
  ];

  it("are aligned, numbers to the right, without empty columns", () => {
    expect(grid(plain, rows).split("\n")).toEqual([
      "id          name                        size  when",
      "0123456789  a name that is rather long     7  2030-01-01",
      "9876543210  short                       1234  2030-01-02",
    ]);
  });

  it("fit the terminal: the widest is cut, what must be whole is not, and what is optional goes when that is not enough", () => {
    const options = { whole: ["id", "when"], optional: ["when"] };
    expect(grid({ ...plain, columns: 42 }, rows, options).split("\n")[1]).toBe(
      "0123456789  a name that…     7  2030-01-01",
    );
    expect(grid({ ...plain, columns: 40 }, rows, options).split("\n")[1]).toBe(
      "0123456789  a name th…     7  2030-01-01",
    );
    expect(grid({ ...plain, columns: 39 }, rows, options).split("\n")[1]).toBe(
      "0123456789  a name that is rathe…     7",
    );
    for (const columns of [30, 41, 44, 60]) {
      const widths = grid({ ...plain, columns }, rows, options)
        .split("\n")
        .map(columnsOf);
      expect(Math.max(...widths)).toBeLessThanOrEqual(columns);
    }
  });

  it("keep the commands of others out of the terminal", () => {
    expect(printable("a\u001B[31mred\u0007\u202Ebackwards\nnext")).toBe("a [31mred  backwards\nnext");
    expect(grid(plain, [{ name: "evil\u001B]0;title\u0007\nname" }])).toBe("name\nevil ]0;title name");
    expect(fields(plain, { name: "a\u001B[2Jb", none: undefined, empty: "" })).toBe("name  a [2Jb");
  });

  it("count the columns of wide signs and of marks", () => {
    expect(columnsOf("日本")).toBe(4);
    expect(columnsOf("e\u0301")).toBe(1);
    expect(cutToColumns("日本語", 5)).toBe("日本…");
    expect(cutToColumns("日本語", 6)).toBe("日本語");
  });
});

describe("text of the command line", () => {
  it("is wrapped between words", () => {
    expect(wrapped("one two three  four", 9)).toEqual(["one two", "three", "four"]);
    expect(wrapped("incomprehensibilities are long", 9)).toEqual(["incomprehensibilities", "are long"]);
    expect(wrapped("  ", 9)).toEqual([]);
  });

  it("shows the part of a passage that has the words of the question, and emphasises them on a terminal", () => {
    const text =
      `${"filler words ".repeat(40)}here numbers are computed by machines ${"and more filler ".repeat(40)}`.trim();
    const part = snippet(text, "How are numbers computed?", 100);
    expect(part).toContain("numbers are computed");
    expect(part.length).toBeLessThanOrEqual(104);
    expect(part.startsWith("… ") && part.endsWith(" …")).toBe(true);
    expect(snippet("short", "numbers", 100)).toBe("short");
    expect(emphasised({ color: true }, "Computing is computable; compost is not.", "how to compute")).toBe(
      "\u001B[33mComputing\u001B[39m is \u001B[33mcomputable\u001B[39m; compost is not.",
    );
    expect(emphasised({ color: false }, "Computing", "compute")).toBe("Computing");
  });

  it("has numbers in words", () => {
    expect([0, 999, 1_000, 12_345_678, 999_999].map(inBytes)).toEqual(["0 B", "999 B", "1.0 kB", "12.3 MB", "1.0 MB"]);
    expect([1.25, 10, 9_999, 12_000].map(inMs)).toEqual(["1.3 ms", "10 ms", "9999 ms", "12.0 s"]);
    expect([count(1, "file"), count(2_000, "file")]).toEqual(["1 file", "2,000 files"]);
  });

  it("guesses what was meant, and does not guess what was not", () => {
    expect(suggest("serach", ["search", "start"])).toBe("search");
    expect(suggest("doc", ["documents", "jobs"])).toBe("documents");
    expect(suggest("xyz", ["search", "start"])).toBeUndefined();
  });
});
