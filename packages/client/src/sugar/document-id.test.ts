import { describe, expect, it } from "vitest";
import { decodeId, encodeId } from "./document-id.ts";

describe("ids of documents", () => {
  it("fit ones stay as they are; others are written so that they fit, and come back", () => {
    expect(encodeId("msg-1_ü.x~")).toBe("msg-1_ü.x~");
    for (const id of ["a/b", "a\\b", "a?b#c", "100%", "~mine", "line\nend", "\u0000", "\u007f", "\u{10ffff}", "%2F"]) {
      expect(encodeId(id)).not.toMatch(/[/\\?#\p{Cc}]|^~/u);
      expect(decodeId(encodeId(id))).toBe(id);
    }
    expect(encodeId("a/b")).not.toBe(encodeId("a%2Fb"));
  });
});
