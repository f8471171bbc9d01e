import { createHmac } from "node:crypto";
import type { ServerResponse } from "node:http";
import { exportSPKI, importJWK, UnsecuredJWT, type CryptoKey, type JWTPayload } from "jose";
import { describe, expect, it } from "vitest";
import { failure, ManualClock } from "../testing/item-store/fixture.ts";
import type { OidcSettings } from "./index.ts";
import { identityLimits } from "./limits.ts";
import { testIdentity, type TestIdentity } from "./test-identity.ts";
import { issuerKey, testIssuer, type IssuerKey, type TestIssuer } from "./test-issuer.ts";

interface Fixture extends AsyncDisposable {
  readonly t: TestIdentity;
  readonly issuer: TestIssuer;
  /** Seconds, as tokens count. */
  readonly now: number;
}

async function fixture(settings: Partial<OidcSettings> = {}, keys?: readonly IssuerKey[]): Promise<Fixture> {
  const issuer = await testIssuer(new ManualClock(), keys);
  const t = await testIdentity("memory", { oidc: [{ issuer: issuer.url, audience: "pinakes", ...settings }] });
  return {
    t,
    issuer,
    get now() {
      return Math.floor(t.clock.now() / 1000);
    },
    async [Symbol.asyncDispose]() {
      await issuer[Symbol.asyncDispose]();
      await t[Symbol.asyncDispose]();
    },
  };
}

const uniform = "wrong, revoked or expired";

