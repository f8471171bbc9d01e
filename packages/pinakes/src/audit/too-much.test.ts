import { expect, it } from "vitest";
import { Findings } from "./finding.ts";
import { isTooMuch, tooMuch } from "./too-much.ts";

it("a handful is never too much, nor is up to half: at the limits, and one past them", () => {
  expect([isTooMuch(5, 5), isTooMuch(6, 6)]).toEqual([false, true]);
  expect([isTooMuch(50, 100), isTooMuch(51, 100)]).toEqual([false, true]);
});

it("counts each document once, whatever is missing of it", () => {
  const looked = (documents: number) => {
    const findings = new Findings();
    findings.checked.documents = documents;
    for (let i = 0; i < 6; i += 1)
      for (const kind of ["record_without_object", "document_without_vectors"] as const)
        findings.add({ kind, store: "objects", document_id: `d${i}`, detail: "", repaired: false });
    return tooMuch(findings).flatMap(({ kinds }) => kinds);
  };
  expect(looked(12)).toEqual([]);
  expect(looked(11)).toEqual(["record_without_object", "document_without_vectors", "manifest_broken"]);
});
