import { expect, it } from "vitest";
import { limits } from "../domain/limits.ts";
import { compileContainer, forTenant, mergeDefinitions, normaliseDefinition } from "./compiled-container.ts";

const declared = normaliseDefinition({ name: "things", partitionKey: ["p"], ttl: 1_000 });
const set = (stored: typeof declared, tenant: string, ttl: number | null) =>
  mergeDefinitions(stored, { ...stored, tenantTtls: { [tenant]: [ttl, 1] } }, false);
const ttlOf = (definition: typeof declared, tenant: string) => forTenant(compileContainer(definition, 1), tenant).ttl;

it("R-AGT-51 as many tenants as the maximum have a default of their own, and one more has not", () => {
  const names = Array.from({ length: limits.tenantTtlsMax }, (_, i) => `t${i}`);
  const full = names.reduce((stored, tenant) => set(stored, tenant, 5), declared);
  expect(ttlOf(full, "t999")).toBe(5);
  expect(ttlOf(set(full, "t999", null), "t999")).toBeNull();
  expect(() => set(full, "one-more", 5)).toThrow(/maximum/);
});

it("what tenants have set stays when the container is declared again, also with another value", () => {
  const stored = set(set(declared, "a", 5), "__proto__", -1);
  const again = mergeDefinitions(stored, { ...declared, ttl: 5 }, false);
  expect([ttlOf(again, "a"), ttlOf(again, "__proto__"), ttlOf(again, "constructor")]).toEqual([5, -1, 5]);
  expect(mergeDefinitions(again, { ...declared, ttl: 5 }, false)).toEqual(again);
});