describe("a token", () => {
  it("is its user, groups and workspace, with the role that its groups have", async () => {
    await using f = await fixture({ adminGroups: ["ops", "chiefs"], repositoryAdminGroups: ["rag"] });
    const auth = await f.t.by(await f.issuer.token({ groups: ["g", "h"] }));
    expect(auth).toMatchObject({
      via: "token",
      expiresAt: (f.now + 300) * 1000,
      caller: { userId: "u1", groups: ["g", "h"], role: "user" },
    });
    expect(auth.caller.scope.tenant).toBe("w1");
    expect(f.t.identity.me(auth)).toMatchObject({
      via: "token",
      key_id: null,
      expires_at: new Date((f.now + 300) * 1000).toISOString(),
    });
    expect((await f.t.by(await f.issuer.token({ groups: ["rag"] }))).caller.role).toBe("repository_admin");
    expect((await f.t.by(await f.issuer.token({ groups: ["rag", "chiefs"] }))).caller.role).toBe("admin");
    expect((await f.t.by(await f.issuer.token({ groups: "g  ops" }))).caller).toMatchObject({
      groups: ["g", "ops"],
      role: "admin",
    });
    expect((await f.t.by(await f.issuer.token({}, { remove: ["groups"] }))).caller.groups).toEqual([]);
    // The keys were fetched once, after discovery; and the workspace was noted for the list.
    expect(f.issuer.requests).toEqual(["/.well-known/openid-configuration", "/keys"]);
    await f.t.identity.close();
    expect((await f.t.identity.workspaces.list(f.t.root)).items).toMatchObject([
      { workspace_id: "default" },
      { workspace_id: "w1", created_by: "u1" },
    ]);
  });

  it("has the permissions of the claim that the settings name; other words in it mean nothing, and without the setting nobody has any", async () => {
    await using f = await fixture({ permissionsClaim: "scope" });
    const granted = async (claims: JWTPayload) => (await f.t.by(await f.issuer.token(claims))).caller.permissions;
    expect(await granted({ scope: "openid purge profile" })).toEqual(["purge"]);
    expect(await granted({ scope: ["purge", "purge", "admin"] })).toEqual(["purge"]);
    expect(await granted({ scope: "openid purges" })).toEqual([]);
    expect(await granted({})).toEqual([]);
    await expect(granted({ scope: 3 })).rejects.toMatchObject({
      code: "UNAUTHENTICATED",
      detail: expect.stringContaining('claim "scope"') as string,
    });
    await using plain = await fixture();
    expect(
      (await plain.t.by(await plain.issuer.token({ scope: "purge", permissions: ["purge"] }))).caller.permissions,
    ).toEqual([]);
  });

  it("may carry its claims under other names, and inside of others", async () => {
    await using f = await fixture({
      userClaim: "https://x.example/user",
      groupsClaim: "realm_access.roles",
      workspaceClaim: "org",
    });
    const claims = { "https://x.example/user": "u2", realm_access: { roles: ["r"] }, org: "w9" };
    const { caller } = await f.t.by(await f.issuer.token(claims));
    expect(caller).toMatchObject({ userId: "u2", groups: ["r"] });
    expect(caller.scope.tenant).toBe("w9");
  });

  it("has the fixed workspace of its issuer, whatever it claims", async () => {
    await using f = await fixture({ workspace: "fixed" });
    expect((await f.t.by(await f.issuer.token({ workspace: "other" }))).caller.scope.tenant).toBe("fixed");
  });

  it("is told apart by issuer and may be meant for one of several audiences", async () => {
    await using f = await fixture({ audience: ["a", "b"] });
    await using second = await testIssuer(f.t.clock);
    const oidc = [
      { issuer: f.issuer.url, audience: ["a", "b"], workspace: "first" },
      { issuer: second.url, audience: "pinakes", workspace: "second", jwksUri: `${second.url}/keys` },
    ];
    const identity = await f.t.another({ oidc });
    const by = (bearer: string) => identity.authenticate({ bearer, safeMethod: true });
    expect((await by(await f.issuer.token({ aud: "b" }))).caller.scope.tenant).toBe("first");
    expect((await by(await f.issuer.token({ aud: ["x", "a"] }))).caller.scope.tenant).toBe("first");
    expect((await by(await second.token())).caller.scope.tenant).toBe("second");
    expect(second.requests).toEqual(["/keys"]);
    // Signed by one issuer in the name of the other.
    await failure(by(await f.issuer.token({ iss: second.url, aud: "pinakes" })), "UNAUTHENTICATED");
    await identity.close();
  });

  it.each(["RS512", "PS256", "ES256", "ES384", "EdDSA"])("may be signed with %s", async (alg) => {
    await using f = await fixture({}, [await issuerKey("k", alg)]);
    expect((await f.t.by(await f.issuer.token())).caller.userId).toBe("u1");
  });

  it("without a key id is tried with each key that fits", async () => {
    const keys = [await issuerKey(undefined), await issuerKey(undefined)] as const;
    await using f = await fixture({}, keys);
    for (const key of keys) expect((await f.t.by(await f.issuer.token({}, { key }))).via).toBe("token");
    await failure(f.t.by(await f.issuer.token({}, { key: await issuerKey(undefined) })), "UNAUTHENTICATED");
    expect(
      (await failure(f.t.by(await f.issuer.token({ exp: f.now - 61 }, { key: keys[1] })), "UNAUTHENTICATED")).detail,
    ).toContain("expired");
  });
});

it("20 keys are tried on a token without a key id, and not one more", async () => {
  const keys = await Promise.all(
    Array.from({ length: identityLimits.issuerKeysTriedMax + 1 }, () => issuerKey(undefined, "ES256")),
  );
  await using f = await fixture({}, keys);
  const by = async (i: number) => f.t.by(await f.issuer.token({}, { key: keys[i] as IssuerKey }));
  expect((await by(identityLimits.issuerKeysTriedMax - 1)).via).toBe("token");
  await failure(by(identityLimits.issuerKeysTriedMax), "UNAUTHENTICATED");
});

