/** The log itself on the engines: group commit, several processes, sealing, proofs, exports, anonymous subjects. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { open, type Pinakes } from "../../src/open.ts";
import { AuditApi } from "../../src/governance/audit-log/audit-api.ts";
import type { AuditLog } from "../../src/governance/audit-log/audit-log.ts";
import { leafHash, provesConsistency, provesInclusion } from "../../src/governance/audit-log/merkle.ts";
import { verifyExport } from "../../src/governance/audit-log/verify-export.ts";
import { useServers } from "../support/servers.ts";
import { itemsOf } from "../../src/runtime/pages.ts";
import { admin, event, exportOf, openAudit, verified } from "./support/audit-logs.ts";

const { postgres, dynamo } = useServers();
const bytes = (text: string) => Buffer.from(text, "base64");

describe.each([
  ["SQLite", () => undefined],
  ["PostgreSQL", () => postgres()],
  ["DynamoDB", () => dynamo("audit")],
])("the audit log on %s", (_, address) => {
  let dir: string;
  let pinakes: Pinakes;
  let audit: AuditLog;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "pinakes-audit-"));
    pinakes = await open({ dir, items: address(), objects: "memory:", background: false });
    audit = await openAudit(pinakes.items);
  });
  afterAll(async () => {
    await audit.close();
    await pinakes.close();
    await rm(dir, { recursive: true, force: true });
  });

  it("entries of two processes get one index each, without gap, and the tree verifies before and after sealing", async () => {
    const auth = admin("two");
    const other = await openAudit(pinakes.items);
    const indexes = await Promise.all(
      Array.from({ length: 600 }, (_unused, i) =>
        (i % 2 === 0 ? audit : other).append(auth.caller.scope, event({ fields: { jid: `job-${i}` } })),
      ),
    );
    expect(indexes.toSorted((a, b) => (a as number) - (b as number))).toEqual(indexes.map((_unused, i) => i));
    const before = await verified(audit, auth);
    expect(before).toMatchObject({ ok: true, export: { size: 600, first: 0, end: 600, trusted: false } });
    await Promise.all([audit.seal(auth.caller.scope), other.seal(auth.caller.scope)]);
    const after = await verified(other, auth);
    expect(after.bytes.equals(before.bytes)).toBe(true);
    await other.close();
    await audit.append(auth.caller.scope, event());
    expect(await verified(audit, auth)).toMatchObject({ ok: true, export: { size: 601 } });
  });

  it("inclusion and consistency are proven against checkpoints, across sealed and open entries", async () => {
    const auth = admin("proofs");
    const api = new AuditApi(audit);
    const heads = [];
    for (const count of [3, 250, 4, 260]) {
      await Promise.all(Array.from({ length: count }, () => audit.append(auth.caller.scope, event())));
      heads.push(await api.checkpoint(auth));
    }
    await audit.seal(auth.caller.scope);
    const last = heads.at(-1) as (typeof heads)[number];
    const tree = { size: last.size, root: bytes(last.root) };
    for (const index of [0, 2, 255, 256, 511, 512, 516]) {
      const { leaf, hashes } = await api.inclusion(auth, { index });
      expect(provesInclusion({ ...tree, index }, leafHash(Buffer.from(leaf)), hashes.map(bytes))).toBe(true);
    }
    for (const head of heads) {
      const { hashes } = await api.consistency(auth, { from: head.size });
      expect(provesConsistency({ size: head.size, root: bytes(head.root) }, tree, hashes.map(bytes))).toBe(true);
    }
    await expect(api.inclusion(auth, { index: 517 })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(api.consistency(auth, { from: 600 })).rejects.toMatchObject({ code: "INVALID" });
    const part = await exportOf(audit, auth, { first: 100, end: 300, format: "csv" });
    expect(await verifyExport([part])).toMatchObject({ ok: true, export: { first: 100, end: 300, size: 517 } });
  });

  it("a forgotten subject is anonymous: its tokens lead to nobody, its address is gone, and the tree verifies", async () => {
    const auth = admin("forget");
    const api = new AuditApi(audit);
    const [ann, bob] = [
      event({ userId: "ann@example.com" }),
      event({ userId: "bob@example.com", fields: { aid: "a1" } }),
    ];
    for (const one of [ann, bob, ann]) await audit.append(auth.caller.scope, one);
    const stored = await exportOf(audit, auth);
    for (const secret of ["ann@example.com", "192.0.2.7", "curl", "papers"])
      expect(stored.includes(secret)).toBe(false);
    const { items } = await api.list(auth, { actor: "ann@example.com" });
    expect(items).toMatchObject([{ index: 2 }, { index: 0, actor: { id: "ann@example.com" }, ip: "192.0.2.7" }]);
    expect(items[0]?.ids).toEqual({ repository: "kb", collection: "kb/papers" });
    expect(await audit.forgetSubject(auth.caller.scope, { kind: "user", id: "ann@example.com" })).toBe(true);
    expect(await audit.forgetSubject(auth.caller.scope, { kind: "user", id: "ann@example.com" })).toBe(false);
    const after = await api.list(auth);
    expect(after.items.map(({ actor, ip }) => [actor.id, ip])).toEqual([
      [null, null],
      ["bob@example.com", "192.0.2.7"],
      [null, null],
    ]);
    expect((await api.list(auth, { actor: "ann@example.com" })).items).toEqual([]);
    expect((await verified(audit, auth)).bytes.equals(stored)).toBe(true);
    const { items: salts } = await pinakes.items.query(audit.scopeOf("forget"), "audit-subjects", {
      equals: { subjects: "subjects" },
    });
    expect(JSON.stringify(salts)).not.toContain("ann@example.com");
    // The same user, seen again, is somebody new.
    await audit.append(auth.caller.scope, ann);
    const [again] = (await api.list(auth, { actor: "ann@example.com" })).items;
    expect(again?.actor.token).not.toBe(items[0]?.actor.token);
  });

  it("lists are filtered and paged newest first, and end", async () => {
    const auth = admin("lists");
    const api = new AuditApi(audit);
    for (let i = 0; i < 30; i += 1)
      await audit.append(
        auth.caller.scope,
        event({
          userId: i % 3 === 0 ? "ann" : "bob",
          outcome: i % 5 === 0 ? "denied" : "ok",
          action: i % 2 === 0 ? "deleteDocument" : "createKey",
          fields: { rid: "kb", cid: `c${i % 4}` },
        }),
      );
    const walk = async (query: object) => {
      return Array.fromAsync(
        itemsOf((cursor) => api.list(auth, { ...query, limit: 4, cursor })),
        ({ index }) => index,
      );
    };
    const all = Array.from({ length: 30 }, (_unused, i) => 29 - i);
    expect(await walk({})).toEqual(all);
    expect(await walk({ actor: "ann", outcome: "denied" })).toEqual([15, 0]);
    expect(await walk({ action: "createKey", resource: "kb/c1" })).toEqual(all.filter((i) => i % 4 === 1));
    expect(await walk({ resource: "kb" })).toEqual(all);
    expect(await walk({ actor: "nobody" })).toEqual([]);
    const at = (await api.list(auth, { limit: 1 })).items[0]?.at as string;
    expect(await walk({ to: "2020-01-01T00:00:00Z" })).toEqual([]);
    expect(await walk({ from: new Date(Date.parse(at) + 1).toISOString() })).toEqual([]);
    await expect(api.list(auth, { limit: 501 })).rejects.toMatchObject({ code: "INVALID" });
    await expect(api.list(auth, { cursor: "0" })).rejects.toMatchObject({ code: "INVALID" });
    await expect(api.list(auth, { from: "soon" })).rejects.toMatchObject({ code: "INVALID" });
  });

  it("a log that was truncated or edited below its last checkpoint is never signed again", async () => {
    const auth = admin("tampered");
    const scope = audit.scopeOf("tampered");
    for (let i = 0; i < 3; i += 1) await audit.append(scope, event());
    await audit.checkpoints.sign(scope);
    const other = await openAudit(pinakes.items);
    const partition = { log: "log" } as const;
    const head = await other.items.read(scope, { ...partition, id: "head" });
    const { _etag, _ts, ...document } = head as Record<string, unknown> & { id: string };
    const edited = { ...document, size: 2, frontier: (document["frontier"] as string[]).slice(0, 1) };
    await pinakes.items.write(scope, "audit-log", ["log"], { op: "replace", document: edited });
    await expect(other.checkpoints.sign(scope)).rejects.toMatchObject({ code: "CORRUPT" });
    await expect(exportOf(other, auth)).rejects.toMatchObject({ code: "CORRUPT" });
    await other.close();
  });
});
