import { expect, it } from "vitest";
import { fileBytesMax, isSharedType, sizeProblem } from "./upload-limits.ts";

it("takes a file of 50 MB and refuses one byte more, and says both sizes", () => {
  expect(sizeProblem({ size: fileBytesMax })).toBeUndefined();
  expect(sizeProblem({ size: fileBytesMax + 1 })).toBe(
    "The file has 50.1 MB; files of up to 50 MB are taken. It was not sent.",
  );
  expect(sizeProblem({ size: 51 * 1_048_576 })).toContain("51.0 MB");
});

it("knows by its name what only shared collections take", () => {
  expect(["conf.yaml", "a.b.HTML", "x.json"].every(isSharedType)).toBe(true);
  expect(["a.txt", "a.exe", "yaml", "a.yaml.pdf", ""].some(isSharedType)).toBe(false);
});