describe("a token is refused", () => {
  it("60 s after its end and 60 s before its beginning, not earlier", async () => {
    await using f = await fixture();
    const tolerance = identityLimits.tokenToleranceSeconds;
    await f.t.by(await f.issuer.token({ exp: f.now - tolerance + 1 }));
    const expired = await failure(f.t.by(await f.issuer.token({ exp: f.now - tolerance })), "UNAUTHENTICATED");
    expect(expired.detail).toContain("The token has expired");
    await f.t.by(await f.issuer.token({ nbf: f.now + tolerance }));
    await failure(f.t.by(await f.issuer.token({ nbf: f.now + tolerance + 1 })), "UNAUTHENTICATED");
    const token = await f.issuer.token();
    await f.t.by(token);
    f.t.clock.advance(360_000);
    await failure(f.t.by(token), "UNAUTHENTICATED");
  });

  it.each<[string, JWTPayload, readonly string[]]>([
    ["another audience", { aud: "others" }, []],
    ["no audience", {}, ["aud"]],
    ["another issuer", { iss: "https://elsewhere.example" }, []],
    ["an issuer on another port", { iss: "http://127.0.0.1:1" }, []],
    ["no issuer", {}, ["iss"]],
    ["no end", {}, ["exp"]],
    ["an end that is no number", { exp: "soon" as never }, []],
  ])("with %s, in the wording of all", async (_, claims, remove) => {
    await using f = await fixture();
    await f.t.by(await f.issuer.token());
    expect((await failure(f.t.by(await f.issuer.token(claims, { remove })), "UNAUTHENTICATED")).detail).toContain(
      uniform,
    );
  });

  it.each<[string, JWTPayload, readonly string[], string]>([
    ["no workspace", {}, ["workspace"], "workspace"],
    ["a workspace that is a list", { workspace: ["w1"] }, [], "workspace"],
    ["an empty workspace", { workspace: "" }, [], "workspace"],
    ["a workspace of the system", { workspace: "pinakes.identity" }, [], "pinakes."],
    ["a workspace that is no name", { workspace: "../w1" }, [], "tenant"],
    ["no user", {}, ["sub"], "sub"],
    ["a user with a control character", { sub: "a\u0000" }, [], "user id"],
    ["groups that are numbers", { groups: [1] }, [], "groups"],
    ["groups that are an object", { groups: { admin: true } }, [], "groups"],
    ["201 groups", { groups: Array.from({ length: 201 }, (_, i) => `g${i}`) }, [], "groups"],
  ])("with %s, told by name", async (_, claims, remove, named) => {
    await using f = await fixture();
    const { detail } = await failure(f.t.by(await f.issuer.token(claims, { remove })), "UNAUTHENTICATED");
    expect(detail).toContain("genuine");
    expect(detail).toContain(named);
  });

  it("without a signature, and signed with the public key as if it were a secret", async () => {
    await using f = await fixture();
    const claims = { iss: f.issuer.url, aud: "pinakes", sub: "u1", workspace: "w1", exp: f.now + 300 };
    const [key] = f.issuer.keys as [IssuerKey];
    const pem = await exportSPKI((await importJWK(key.publicJwk, "RS256", { extractable: true })) as CryptoKey);
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const hmac = (secret: string, header: object) => {
      const signed = `${part(header)}.${part(claims)}`;
      return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
    };
    const good = await f.issuer.token();
    await f.t.by(good);
    const forged = [
      new UnsecuredJWT(claims).encode(),
      `${part({ alg: "none", kid: "k1" })}.${part(claims)}.`,
      `${part({ alg: "None", kid: "k1" })}.${part(claims)}.${good.split(".")[2]}`,
      hmac(pem, { alg: "HS256", kid: "k1" }),
      hmac(pem.trim(), { alg: "HS256", kid: "k1" }),
      hmac(JSON.stringify(key.publicJwk), { alg: "HS256", kid: "k1" }),
      hmac(pem, { alg: "HS256", kid: "k1", jwk: key.publicJwk }),
      // Other claims under a good signature, a signature that is cut off, and one of another token.
      good.replace(/\.[^.]+\./, `.${part({ ...claims, sub: "admin" })}.`),
      good.replace(/\.[^.]+$/, "."),
      good.replace(/\.[^.]+$/, `.${(await f.issuer.token({ sub: "u2" })).split(".")[2]}`),
    ];
    for (const token of forged) expect((await failure(f.t.by(token), "UNAUTHENTICATED")).detail).toContain(uniform);
  });

  it("signed by somebody else, under a known key id or an unknown one", async () => {
    await using f = await fixture();
    const own = await issuerKey("k1");
    await failure(f.t.by(await f.issuer.token({}, { key: own })), "UNAUTHENTICATED");
    await failure(f.t.by(await f.issuer.token({}, { key: { ...own, kid: "mine" } })), "UNAUTHENTICATED");
  });

  it("when no issuer is set", async () => {
    await using f = await fixture();
    const identity = await f.t.another({ oidc: undefined });
    await failure(identity.authenticate({ bearer: await f.issuer.token(), safeMethod: true }), "UNAUTHENTICATED");
  });
});

