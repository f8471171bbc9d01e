import { describe, expect, it } from "vitest";
import { failure } from "../testing/item-store/fixture.ts";
import { requireWrite } from "./index.ts";
import { identityLimits } from "./limits.ts";
import { around, engines, identityScope, rootToken, testIdentity, type TestIdentity } from "./test-identity.ts";

const open = (t: TestIdentity, cookie: string, csrf?: string) =>
  t.identity.authenticate({ sessionCookie: cookie, csrf, safeMethod: csrf === undefined });

describe.each(engines)("sessions on %s", (engine) => {
  it("the one-time token opens one session: an admin of the workspace default, without the root token's rights", async () => {
    await using t = await testIdentity(engine);
    const token = t.identity.sessions.oneTimeToken();
    const session = await t.identity.sessions.create({ token });
    expect(session.expiresAt).toBe(t.clock.now() + identityLimits.sessionMs);
    const auth = await open(t, session.cookie);
    expect(auth).toMatchObject({
      via: "session",
      expiresAt: session.expiresAt,
      caller: { role: "admin", userId: "root" },
    });
    expect(auth.caller.scope.tenant).toBe("default");
    expect(t.identity.me(auth)).toMatchObject({ via: "session", key_id: null, csrf_token: session.csrf });
    await failure(t.identity.sessions.create({ token }), "UNAUTHENTICATED");
    expect(await t.identity.keys.create(auth, { user_id: "u" })).toMatchObject({ workspace_id: "default" });
    await failure(t.identity.keys.create(auth, { user_id: "u", workspace_id: "w1" }), "FORBIDDEN");
    await failure(t.identity.workspaces.list(auth), "FORBIDDEN");
  });

  it("of 20 who use the one-time token at once exactly one succeeds", async () => {
    await using t = await testIdentity(engine);
    const token = t.identity.sessions.oneTimeToken();
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => t.identity.sessions.create({ token })));
    const made = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
    expect(made).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "UNAUTHENTICATED" });
    await open(t, made[0]?.cookie ?? "");
  });

  it("unsafe methods need the CSRF token of this very session", async () => {
    await using t = await testIdentity(engine);
    const [a, b] = [await t.identity.sessions.create(t.root), await t.identity.sessions.create(t.root)];
    expect((await open(t, a.cookie, a.csrf)).via).toBe("session");
    const unsafe = (csrf: unknown) =>
      t.identity.authenticate({ sessionCookie: a.cookie, csrf: csrf as string, safeMethod: false });
    for (const csrf of [undefined, "", b.csrf, a.csrf.toUpperCase(), `${a.csrf}0`, a.cookie, null, 5]) {
      expect((await failure(unsafe(csrf), "FORBIDDEN")).detail).toContain("X-CSRF-Token");
    }
    // Who has no session learns nothing about CSRF tokens.
    await failure(
      t.identity.authenticate({ sessionCookie: `ps_${"A".repeat(43)}`, safeMethod: false }),
      "UNAUTHENTICATED",
    );
  });

  it("a session made from a key has the key's identity, and dies with it", async () => {
    await using t = await testIdentity(engine);
    const made = await t.identity.keys.create(t.root, {
      user_id: "u1",
      workspace_id: "w1",
      groups: ["g"],
      scopes: ["read"],
    });
    const sessions = [
      await t.identity.sessions.create({ token: made.key }),
      await t.identity.sessions.create(await t.by(made.key)),
    ];
    for (const { cookie, csrf } of sessions) {
      const auth = await open(t, cookie, csrf);
      expect(auth).toMatchObject({
        via: "session",
        keyId: made.key_id,
        readOnly: true,
        caller: { userId: "u1", groups: ["g"], role: "user" },
      });
      expect(auth.caller.scope.tenant).toBe("w1");
      expect(() => requireWrite(auth)).toThrowError(/is read-only/);
    }
    await t.identity.keys.revoke(t.root, made.key_id);
    for (const { cookie } of sessions) await failure(open(t, cookie), "UNAUTHENTICATED");
  });

  it("a session ends after 12 hours, or when its key expires before", async () => {
    await using t = await testIdentity(engine);
    const long = await t.identity.sessions.create(t.root);
    const expires_at = new Date(t.clock.now() + 90_500).toISOString();
    const { key } = await t.identity.keys.create(t.root, { user_id: "u", expires_at });
    const short = await t.identity.sessions.create({ token: key });
    expect(short.expiresAt).toBe(Date.parse(expires_at));
    t.clock.advance(90_499);
    expect((await open(t, short.cookie)).expiresAt).toBe(short.expiresAt);
    t.clock.advance(1);
    await failure(open(t, short.cookie), "UNAUTHENTICATED");
    t.clock.advance(identityLimits.sessionMs - 90_501);
    await open(t, long.cookie);
    t.clock.advance(1);
    await failure(open(t, long.cookie), "UNAUTHENTICATED");
  });

  it("an ended session is refused at once; ending it again, or nonsense, is no error", async () => {
    await using t = await testIdentity(engine);
    const { cookie } = await t.identity.sessions.create(t.root);
    const other = await t.identity.sessions.create(t.root);
    await open(t, cookie);
    await t.identity.sessions.end(cookie);
    await failure(open(t, cookie), "UNAUTHENTICATED");
    for (const nonsense of [cookie, "", "ps_x", `ps_${"A".repeat(43)}`]) await t.identity.sessions.end(nonsense);
    await open(t, other.cookie);
  });
});

