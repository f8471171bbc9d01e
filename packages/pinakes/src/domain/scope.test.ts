import { describe, expect, it } from "vitest";
import { PinakesError } from "./errors.ts";
import { requireScope, requireSystemScope, systemScope, tenantScope } from "./scope.ts";

const refusal = (call: () => unknown): string => {
  try {
    call();
  } catch (error) {
    if (PinakesError.isInstance(error)) return error.code;
    throw error;
  }
  return "none";
};

describe("scopes", () => {
  it("a tenant id is 1 to 128 letters, digits, dots, dashes and underscores, but not a folder's name", () => {
    for (const tenant of ["a", "Acme-1.x_y", "t".repeat(128), "..."])
      expect(requireScope(tenantScope(tenant))).toBe(tenant);
    for (const tenant of ["", " ", ".", "..", "a/b", "a b", "é", "t".repeat(129), "a\0", undefined, null, 5])
      expect(refusal(() => tenantScope(tenant as string))).toBe("INVALID");
  });

  it("names that begin with pinakes. are reserved: callers cannot use them, background work can", () => {
    expect(refusal(() => tenantScope("pinakes.system"))).toBe("INVALID");
    expect(requireScope(tenantScope("pinakes"))).toBe("pinakes");
    expect(systemScope("registry", () => {}).forTenant("pinakes.system").tenant).toBe("pinakes.system");
  });

  it("a scope cannot be forged, copied or changed", () => {
    const scope = tenantScope("acme");
    for (const forged of [
      { tenant: "acme" },
      { ...scope },
      JSON.parse(JSON.stringify(scope)),
      Object.create(scope),
      null,
      undefined,
      "acme",
    ]) {
      expect(refusal(() => requireScope(forged as never))).toBe("UNAUTHENTICATED");
    }
    expect(() => Object.assign(scope, { tenant: "other" })).toThrow(TypeError);
    expect(requireScope(scope)).toBe("acme");
  });

  it("a system scope needs a reason, logs it, belongs to no tenant, and can act for one", () => {
    const lines: string[] = [];
    const system = systemScope("ttl sweep", (line) => lines.push(line));
    expect(lines).toEqual(["background work under a system scope: ttl sweep"]);
    expect(refusal(() => requireScope(system as never))).toBe("UNAUTHENTICATED");
    expect(refusal(() => requireSystemScope(tenantScope("a") as never))).toBe("FORBIDDEN");
    expect(refusal(() => requireSystemScope({ ...system }))).toBe("FORBIDDEN");
    expect(refusal(() => systemScope("", () => {}))).toBe("INVALID");
    expect(system.forTenant("acme")).toMatchObject({ tenant: "acme", systemReason: "ttl sweep" });
    expect(refusal(() => system.forTenant(""))).toBe("INVALID");
  });
});
