import { expect, it } from "vitest";
import { toJsonObject } from "./to-json-object.ts";

it("dates become text and undefined is left out; the rest is as it was", () => {
  const at = new Date("2026-01-02T03:04:05.678Z");
  expect(toJsonObject({ at, gone: undefined, deep: [{ n: 1.5, t: true, z: null, s: "é" }] }, "metadata")).toEqual({
    at: "2026-01-02T03:04:05.678Z",
    deep: [{ n: 1.5, t: true, z: null, s: "é" }],
  });
});

it.each([
  ["NaN", Number.NaN],
  ["-Infinity", -Infinity],
  ["bigint", 1n],
  ["function", () => 1],
  ["symbol", Symbol("s")],
  ["undefined", [undefined]],
  ["Map", new Map()],
  ["Set", new Set()],
  ["Float32Array", new Float32Array(1)],
])("%s is refused by name, wherever it stands", (got, value) => {
  for (const object of [{ page: value }, { deep: [{ page: value }] }])
    expect(() => toJsonObject(object, "metadata")).toThrow(
      new RegExp(`metadata\\.(page|0): JSON cannot represent ${got};`),
    );
});
