import { describe, expect, it } from "vitest";
import { parseCsv } from "./csv.ts";
import { rowOf } from "../test-files.ts";

describe("CSV", () => {
  it.each([",", ";", "\t", "|"])("rows start at the right offsets, with %j between fields", (separator) => {
    const text = [
      `name${separator}note`,
      `Ann${separator}"two\nlines ""x"""`,
      "",
      `Bö😀b${separator}plain`,
      `Cy${separator}last`,
    ].join("\n");
    const parsed = parseCsv(text);
    expect(parsed.text).toBe(text);
    expect(parsed.rows.map(({ start, row }) => [row, text.slice(start, start + 2)])).toEqual([
      [1, "An"],
      [2, "Bö"],
      [3, "Cy"],
    ]);
    expect(rowOf(parsed, "name")).toBeUndefined();
    expect(rowOf(parsed, "lines")).toBe(1);
    expect(rowOf(parsed, "plain")).toBe(2);
    expect(parsed.warnings).toEqual([]);
  });

  it("a separator inside quotes does not count", () => {
    expect(parseCsv('a;b\n"1,2,3,4";x\n"5,6,7,8";y').warnings).toEqual([]);
  });

  it("ragged rows are a warning", () => {
    expect(parseCsv("a,b\n1,2\n3\n4,5,6\n").warnings).toEqual([
      "2 rows have more or fewer fields than the header (first: row 2).",
    ]);
  });

  it("an unclosed quote does not swallow the table", () => {
    const parsed = parseCsv('a,b\n1,"open\n2,x\n');
    expect(parsed.rows.map(({ row }) => row)).toEqual([1, 2]);
    expect(parsed.warnings[0]).toContain("never closed");
  });

  it("a header alone has no rows", () => {
    expect(parseCsv("a,b").rows).toEqual([]);
  });

  it("as many rows as the limit, and not one more", () => {
    expect(parseCsv("a\n1\n2\n", { rowsMax: 2 }).rows).toHaveLength(2);
    expect(() => parseCsv("a\n1\n2\n3", { rowsMax: 2 })).toThrow("more than 2 rows");
  });
});
