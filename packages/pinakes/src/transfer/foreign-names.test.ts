/** Names of imported collections and repositories. */
import { describe, expect, it } from "vitest";
import { itemToCollection, itemToRepository } from "./lisa-items.ts";
import { golden } from "./test-transfer.ts";

const stamp = { newId: () => "p-1", by: "root", at: "2030-01-01T00:00:00.000Z" };

describe("names of an import", () => {
  it("R-LISA-66 LISA's names have letters and digits of every script; 100 characters, and no others", () => {
    const item = (name: string) => ({ ...golden("lisa-collection.json"), name });
    for (const name of ["Verträge 2025", "契約書_１", "Δοκιμή-α", "x".repeat(100), "𝒳".repeat(100)])
      expect(itemToCollection(item(name), stamp).name, name).toBe(name);
    for (const name of ["Vertr/äge", "a\0b", "smile 🙂", "x".repeat(101), "   "])
      expect(() => itemToCollection(item(name), stamp), name).toThrow(/name/);
    const config = { ...golden("lisa-vector-store.json"), config: { repositoryName: "Depósito norte" } };
    expect(itemToRepository(config, stamp).name).toBe("Depósito norte");
  });
});
