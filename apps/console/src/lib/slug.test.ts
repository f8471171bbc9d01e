import { describe, expect, it } from "vitest";
import { freeSlug } from "./slug.ts";

const none: ReadonlySet<string> = new Set();

describe("an id made of a name", () => {
  it("has small letters and digits only, without their marks", () => {
    expect(freeSlug("My documents", none)).toBe("my-documents");
    expect(freeSlug("  Übersicht & Café (2026)! ", none)).toBe("ubersicht-cafe-2026");
    expect(freeSlug("<script>../..", none)).toBe("script");
    expect(freeSlug("漢字", none)).toBeUndefined();
    expect(freeSlug(" - ", none)).toBeUndefined();
  });

  it("has at most 60 characters", () => {
    expect(freeSlug("a".repeat(60), none)).toBe("a".repeat(60));
    expect(freeSlug("a".repeat(61), none)).toBe("a".repeat(60));
    expect(freeSlug(`${"a".repeat(59)} b`, none)).toBe("a".repeat(59));
  });

  it("is one that nobody has", () => {
    expect(freeSlug("My documents", new Set(["my-documents"]))).toBe("my-documents-2");
    expect(freeSlug("My documents", new Set(["my-documents", "my-documents-2"]))).toBe("my-documents-3");
  });
});