describe("the keys of an issuer", () => {
  const fetches = (issuer: TestIssuer) => issuer.requests.filter((path) => path === "/keys").length;

  it("are looked at again for an unknown key, at most every 30 s, so a rotation is noticed", async () => {
    await using f = await fixture();
    await f.t.by(await f.issuer.token());
    const [old] = f.issuer.keys as [IssuerKey];
    const next = await issuerKey("k2");
    f.issuer.keys = [next];
    f.t.clock.advance(identityLimits.issuerKeysCooldownMs - 1);
    await failure(f.t.by(await f.issuer.token({}, { key: next })), "UNAUTHENTICATED");
    expect(fetches(f.issuer)).toBe(1);
    f.t.clock.advance(1);
    expect((await f.t.by(await f.issuer.token({}, { key: next }))).via).toBe("token");
    expect(fetches(f.issuer)).toBe(2);
    await failure(f.t.by(await f.issuer.token({}, { key: old })), "UNAUTHENTICATED");
    // Twenty with unknown keys at once, after the pause, cost one fetch.
    f.t.clock.advance(identityLimits.issuerKeysCooldownMs);
    const unknown = await f.issuer.token({}, { key: await issuerKey("k3") });
    await Promise.all(Array.from({ length: 20 }, () => failure(f.t.by(unknown), "UNAUTHENTICATED")));
    expect(fetches(f.issuer)).toBe(3);
  });

  it("are fetched again after 10 minutes, so one that was withdrawn is refused", async () => {
    await using f = await fixture();
    const [old] = f.issuer.keys as [IssuerKey];
    const long = { exp: f.now + 86_400 };
    await f.t.by(await f.issuer.token(long));
    f.issuer.keys = [await issuerKey("k2")];
    f.t.clock.advance(identityLimits.issuerKeysFreshMs - 1);
    await f.t.by(await f.issuer.token(long, { key: old }));
    f.t.clock.advance(1);
    await failure(f.t.by(await f.issuer.token(long, { key: old })), "UNAUTHENTICATED");
    expect(fetches(f.issuer)).toBe(2);
  });

  it("that cannot be fetched make tokens UNAVAILABLE, not wrong, until the issuer answers again", async () => {
    await using f = await fixture();
    const token = await f.issuer.token({ exp: f.now + 86_400 });
    await f.issuer.close();
    const error = await failure(f.t.by(token), "UNAVAILABLE");
    expect(error).toMatchObject({ retryable: true, detail: expect.stringContaining(f.issuer.url) as string });
    expect(f.t.lines.join("\n")).toContain("could not be fetched");
    await f.issuer.reopen();
    f.t.clock.advance(identityLimits.issuerRetryMs - 1);
    await failure(f.t.by(token), "UNAVAILABLE");
    expect(f.issuer.requests).toEqual([]);
    f.t.clock.advance(1);
    expect((await f.t.by(token)).via).toBe("token");
  });

  it("serve for an hour while the issuer does not answer; an unknown key is UNAVAILABLE then", async () => {
    await using f = await fixture();
    const long = { exp: f.now + 86_400 };
    const token = await f.issuer.token(long);
    await f.t.by(token);
    await f.issuer.close();
    f.t.clock.advance(identityLimits.issuerKeysAgeMsMax - 1);
    expect((await f.t.by(token)).via).toBe("token");
    await failure(f.t.by(await f.issuer.token(long, { key: await issuerKey("k2") })), "UNAVAILABLE");
    f.t.clock.advance(1);
    await failure(f.t.by(token), "UNAVAILABLE");
  });

  const big = (bytes: number) => `{"keys":[]${" ".repeat(bytes - '{"keys":[]}'.length)}}`;
  it.each<[string, string, (response: ServerResponse) => void]>([
    ["an error", "/keys", (response) => void response.writeHead(500).end()],
    ["no JSON", "/keys", (response) => void response.end("<html>")],
    ["silence", "/keys", () => {}],
    ["no keys", "/keys", (response) => void response.end('{"keys":5}')],
    ["too much", "/keys", (response) => void response.end(big(identityLimits.issuerAnswerBytesMax + 1))],
    ["a way elsewhere", "/keys", (response) => void response.writeHead(302, { location: "/other" }).end()],
    [
      "half an answer",
      "/keys",
      (response) => void response.writeHead(200, { "content-length": "100" }).write("{", () => response.destroy()),
    ],
    [
      "another issuer",
      "/.well-known/openid-configuration",
      (response) => void response.end('{"issuer":"https://x.example","jwks_uri":"https://x.example/k"}'),
    ],
    ["null for its configuration", "/.well-known/openid-configuration", (response) => void response.end("null")],
  ])("are UNAVAILABLE when the issuer answers with %s", async (_, path, answer) => {
    await using f = await fixture();
    f.issuer.answers.set(path, answer);
    await failure(f.t.by(await f.issuer.token()), "UNAVAILABLE");
    f.issuer.answers.clear();
    f.t.clock.advance(identityLimits.issuerRetryMs);
    await f.t.by(await f.issuer.token());
  });

  it("are never fetched from an address that is not safe", async () => {
    await using f = await fixture();
    const configuration = JSON.stringify({ issuer: f.issuer.url, jwks_uri: "http://keys.example/k" });
    f.issuer.answers.set("/.well-known/openid-configuration", (response) => void response.end(configuration));
    await failure(f.t.by(await f.issuer.token()), "UNAVAILABLE");
    expect(f.t.lines.join("\n")).toContain("no https:// jwks_uri");
  });

  it("may come in an answer of exactly the largest size", async () => {
    await using f = await fixture();
    f.issuer.answers.set("/keys", (response) => void response.end(big(identityLimits.issuerAnswerBytesMax)));
    await failure(f.t.by(await f.issuer.token()), "UNAUTHENTICATED");
  });
});

