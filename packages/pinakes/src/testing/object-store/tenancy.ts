/** Cross-tenant attacks on every method: another tenant's objects answer exactly as if they did not exist. */
import { expect } from "vitest";
import { tenantScope, type Scope } from "../../domain/scope.ts";
import { limits } from "../../domain/limits.ts";
import type { AnyScope, ObjectStore } from "../../ports/object-store.ts";
import { failure, utf8, type ObjectFixture } from "./fixture.ts";

/** Every method of the port as one call, so that no new method is forgotten. */
function everyCall(
  store: ObjectStore,
  scope: AnyScope,
  key: string,
): Record<Exclude<keyof ObjectStore, "capabilities" | "close" | typeof Symbol.asyncDispose>, () => Promise<unknown>> {
  return {
    put: () => store.put(scope, key, utf8("stolen")),
    get: () => store.get(scope, key),
    stream: () => store.stream(scope, key),
    head: () => store.head(scope, key),
    list: () => store.list(scope, key),
    delete: () => store.delete(scope, [key]),
  };
}

export function tenancy(fixture: ObjectFixture): void {
  fixture.test("a call without a scope, or with a forged one, throws and does nothing", async () => {
    const key = `${fixture.folder()}x`;
    await fixture.put(key, "kept");
    const forged = [
      undefined,
      null,
      "",
      "acme",
      {},
      { tenant: "acme" },
      { systemReason: "trust me" },
      { ...fixture.scope },
      { ...fixture.system },
      Object.create(fixture.scope) as object,
    ];
    for (const scope of forged) {
      for (const call of Object.values(everyCall(fixture.store, scope as unknown as Scope, key)))
        await failure(call(), "UNAUTHENTICATED");
    }
    expect(await fixture.text(key)).toBe("kept");
  });

  fixture.test(
    "another tenant's objects cannot be read, listed, replaced or deleted, whatever key is tried",
    async () => {
      const folder = fixture.folder();
      const key = `${folder}secret`;
      await fixture.put(key, "secret");
      const attempts = [
        key,
        `t/acme/${key}`,
        `acme/${key}`,
        `../acme/${key}`,
        `../../t/acme/${key}`,
        `/t/acme/${key}`,
        `%2e%2e/acme/${key}`,
      ];
      for (const attempt of attempts) {
        for (const [method, call] of Object.entries(everyCall(fixture.store, fixture.otherScope, attempt))) {
          const answer = await call().then(
            (value: unknown) => value,
            (error: { code?: string }) => error.code,
          );
          if (answer === "INVALID" || method === "put" || method === "delete") continue;
          // Only the attacker's own put under the same name is visible.
          if (method === "list")
            expect(answer).toEqual({ keys: [expect.objectContaining({ key: attempt, bytes: 6 })] });
          else if (method === "head") expect(answer).toMatchObject({ bytes: 6 });
          else if (method === "get") expect(Buffer.from(answer as Uint8Array).toString()).toBe("stolen");
        }
        expect(await fixture.text(key)).toBe("secret");
      }
      expect(await fixture.keys("", 1_000, fixture.otherScope)).toEqual([]);
      await fixture.store.delete(fixture.otherScope, [key]);
      expect(await fixture.keys(folder)).toEqual([key]);
    },
  );

  fixture.test("tenants whose ids share a prefix or differ in case are separate", async () => {
    const names = ["a", "a.b", "a-b", "a_b", "A", "ab", "a..b"];
    for (const tenant of names) await fixture.put("x", tenant, tenantScope(tenant));
    for (const tenant of names) {
      expect(await fixture.text("x", tenantScope(tenant))).toBe(tenant);
      expect(await fixture.keys("", 1_000, tenantScope(tenant))).toEqual(["x"]);
    }
    for (const tenant of names) await fixture.store.delete(tenantScope(tenant), ["x"]);
    expect(await fixture.keys("t/a", 1_000, fixture.system)).not.toContain("t/a/x");
  });

  fixture.test("a system scope reaches stored keys in full, and one tenant's by forTenant", async () => {
    const key = `${fixture.folder()}x`;
    await fixture.put(key, "mine");
    await fixture.put(key, "theirs", fixture.otherScope);
    expect(await fixture.text(`t/acme/${key}`, fixture.system)).toBe("mine");
    expect(await fixture.text(key, fixture.system.forTenant("acme2"))).toBe("theirs");
    expect(await fixture.keys(`t/acme/${key}`, 10, fixture.system)).toEqual([`t/acme/${key}`]);
    await fixture.store.delete(fixture.system, [`t/acme/${key}`]);
    expect(await fixture.text(key)).toBeUndefined();
    expect(await fixture.text(key, fixture.otherScope)).toBe("theirs");
  });

  fixture.test("the longest key of the longest tenant works, also from a system scope", async () => {
    const tenant = "T".repeat(128);
    const key = "K".repeat(limits.objectKeyBytesMax);
    await fixture.put(key, "long", tenantScope(tenant));
    expect(await fixture.text(`t/${tenant}/${key}`, fixture.system)).toBe("long");
    await fixture.store.delete(fixture.system, [`t/${tenant}/${key}`]);
    expect(await fixture.keys("", 10, tenantScope(tenant))).toEqual([]);
  });
}
