import { describe, expect, it } from "vitest";
import { pagesOf } from "../runtime/pages.ts";
import type { Authenticated } from "./index.ts";
import { failure } from "../testing/item-store/fixture.ts";
import { identityLimits } from "./limits.ts";
import { around, engines, identityScope, testIdentity } from "./test-identity.ts";

const uniform = /^This credential is not valid: it is wrong, revoked or expired\./;

describe.each(engines)("API keys on %s", (engine) => {
  it("a key is its user, groups and role in its workspace, shown once and kept as a hash", async () => {
    await using t = await testIdentity(engine);
    const made = await t.identity.keys.create(t.root, {
      user_id: "u1",
      workspace_id: "w1",
      groups: ["g", "h", "g"],
      role: "repository_admin",
      name: "CI",
    });
    expect(made).toMatchObject({
      user_id: "u1",
      workspace_id: "w1",
      groups: ["g", "h"],
      role: "repository_admin",
      name: "CI",
      created_by: "root",
      expires_at: null,
    });
    expect(made.scopes).toEqual(["read", "write"]);
    expect(made.key).toMatch(new RegExp(`^pk_${made.key_id}_[A-Za-z0-9_-]{43}$`));
    const auth = await t.by(made.key);
    expect(auth.caller).toMatchObject({ userId: "u1", groups: ["g", "h"], role: "repository_admin" });
    expect(auth.caller.scope.tenant).toBe("w1");
    expect(auth).toMatchObject({ via: "key", keyId: made.key_id });
    expect(auth.readOnly).toBeUndefined();
    expect(t.identity.me(auth)).toEqual({
      user_id: "u1",
      workspace_id: "w1",
      groups: ["g", "h"],
      role: "repository_admin",
      permissions: [],
      via: "key",
      key_id: made.key_id,
      expires_at: null,
      read_only: false,
    });
    await t.identity.close();
    const stored = await t.items.read(identityScope, "identity-keys", { partition: [made.key_id], id: made.key_id });
    expect(stored).toBeDefined();
    expect(JSON.stringify(stored)).not.toContain(made.key.split("_").slice(2).join("_"));
    const { items } = await t.identity.keys.list(t.root, { workspace_id: "w1" });
    expect(items).toEqual(
      [{ ...made, key: undefined, last_used_at: expect.any(String) as string }].map(({ key: _, ...info }) => info),
    );
  });

  it("a revoked key is refused at once here, and within 5 s by other processes", async () => {
    await using t = await testIdentity(engine);
    const other = await t.another();
    const made = await t.identity.keys.create(t.root, { user_id: "u1" });
    await t.by(made.key);
    await other.authenticate({ bearer: made.key, safeMethod: true });
    await t.identity.keys.revoke(t.root, made.key_id);
    expect((await failure(t.by(made.key), "UNAUTHENTICATED")).detail).toMatch(uniform);
    t.clock.advance(identityLimits.cacheMsMax);
    await failure(other.authenticate({ bearer: made.key, safeMethod: true }), "UNAUTHENTICATED");
    await other.close();
    await failure(t.by(made.key), "UNAUTHENTICATED");
    await failure(t.identity.keys.revoke(t.root, made.key_id), "NOT_FOUND");
    expect((await t.identity.keys.list(t.root)).items).toEqual([]);
  });

  it("an expired key is refused, to the millisecond, even while it is cached, and leaves the list later", async () => {
    await using t = await testIdentity(engine);
    const expires_at = new Date(t.clock.now() + 2_000).toISOString();
    const { key, key_id } = await t.identity.keys.create(t.root, { user_id: "u1", expires_at });
    t.clock.advance(1_999);
    expect(await t.by(key)).toMatchObject({ expiresAt: Date.parse(expires_at) });
    await t.identity.close();
    t.clock.advance(1);
    expect((await failure(t.by(key), "UNAUTHENTICATED")).detail).toMatch(uniform);
    expect((await t.identity.keys.list(t.root)).items).toMatchObject([{ key_id, expires_at }]);
    t.clock.advance(identityLimits.expiredKeyKeptMs + 1_000);
    expect((await t.identity.keys.list(t.root)).items).toEqual([]);
    await failure(t.by(key), "UNAUTHENTICATED");
  });

  it("the right id with a wrong secret, and one key's secret with another's id, are refused alike", async () => {
    await using t = await testIdentity(engine);
    const [a, b] = [
      await t.identity.keys.create(t.root, { user_id: "a" }),
      await t.identity.keys.create(t.root, { user_id: "b" }),
    ];
    const secret = (key: string) => key.slice(key.indexOf("_", 3) + 1);
    const flipped = secret(a.key).replace(/.$/, (last) => (last === "A" ? "B" : "A"));
    const wrong = [
      `pk_${a.key_id}_${flipped}`,
      `pk_${a.key_id}_${secret(b.key)}`,
      `pk_${"0".repeat(20)}_${secret(a.key)}`,
      `pk_${a.key_id}_`,
      `pk_${a.key_id}`,
      a.key.slice(0, -1),
      `${a.key}A`,
      ` ${a.key}`,
      `${a.key}\n`,
      a.key.toUpperCase(),
    ];
    const details = new Set<string>();
    for (const bearer of wrong) details.add((await failure(t.by(bearer), "UNAUTHENTICATED")).detail);
    expect(details.size).toBe(1);
    expect((await t.by(a.key)).caller.userId).toBe("a");
  });

  it("an admin reaches the keys of his own workspace and no others", async () => {
    await using t = await testIdentity(engine);
    const { keys } = t.identity;
    const admin1 = await t.by(
      (await keys.create(t.root, { user_id: "admin1", workspace_id: "w1", role: "admin" })).key,
    );
    const admin2 = await keys.create(t.root, { user_id: "admin2", workspace_id: "w2", role: "admin" });
    const own = await keys.create(admin1, { user_id: "u" });
    expect(own).toMatchObject({ workspace_id: "w1", created_by: "admin1", role: "user" });
    expect(await keys.create(admin1, { user_id: "u", workspace_id: "w1" })).toMatchObject({ workspace_id: "w1" });
    await failure(keys.create(admin1, { user_id: "u", workspace_id: "w2" }), "FORBIDDEN");
    await failure(keys.create(admin1, { user_id: "u", workspace_id: "pinakes.identity" }), "FORBIDDEN");
    await failure(keys.list(admin1, { workspace_id: "w2" }), "FORBIDDEN");
    const stranger = await failure(keys.revoke(admin1, admin2.key_id), "NOT_FOUND");
    expect(stranger.detail).toBe((await failure(keys.revoke(admin1, "0".repeat(20)), "NOT_FOUND")).detail);
    expect((await t.by(admin2.key)).caller.userId).toBe("admin2");
    expect((await keys.list(admin1)).items.map(({ workspace_id }) => workspace_id)).toEqual(["w1", "w1", "w1"]);
    await keys.revoke(admin1, own.key_id);
    await failure(t.by(own.key), "UNAUTHENTICATED");
  });

  it("those who are no admins manage no keys", async () => {
    await using t = await testIdentity(engine);
    const { keys } = t.identity;
    for (const role of ["user", "repository_admin"] as const) {
      const made = await keys.create(t.root, { user_id: "u", role });
      const auth = await t.by(made.key);
      await failure(keys.create(auth, { user_id: "u" }), "FORBIDDEN");
      await failure(keys.list(auth), "FORBIDDEN");
      await failure(keys.revoke(auth, made.key_id), "FORBIDDEN");
      await failure(t.identity.workspaces.list(auth), "FORBIDDEN");
    }
  });

  it("the root token makes workspaces by making keys in them, and lists both", async () => {
    await using t = await testIdentity(engine);
    const { keys, workspaces } = t.identity;
    for (const workspace_id of ["w2", "w1", "w2"]) await keys.create(t.root, { user_id: "u", workspace_id });
    await keys.create(t.root, { user_id: "u" });
    expect((await workspaces.list(t.root)).items).toMatchObject([
      { workspace_id: "default" },
      { workspace_id: "w1" },
      { workspace_id: "w2", created_by: "root" },
    ]);
    expect((await keys.list(t.root)).items.map(({ workspace_id }) => workspace_id)).toEqual(["default"]);
    expect((await keys.list(t.root, { workspace_id: "w2" })).items).toHaveLength(2);
    expect((await keys.list(t.root, { workspace_id: "nobody" })).items).toEqual([]);
    const first = await workspaces.list(t.root, { limit: 2 });
    expect((await workspaces.list(t.root, { limit: 2, cursor: first.cursor })).items).toMatchObject([
      { workspace_id: "w2" },
    ]);
  });

  it("a list goes page by page, newest first, and a cursor stays with its workspace", async () => {
    await using t = await testIdentity(engine);
    const { keys } = t.identity;
    const names = ["a", "b", "c", "d", "e"];
    for (const name of names) {
      await keys.create(t.root, { user_id: "u", workspace_id: "w1", name });
      t.clock.advance(1);
    }
    await keys.create(t.root, { user_id: "u", workspace_id: "w2" });
    const seen: (string | null)[] = [];
    for await (const page of pagesOf((cursor) => keys.list(t.root, { workspace_id: "w1", limit: 2, cursor }))) {
      seen.push(...page.items.map(({ name }) => name));
      if (page.cursor !== undefined)
        await failure(keys.list(t.root, { workspace_id: "w2", limit: 2, cursor: page.cursor }), "INVALID");
    }
    expect(seen).toEqual(names.toReversed());
  });
});

