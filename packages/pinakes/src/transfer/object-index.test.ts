import { describe, expect, it } from "vitest";
import { ObjectIndex } from "./object-index.ts";
import { filesReader } from "./test-transfer.ts";

const index = (...paths: string[]) =>
  ObjectIndex.read(filesReader(Object.fromEntries(paths.map((path) => [path, ""]))));

describe("the objects of an import", () => {
  it("are found with their bucket, and without it if only one bucket has the key", async () => {
    const found = await index("tables/T.jsonl", "one/u/c/a.md", "two/u/c/a.md", "one/u/c/b.md", "u/c/d.md");
    expect(found.tables).toEqual(["tables/T.jsonl"]);
    expect(found.byPath("two/u/c/a.md")).toBe("two/u/c/a.md");
    expect(found.byKey("u/c/a.md")).toBeUndefined();
    expect(found.byKey("u/c/b.md")).toBe("one/u/c/b.md");
    expect(found.byKey("u/c/x.md", "u/c/d.md")).toBe("u/c/d.md");
    expect(found.byKey("../u/c/b.md")).toBeUndefined();
    expect(found.byPath("tables/T.jsonl")).toBeUndefined();
  });

  it("unreferenced ones are named, sidecars only if their object is missing", async () => {
    const found = await index(
      "b/a.md",
      "b/a.md.metadata.json",
      "b/c.md",
      "b/c.md.metadata.json",
      "b/e.md.metadata.json",
    );
    expect(found.byKey("a.md")).toBe("b/a.md");
    expect(found.sidecarOf("b/a.md")).toBe("b/a.md.metadata.json");
    expect(found.sidecarOf("b/none.md")).toBeUndefined();
    expect([...found.unused()]).toEqual(["b/c.md", "b/e.md.metadata.json"]);
  });

  it("are accepted up to the limit", async () => {
    const three = filesReader({ "a.jsonl": "", "b/x": "", "b/y": "" });
    expect((await ObjectIndex.read(three, 3)).tables).toEqual(["a.jsonl"]);
    await expect(ObjectIndex.read(three, 2)).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
  });
});
