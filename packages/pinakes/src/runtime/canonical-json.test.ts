import { expect, it } from "vitest";
import { canonicalJson, canonicalPairs } from "./canonical-json.ts";

it("one text for equal values, whatever the order of their keys", () => {
  const [a, b] = [
    { b: [1, { y: null, x: "é" }], a: true, 10: 1 },
    { 10: 1, a: true, b: [1, { x: "é", y: null }] },
  ];
  expect(canonicalJson(a)).toBe('{"10":1,"a":true,"b":[1,{"x":"é","y":null}]}');
  expect(canonicalJson(b)).toBe(canonicalJson(a));
  expect(canonicalPairs(b)).toEqual([
    ["10", 1],
    ["a", true],
    [
      "b",
      [
        1,
        [
          ["x", "é"],
          ["y", null],
        ],
      ],
    ],
  ]);
  expect(canonicalPairs(a)).toEqual(canonicalPairs(b));
  expect([canonicalPairs(undefined), canonicalPairs(null)]).toEqual([null, null]);
});