it("sessions survive a restart with the same root token, and end with another one", async () => {
  await using t = await testIdentity("sqlite");
  const byRoot = await t.identity.sessions.create(t.root);
  const byOneTime = await t.identity.sessions.create({ token: t.identity.sessions.oneTimeToken() });
  const { key } = await t.identity.keys.create(t.root, { user_id: "u" });
  const byKey = await t.identity.sessions.create({ token: key });
  await t.restart();
  for (const { cookie } of [byRoot, byOneTime, byKey]) await open(t, cookie);
  await t.restart({ rootToken: "another-root-token-0123456789abcdef" });
  for (const { cookie } of [byRoot, byOneTime]) await failure(open(t, cookie), "UNAUTHENTICATED");
  await open(t, byKey.cookie);
});

it("the cookie is kept as a hash", async () => {
  await using t = await testIdentity();
  const documents: string[] = [];
  const items = around(t.items, {
    write: (...given) => {
      documents.push(JSON.stringify(given[3]));
      return t.items.write(...given);
    },
  });
  const identity = await t.another({ items });
  const { cookie, csrf } = await identity.sessions.create(t.root);
  expect(documents).toHaveLength(1);
  expect(documents[0]).not.toContain(cookie.slice(3));
  expect(documents[0]).not.toContain(csrf);
});

describe("the one-time token", () => {
  it("is good for 15 minutes", async () => {
    await using t = await testIdentity();
    const early = t.identity.sessions.oneTimeToken();
    t.clock.advance(identityLimits.oneTimeTokenMs - 1);
    await t.identity.sessions.create({ token: early });
    const late = t.identity.sessions.oneTimeToken();
    t.clock.advance(identityLimits.oneTimeTokenMs);
    await failure(t.identity.sessions.create({ token: late }), "UNAUTHENTICATED");
  });

  it("ends when a new one is made, and is no bearer token", async () => {
    await using t = await testIdentity();
    const [before, now] = [t.identity.sessions.oneTimeToken(), t.identity.sessions.oneTimeToken()];
    await failure(t.identity.sessions.create({ token: before }), "UNAUTHENTICATED");
    await failure(t.by(now), "UNAUTHENTICATED");
    await t.identity.sessions.create({ token: now });
  });

  it("is not used up by a session that could not be stored", async () => {
    await using t = await testIdentity();
    let fail = true;
    const items = around(t.items, {
      write: (...given) => (fail ? Promise.reject(new Error("the disk is full")) : t.items.write(...given)),
    });
    const identity = await t.another({ items });
    const token = identity.sessions.oneTimeToken();
    await expect(identity.sessions.create({ token })).rejects.toThrow("the disk is full");
    fail = false;
    await identity.sessions.create({ token });
    await failure(identity.sessions.create({ token }), "UNAUTHENTICATED");
  });
});

it("a session is made from nothing else", async () => {
  await using t = await testIdentity();
  const { sessions } = t.identity;
  const { cookie } = await sessions.create({ token: rootToken });
  const auth = await open(t, cookie);
  await failure(sessions.create(auth), "FORBIDDEN");
  for (const token of ["", "pot_", "nonsense", cookie]) await failure(sessions.create({ token }), "UNAUTHENTICATED");
  // A look-alike of what authenticate() returned is not it.
  for (const from of [{ ...auth }, {}, null, "x", { token: 5 }])
    await failure(sessions.create(from as never), "INVALID");
  const stored = await t.items.read(identityScope, "identity-sessions", { partition: [cookie], id: cookie });
  expect(stored).toBeUndefined();
});
