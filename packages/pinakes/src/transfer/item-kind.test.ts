import { describe, expect, it } from "vitest";
import { itemKind } from "./item-kind.ts";
import { fixture, golden, itemsOf } from "./test-transfer.ts";

describe("the table of an item", () => {
  it("is determined by its keys", () => {
    expect(itemKind(golden("lisa-collection.json"))).toBe("collection");
    expect(itemKind(golden("lisa-vector-store.json"))).toBe("store");
    expect(itemKind(golden("lisa-legacy-document.json"))).toBe("document");
    expect(itemsOf(fixture("kb-catalog.jsonl")).map(itemKind)).toEqual(["catalog", "catalog_document"]);
  });
  it.each([
    {},
    { repositoryId: "r" },
    { catalog_id: "c", sk: "OTHER" },
    { pk: "r", document_id: 7 },
    { collectionId: "", repositoryId: "r" },
  ])("%j belongs to none", (item) => {
    expect(() => itemKind(item)).toThrow(/not of a known table/);
  });
});
