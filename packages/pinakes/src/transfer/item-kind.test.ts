import { describe, expect, it } from "vitest";
import { itemKind } from "./item-kind.ts";
import { fixture, golden, itemsOf } from "./test-transfer.ts";

describe("which table an item is of", () => {
  it("is told by its keys", () => {
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
  ])("%j is of none", (item) => {
    expect(() => itemKind(item)).toThrow(/no known table/);
  });
});