it("a session made from a token ends with the token", async () => {
  await using f = await fixture({ adminGroups: ["g"] });
  const token = await f.issuer.token({ groups: ["g"] });
  const { cookie, expiresAt } = await f.t.identity.sessions.create({ token });
  expect(expiresAt).toBe((f.now + 300) * 1000);
  const auth = await f.t.identity.authenticate({ sessionCookie: cookie, safeMethod: true });
  expect(auth).toMatchObject({ via: "session", caller: { userId: "u1", role: "admin" } });
  expect(auth.caller.scope.tenant).toBe("w1");
  f.t.clock.advance(300_000);
  // The token itself is still within its tolerance, but no session begins in it.
  await f.t.by(token);
  await failure(f.t.identity.authenticate({ sessionCookie: cookie, safeMethod: true }), "UNAUTHENTICATED");
  await failure(f.t.identity.sessions.create({ token }), "UNAUTHENTICATED");
});

it("a token with an end beyond all calendars is a session of 12 hours", async () => {
  await using f = await fixture();
  const auth = await f.t.by(await f.issuer.token({ exp: 1e300 }));
  expect(f.t.identity.me(auth).expires_at).toMatch(/^\+275760/);
  expect((await f.t.identity.sessions.create(auth)).expiresAt).toBe(f.t.clock.now() + identityLimits.sessionMs);
});
