import { describe, expect, it } from "vitest";
import { piecesOf } from "./text-marks.ts";

describe("piecesOf", () => {
  const chunks = [
    { index: 0, start: 0, end: 6 },
    { index: 1, start: 4, end: 10 },
  ];

  it("cuts where chunks begin and end, and loses no character", () => {
    const pieces = piecesOf("0123456789ab", 0, chunks, undefined);
    expect(pieces.map(({ text, chunks: count, odd }) => [text, count, odd])).toEqual([
      ["0123", 1, false],
      ["45", 2, false],
      ["6789", 1, true],
      ["ab", 0, false],
    ]);
  });

  it("counts places in the whole text when it is given a part of it", () => {
    const pieces = piecesOf("56789", 5, chunks, { start: 7, end: 9 });
    expect(pieces.map(({ text, chosen }) => [text, chosen])).toEqual([
      ["5", false],
      ["6", false],
      ["78", true],
      ["9", false],
    ]);
  });

  it("marks the part of a chosen place that is here, and nothing when it is elsewhere or empty", () => {
    expect(piecesOf("abc", 0, [], { start: 2, end: 99 }).map(({ text, chosen }) => [text, chosen])).toEqual([
      ["ab", false],
      ["c", true],
    ]);
    expect(piecesOf("abc", 0, [], { start: 50, end: 99 }).some(({ chosen }) => chosen)).toBe(false);
    expect(piecesOf("abc", 0, [], { start: 1, end: 1 }).some(({ chosen }) => chosen)).toBe(false);
    expect(piecesOf("", 0, chunks, undefined)).toEqual([]);
  });
});
