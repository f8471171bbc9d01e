import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { makeCaller } from "../domain/caller.ts";
import { PinakesError } from "../domain/errors.ts";
import { failure } from "../testing/item-store/fixture.ts";
import { requireWrite } from "./index.ts";
import { identityLimits } from "./limits.ts";
import { around, rootToken, testIdentity } from "./test-identity.ts";

describe("the root token", () => {
  it("is an admin of the workspace default", async () => {
    await using t = await testIdentity();
    expect(t.root).toMatchObject({ via: "root", caller: { userId: "root", role: "admin", groups: [] } });
    expect(t.root.caller.scope.tenant).toBe("default");
    expect(() => requireWrite(t.root)).not.toThrow();
    expect(t.identity.me(t.root)).toMatchObject({
      user_id: "root",
      workspace_id: "default",
      via: "root",
      key_id: null,
      expires_at: null,
    });
  });

  it("is nothing else than itself, and nothing when it is not set", async () => {
    await using t = await testIdentity();
    for (const bearer of ["", rootToken.slice(1), `${rootToken}0`, ` ${rootToken}`, rootToken.toUpperCase()])
      await failure(t.by(bearer), "UNAUTHENTICATED");
    const without = await t.another({ rootToken: undefined });
    for (const bearer of ["", "undefined", "null", rootToken])
      await failure(without.authenticate({ bearer, safeMethod: true }), "UNAUTHENTICATED");
    expect(
      (
        await without.authenticate({
          sessionCookie: (await without.sessions.create({ token: without.sessions.oneTimeToken() })).cookie,
          safeMethod: true,
        })
      ).via,
    ).toBe("session");
  });

  it("must be one that a header can carry; a short one is warned of", async () => {
    await using t = await testIdentity();
    for (const bad of ["", "with space", "umlaut-ü", "line\nbreak", "x".repeat(identityLimits.rootTokenCharsMax + 1)])
      await failure(t.another({ rootToken: bad }), "INVALID");
    await t.another({ rootToken: "x".repeat(identityLimits.rootTokenCharsMax) });
    await t.another({ rootToken: "x".repeat(identityLimits.rootTokenCharsAdvised) });
    expect(t.lines).toEqual([]);
    await t.another({ rootToken: "x".repeat(identityLimits.rootTokenCharsAdvised - 1) });
    expect(t.lines).toEqual([expect.stringContaining("root token has only 31 characters")]);
  });
});

describe("credentials", () => {
  it("none: told how to sign in", async () => {
    await using t = await testIdentity();
    for (const credentials of [{}, { sessionCookie: "" }, { csrf: "x" }]) {
      const { detail } = await failure(
        t.identity.authenticate({ ...credentials, safeMethod: true }),
        "UNAUTHENTICATED",
      );
      expect(detail).toContain("Authorization: Bearer");
      expect(detail).toContain("/v1/sessions");
    }
  });

  it("a bearer goes before a cookie, and a wrong one does not fall back to it", async () => {
    await using t = await testIdentity();
    const { cookie } = await t.identity.sessions.create(t.root);
    const { key } = await t.identity.keys.create(t.root, { user_id: "u" });
    expect((await t.identity.authenticate({ bearer: key, sessionCookie: cookie, safeMethod: false })).via).toBe("key");
    await failure(
      t.identity.authenticate({ bearer: "wrong", sessionCookie: cookie, safeMethod: true }),
      "UNAUTHENTICATED",
    );
  });

  it("one at the length limit is looked at, one past it is not, and both are refused alike", async () => {
    await using t = await testIdentity();
    const details = await Promise.all(
      [0, 1].map(
        async (more) =>
          (await failure(t.by("a".repeat(identityLimits.bearerCharsMax + more)), "UNAUTHENTICATED")).detail,
      ),
    );
    expect(new Set(details).size).toBe(1);
  });

  it("whatever is malformed is UNAUTHENTICATED, in one wording, as a bearer, a cookie and a token for a session", async () => {
    await using t = await testIdentity("memory", {
      oidc: [{ issuer: "https://issuer.example", audience: "pinakes", workspace: "w1" }],
    });
    const { key, key_id } = await t.identity.keys.create(t.root, { user_id: "u" });
    const { detail: wording } = await failure(t.by("x"), "UNAUTHENTICATED");
    const base64 = fc.json().map((json) => Buffer.from(json).toString("base64url"));
    const malformed = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: "binary" }).map((text) => `pk_${text}`),
      fc.string().map((text) => `pk_${key_id}_${text}`),
      fc
        .string({ unit: fc.constantFrom("A", "b", "0", "9", "_", "-"), minLength: 43, maxLength: 43 })
        .map((secret) => `pk_${key_id}_${secret}`),
      fc.string({ unit: "binary" }).map((text) => `ps_${text}`),
      fc.string().map((text) => `pot_${text}`),
      fc.tuple(base64, base64, fc.string()).map((parts) => parts.join(".")),
      fc
        .tuple(fc.nat(key.length - 1), fc.string({ minLength: 1, maxLength: 2 }))
        .map(([at, text]) => key.slice(0, at) + text + key.slice(at + 1)),
      fc.anything(),
    );
    const check = async (call: Promise<unknown>) => {
      const error: unknown = await call.then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(PinakesError.isInstance(error) ? [error.code, error.detail] : error).toEqual(["UNAUTHENTICATED", wording]);
    };
    await fc.assert(
      fc.asyncProperty(
        malformed.filter((text) => text !== key && text !== rootToken && text !== undefined && text !== ""),
        async (given) => {
          const text = given as string;
          await check(t.identity.authenticate({ bearer: text, safeMethod: true }));
          await check(t.identity.authenticate({ sessionCookie: text, csrf: text, safeMethod: false }));
          if (typeof text === "string") await check(t.identity.sessions.create({ token: text }));
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it("a store that fails is told as such, and not as a wrong key", async () => {
    await using t = await testIdentity();
    const { key } = await t.identity.keys.create(t.root, { user_id: "u" });
    const { cookie } = await t.identity.sessions.create(t.root);
    let fail = false;
    const down = () => Promise.reject(new PinakesError("UNAVAILABLE", "The store does not answer. Try again later."));
    const identity = await t.another({
      items: around(t.items, { read: (...given) => (fail ? down() : t.items.read(...given)) }),
    });
    fail = true;
    await failure(identity.authenticate({ bearer: key, safeMethod: true }), "UNAVAILABLE");
    await failure(identity.authenticate({ sessionCookie: cookie, safeMethod: true }), "UNAVAILABLE");
  });
});

it("a look-alike of what authenticate() returned has no rights", async () => {
  await using t = await testIdentity();
  const forged = { ...t.root };
  const made = { caller: makeCaller({ tenant: "w1", userId: "u", role: "admin" }), via: "root" } as const;
  for (const auth of [forged, made, null, undefined, {}] as never[]) {
    await failure(t.identity.keys.create(auth, { user_id: "u" }), "UNAUTHENTICATED");
    await failure(t.identity.keys.list(auth), "UNAUTHENTICATED");
    await failure(t.identity.keys.revoke(auth, "x"), "UNAUTHENTICATED");
    await failure(t.identity.workspaces.list(auth), "UNAUTHENTICATED");
    expect(() => t.identity.me(auth)).toThrowError(/authenticate\(\)/);
    expect(() => requireWrite(auth)).toThrowError(/authenticate\(\)/);
  }
});
