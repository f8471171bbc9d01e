import { expect, it } from "vitest";
import { fileBytesMax, isSharedType, sizeProblem } from "./upload-limits.ts";

it("takes a file of 50 MB and refuses one byte more, and says both sizes", () => {
  expect(sizeProblem({ size: fileBytesMax })).toBeUndefined();
  expect(sizeProblem({ size: fileBytesMax + 1 })).toBe("The file is 50.1 MB; the limit is 50 MB. It was not uploaded.");
  expect(sizeProblem({ size: 51 * 1_048_576 })).toContain("51.0 MB");
});

it("knows by its name what only shared collections take", () => {
  expect(["conf.yaml", "a.b.HTML", "x.json"].every(isSharedType)).toBe(true);
  expect(["a.txt", "a.exe", "yaml", "a.yaml.pdf", ""].some(isSharedType)).toBe(false);
});