it("keys survive a restart, revoked ones stay revoked", async () => {
  await using t = await testIdentity("sqlite");
  const kept = await t.identity.keys.create(t.root, { user_id: "u", workspace_id: "w1" });
  const gone = await t.identity.keys.create(t.root, { user_id: "u", workspace_id: "w1" });
  await t.identity.keys.revoke(t.root, gone.key_id);
  await t.restart();
  expect((await t.by(kept.key)).caller.scope.tenant).toBe("w1");
  await failure(t.by(gone.key), "UNAUTHENTICATED");
  expect((await t.identity.workspaces.list(t.root)).items.map(({ workspace_id }) => workspace_id)).toEqual([
    "default",
    "w1",
  ]);
});

describe("what a new key may say", () => {
  it.each([
    ["no user", {}, "user_id"],
    ["a user with a line break", { user_id: "a\nb" }, "user id"],
    ["an unknown role", { user_id: "u", role: "owner" }, "role"],
    ["groups that are no list", { user_id: "u", groups: "g" }, "groups"],
    ["201 groups", { user_id: "u", groups: Array.from({ length: 201 }, (_, i) => `g${i}`) }, "groups"],
    ["a name with a control character", { user_id: "u", name: "a\u0000" }, "name"],
    ["a name one too long", { user_id: "u", name: "n".repeat(identityLimits.keyNameCharsMax + 1) }, "name"],
    ["a time that is none", { user_id: "u", expires_at: "tomorrow" }, "expires_at"],
    ["a time that is now", { user_id: "u", expires_at: "2030-01-01T00:00:00.000Z" }, "expires_at"],
    [
      "a time one ms too far",
      { user_id: "u", expires_at: new Date(Date.UTC(2030, 0, 1) + identityLimits.keyLifetimeMsMax + 1).toISOString() },
      "expires_at",
    ],
    ["unknown scopes", { user_id: "u", scopes: ["admin"] }, "scopes"],
    ["no scopes", { user_id: "u", scopes: [] }, "scopes"],
    ["a scope to write only", { user_id: "u", scopes: ["write"] }, "scopes"],
    ["an unknown field", { user_id: "u", rolle: "admin" }, "rolle"],
    ["a workspace of the system", { user_id: "u", workspace_id: "pinakes.identity" }, "pinakes."],
    ["a workspace that is no name", { user_id: "u", workspace_id: "a/b" }, "tenant"],
    ["a workspace that is no text", { user_id: "u", workspace_id: 5 }, "workspace_id"],
    ["nothing", null, "user_id"],
  ])("not %s", async (_, input, named) => {
    await using t = await testIdentity();
    expect((await failure(t.identity.keys.create(t.root, input as never), "INVALID")).detail).toContain(named);
    expect((await t.identity.keys.list(t.root)).items).toEqual([]);
    expect((await t.identity.workspaces.list(t.root)).items).toHaveLength(1);
  });

  it("the longest name, the farthest end and 200 groups are taken", async () => {
    await using t = await testIdentity();
    const groups = Array.from({ length: 200 }, (_, i) => `g${i}`);
    const expires_at = new Date(t.clock.now() + identityLimits.keyLifetimeMsMax).toISOString();
    const made = await t.identity.keys.create(t.root, {
      user_id: "u",
      name: "n".repeat(identityLimits.keyNameCharsMax),
      groups,
      expires_at,
    });
    expect(made.expires_at).toBe(expires_at);
    expect((await t.by(made.key)).caller.groups).toHaveLength(200);
  });

  it("a read-only key is marked, and manages no keys even as an admin's", async () => {
    await using t = await testIdentity();
    const made = await t.identity.keys.create(t.root, { user_id: "u", role: "admin", scopes: ["read"] });
    expect(made.scopes).toEqual(["read"]);
    const auth = await t.by(made.key);
    expect(auth.readOnly).toBe(true);
    expect(t.identity.me(auth).read_only).toBe(true);
    await failure(t.identity.keys.create(auth, { user_id: "u" }), "FORBIDDEN");
    await failure(t.identity.keys.revoke(auth, made.key_id), "FORBIDDEN");
    expect((await t.identity.keys.list(auth)).items).toHaveLength(1);
    const writer = await t.by((await t.identity.keys.create(t.root, { user_id: "u", scopes: ["read", "write"] })).key);
    expect(writer.readOnly).toBeUndefined();
  });
});

