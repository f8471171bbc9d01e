import { describe, expect, it } from "vitest";
import { sectionOf } from "../test-files.ts";
import { parseYaml } from "./yaml.ts";

describe("YAML", () => {
  it("the text is the source, and top-level keys are sections", () => {
    const source = "# about\nserver:\n  port: 80\n  name: &n web\nclient: *n\n";
    const parsed = parseYaml(source);
    expect(parsed.text).toBe(source);
    expect(sectionOf(parsed, "# about")).toBeUndefined();
    expect(sectionOf(parsed, "port")).toEqual(["server"]);
    expect(parsed.text.slice(parsed.sections[1]?.start)).toBe("client: *n\n");
  });

  it("several documents and lists are distinguished", () => {
    const parsed = parseYaml("a: 1\n---\n- x\n- y\n---\njust text\n");
    expect(sectionOf(parsed, "a: 1")).toEqual(["document 1", "a"]);
    expect(sectionOf(parsed, "y")).toEqual(["document 2", "[1]"]);
    expect(sectionOf(parsed, "just text")).toEqual(["document 3"]);
  });

  it("100,000 levels are rejected, not a crash", () => {
    expect(() => parseYaml("[".repeat(100_000))).toThrow(RangeError);
  });

  it("an alias bomb is rejected", () => {
    const levels = Array.from(
      { length: 9 },
      (_, i) => `l${i + 1}: &l${i + 1} [${Array.from({ length: 9 }, () => `*l${i}`).join(", ")}]`,
    );
    expect(() => parseYaml(["l0: &l0 [lol]", ...levels].join("\n"))).toThrow(
      expect.objectContaining({ code: "INVALID", message: expect.stringContaining("aliases") }),
    );
  });

  it("aliases are accepted up to the limit and rejected one past it", () => {
    const repeated = (times: number) => `a: &a [x]\nb: [${Array.from({ length: times }, () => "*a").join(",")}]`;
    expect(parseYaml(repeated(5), { yamlRepeatedValuesMax: 10 }).sections).toHaveLength(2);
    expect(() => parseYaml(repeated(6), { yamlRepeatedValuesMax: 11 })).toThrow("more than 11 values");
  });

  it("thousands of harmless aliases and a cycle are accepted", () => {
    expect(parseYaml(`a: &a x\nb:\n${"  - *a\n".repeat(10_000)}`).sections).toHaveLength(2);
    expect(parseYaml("a: &a\n  b: *a\n").sections).toHaveLength(1);
  });

  it.each([
    ["a: 1\nb: [1, 2\n", "line 3"],
    ["a: 1\nb: x: 2\n", "line 2"],
    ["a: *nowhere\n", "nowhere"],
  ])("%j is rejected with its position", (source, detail) => {
    expect(() => parseYaml(source)).toThrow(
      expect.objectContaining({ code: "INVALID", message: expect.stringContaining(detail) }),
    );
  });
});