it("a workspace has 10,000 keys and not one more; another workspace is not in its way", async () => {
  await using t = await testIdentity();
  const document = {
    secret_sha256: "a".repeat(64),
    workspace_id: "w1",
    user_id: "u",
    groups: [],
    role: "user",
    name: null,
    read_only: false,
  };
  const times = {
    created_at: "2030-01-01T00:00:00.000Z",
    created_by: "root",
    expires_at: null,
    last_used_at: null,
    ttl: -1,
  };
  for (let i = 0; i < identityLimits.keysPerWorkspaceMax - 2; i += 1) {
    const id = i.toString(16).padStart(20, "0");
    await t.items.write(identityScope, "identity-keys", [id], {
      op: "create",
      document: { id, ...document, ...times },
    });
  }
  // Made at once, they take turns, so none slips past the count.
  const outcomes = await Promise.allSettled(
    Array.from({ length: 5 }, () => t.identity.keys.create(t.root, { user_id: "u", workspace_id: "w1" })),
  );
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
  await failure(t.identity.keys.create(t.root, { user_id: "u", workspace_id: "w1" }), "LIMIT_EXCEEDED");
  await t.identity.keys.create(t.root, { user_id: "u", workspace_id: "w2" });
  await t.identity.keys.revoke(t.root, "0".repeat(20));
  await t.identity.keys.create(t.root, { user_id: "u", workspace_id: "w1" });
});

describe("reads and writes of authentication", () => {
  it("one read, and none while the key is cached; the last use is noted once a minute", async () => {
    await using t = await testIdentity();
    const made = await t.identity.keys.create(t.root, { user_id: "u" });
    let [reads, writes] = [0, 0];
    const items = around(t.items, {
      read: (...given) => ((reads += 1), t.items.read(...given)),
      write: (...given) => ((writes += 1), t.items.write(...given)),
    });
    const identity = await t.another({ items });
    const use = async () => {
      reads = writes = 0;
      await identity.authenticate({ bearer: made.key, safeMethod: true });
      const inCall = reads;
      await identity.close();
      return { inCall, writes };
    };
    expect(await use()).toEqual({ inCall: expect.any(Number) as number, writes: 1 });
    expect(await use()).toEqual({ inCall: 0, writes: 0 });
    t.clock.advance(identityLimits.cacheMsMax - 1);
    expect(await use()).toEqual({ inCall: 0, writes: 0 });
    t.clock.advance(1);
    expect(await use()).toEqual({ inCall: 1, writes: 0 });
    t.clock.advance(identityLimits.lastUsedEveryMs - identityLimits.cacheMsMax - 1);
    expect(await use()).toEqual({ inCall: 1, writes: 0 });
    t.clock.advance(1);
    expect((await use()).writes).toBe(1);
    expect((await t.identity.keys.list(t.root)).items[0]?.last_used_at).toBe(new Date(t.clock.now()).toISOString());
  });

  it("a note of the last use that cannot be written is logged and fails no call", async () => {
    await using t = await testIdentity();
    const made = await t.identity.keys.create(t.root, { user_id: "u" });
    const items = around(t.items, { write: () => Promise.reject(new Error("the disk is full")) });
    const identity = await t.another({ items });
    await identity.authenticate({ bearer: made.key, safeMethod: true });
    await identity.close();
    expect(t.lines.join("\n")).toContain("the disk is full");
  });

  it("a note of the last use never brings a revoked key back", async () => {
    await using t = await testIdentity();
    const made = await t.identity.keys.create(t.root, { user_id: "u" });
    const revoked = Promise.withResolvers<void>();
    const items = around(t.items, { write: (...given) => revoked.promise.then(() => t.items.write(...given)) });
    const slow = await t.another({ items });
    await slow.authenticate({ bearer: made.key, safeMethod: true });
    await t.identity.keys.revoke(t.root, made.key_id);
    revoked.resolve();
    await slow.close();
    expect(
      await t.items.read(identityScope, "identity-keys", { partition: [made.key_id], id: made.key_id }),
    ).toBeUndefined();
    expect(t.lines).toEqual([]);
  });

  it("R-LISA-50 a read that was under way when the key was revoked is not kept", async () => {
    await using t = await testIdentity();
    const made = await t.identity.keys.create(t.root, { user_id: "u" });
    const gate = Promise.withResolvers<void>();
    const began = Promise.withResolvers<void>();
    let held = false;
    const items = around(t.items, {
      async read(...given) {
        const item = await t.items.read(...given);
        if (held) {
          began.resolve();
          await gate.promise;
        }
        return item;
      },
    });
    const identity = await t.another({ items });
    held = true;
    const early = identity.authenticate({ bearer: made.key, safeMethod: true });
    await began.promise;
    held = false;
    const root: Authenticated = await identity.authenticate({
      bearer: "root-token-of-the-tests-0123456789abcdef",
      safeMethod: true,
    });
    await identity.keys.revoke(root, made.key_id);
    gate.resolve();
    await early; // It began before the revocation, so either answer is right.
    await failure(identity.authenticate({ bearer: made.key, safeMethod: true }), "UNAUTHENTICATED");
    await identity.close();
  });
});
