/** The work registry: no entry is lost, and entries are not confused with each other. */
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { systemScope, tenantScope } from "../domain/scope.ts";
import { openMemoryItems } from "../drivers/memory/index.ts";
import type { ItemStore } from "../ports/item-store.ts";
import { workPlace } from "./work-registry-shards.ts";
import { WorkRegistry, workContainer, type RegisteredWork, type WorkFields } from "./work-registry.ts";

const system = systemScope("tests of the work registry", () => {});
const tenant = "pinakes.test";
const container = "test-work";
let items: ItemStore;

async function registry(fields: WorkFields = {}): Promise<WorkRegistry> {
  await items.openContainer(workContainer(container, fields));
  return new WorkRegistry({ items, system, container, tenant, fields });
}

/** The document itself, whatever the registry makes of it. */
async function stored(shard: string, id: string): Promise<unknown> {
  return (await items.read(system.forTenant(tenant), container, { partition: [shard], id }))?.document;
}

const names = (work: readonly RegisteredWork[]): string[] =>
  work.map(({ kind, tenant: of, key }) => `${kind} ${of} ${key}`);

beforeEach(async () => {
  items = await openMemoryItems();
});

describe("put and read", () => {
  it("an entry is read back with the data its worker needs; putting it again renews it", async () => {
    const work = await registry();
    const name = { kind: "purge", tenant: "acme", key: "papers" };
    expect(await work.read(name)).toBeUndefined();
    await work.put({ ...name, due_at: 5, data: { pages: [1, 2] } });
    const first = await work.read(name);
    expect(first).toEqual({ ...name, due_at: 5, data: { pages: [1, 2] }, etag: first?.etag });
    await work.put({ ...name, due_at: 7 });
    const second = await work.read(name);
    expect(second).toEqual({ ...name, due_at: 7, etag: second?.etag });
    expect(second?.etag).not.toBe(first?.etag);
  });

  it("ensure adds a missing entry, moves a later one forward, and leaves an equally early one", async () => {
    const work = await registry();
    const name = { kind: "purge", tenant: "acme", key: "papers" };
    await work.ensure({ ...name, due_at: 50 });
    const first = await work.read(name);
    expect(first?.due_at).toBe(50);
    await work.ensure({ ...name, due_at: 50 });
    await work.ensure({ ...name, due_at: 51 });
    expect(await work.read(name)).toEqual(first);
    await work.ensure({ ...name, due_at: 49 });
    expect((await work.read(name))?.due_at).toBe(49);
  });

  it("no caller's scope can access an entry", async () => {
    const work = await registry();
    const name = { kind: "purge", tenant: "acme", key: "papers" };
    await work.put({ ...name, due_at: 0 });
    const { shard, id } = workPlace(name);
    expect(await stored(shard, id)).toBeDefined();
    expect(await items.read(tenantScope("acme"), container, { partition: [shard], id })).toBeUndefined();
    expect(() => tenantScope(tenant)).toThrow(/reserved for the system/);
  });
});

describe("remove", () => {
  it("removes the entry that was read, but not one that was renewed since; a missing one is no error", async () => {
    const work = await registry();
    const name = { kind: "purge", tenant: "acme", key: "papers" };
    await work.put({ ...name, due_at: 1 });
    const old = (await work.read(name)) as RegisteredWork;
    await work.put({ ...name, due_at: 1 });
    await work.remove(old);
    const renewed = (await work.read(name)) as RegisteredWork;
    expect(renewed).toBeDefined();
    await work.remove(renewed);
    expect(await work.read(name)).toBeUndefined();
    await work.remove(renewed);
    // An entry that was recreated since is a different one.
    await work.put({ ...name, due_at: 1 });
    await work.remove(renewed);
    expect(await work.read(name)).toBeDefined();
  });

  it("an error of the store is rethrown", async () => {
    const work = await registry();
    await items.close();
    await expect(work.remove({ kind: "purge", tenant: "acme", key: "papers", etag: "x" })).rejects.toThrow(/closed/);
  });
});

describe("postpone", () => {
  it("reschedules the entry that was read, with its data, but not one that was renewed or removed since", async () => {
    const work = await registry({ key: "incarnation", dataBeside: true });
    const name = { kind: "purge", tenant: "acme", key: "papers" };
    await work.put({ ...name, due_at: 1, data: { pages: 2 } });
    const old = (await work.read(name)) as RegisteredWork;
    await work.postpone(old, 50);
    const later = (await work.read(name)) as RegisteredWork;
    expect(later).toEqual({ ...name, due_at: 50, data: { pages: 2 }, etag: later.etag });
    await work.postpone(old, 70);
    expect(await work.read(name)).toEqual(later);
    await work.remove(later);
    await work.postpone(later, 70);
    expect(await work.read(name)).toBeUndefined();
  });
});

describe("due", () => {
  it("finds what is due at that millisecond, of all tenants, the earliest first within a shard, and nothing later", async () => {
    const work = await registry();
    for (const [i, of] of ["acme", "zoo", "acme", "zoo"].entries())
      await work.put({ kind: "job", tenant: of, key: `k${i}`, due_at: 100 + i });
    const at = async (now: number) => names(await Array.fromAsync(work.due(now))).sort();
    expect(await at(99)).toEqual([]);
    expect(await at(100)).toEqual(["job acme k0"]);
    expect(await at(102)).toEqual(["job acme k0", "job acme k2", "job zoo k1"]);
    expect(await at(1_000)).toHaveLength(4);

    const many = Array.from({ length: 200 }, (_, i) => ({
      kind: "sweep",
      tenant: "acme",
      key: `s${i}`,
      due_at: 1_000 + ((i * 71) % 200),
    }));
    for (const one of many) await work.put(one);
    const shards = Map.groupBy(await Array.fromAsync(work.due(5_000)), (entry) => workPlace(entry).shard);
    expect(shards.size).toBe(8);
    for (const entries of shards.values()) {
      const times = entries.map(({ due_at }) => due_at);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
    }
    expect(shards.values().reduce((sum, entries) => sum + entries.length, 0)).toBe(204);
  });

  it("continues after a page, and finds one more than a page has", async () => {
    const work = await registry();
    const keys: string[] = [];
    for (let i = 0; keys.length < 501; i += 1)
      if (workPlace({ kind: "job", tenant: "acme", key: `k${i}` }).shard === "3") keys.push(`k${i}`);
    for (const key of keys) await work.put({ kind: "job", tenant: "acme", key, due_at: 0 });
    const found = await Array.fromAsync(work.due(0), ({ key }) => key);
    expect(found.sort()).toEqual(keys.sort());
  });
});

describe("names", () => {
  it("no two names have the same id: a key may contain colons, a tenant and a kind never do", () => {
    // Few letters, so that many pairs would collide.
    const word = fc.stringMatching(/^[a.]{1,2}$/);
    const name = fc.record({ kind: word, tenant: word, key: fc.stringMatching(/^[a:]{0,4}$/) });
    fc.assert(
      fc.property(name, name, (a, b) => {
        const same = a.kind === b.kind && a.tenant === b.tenant && a.key === b.key;
        expect(workPlace(a).id === workPlace(b).id).toBe(same);
      }),
    );
    expect(workPlace({ kind: "a", tenant: "b", key: "c:d" }).id).toBe("a:b:c:d");
    // Each of these would have that id, too.
    for (const other of [
      { kind: "a", tenant: "b:c", key: "d" },
      { kind: "a:b", tenant: "c", key: "d" },
    ])
      expect(() => workPlace(other)).toThrow(/colon|not a valid tenant name/);
    expect(() => tenantScope("b:c")).toThrow();
  });

  it("an empty kind or tenant is rejected before anything is written", async () => {
    const work = await registry();
    await expect(work.put({ kind: "", tenant: "acme", key: "k", due_at: 0 })).rejects.toMatchObject({
      code: "INTERNAL",
    });
    await expect(work.put({ kind: "job", tenant: "", key: "k", due_at: 0 })).rejects.toMatchObject({
      code: "INTERNAL",
    });
    expect(await Array.fromAsync(work.due(0))).toEqual([]);
  });
});

describe("names of fields that older containers have", () => {
  const older: WorkFields = { due: "not_before", key: "incarnation", dataBeside: true };
  const name = { kind: "documents", tenant: "acme", key: "i1" };
  const { shard, id } = workPlace(name);
  const document = {
    id,
    shard,
    kind: "documents",
    tenant: "acme",
    incarnation: "i1",
    not_before: 9,
    repository_id: "kb",
    marked_at: 3,
  };

  it("an entry that an older version wrote is found when it is due, and removed", async () => {
    const work = await registry(older);
    await items.write(system.forTenant(tenant), container, [shard], { op: "create", document });
    expect(await Array.fromAsync(work.due(8))).toEqual([]);
    const [found] = await Array.fromAsync(work.due(9));
    expect(found).toEqual({ ...name, due_at: 9, data: { repository_id: "kb", marked_at: 3 }, etag: found?.etag });
    await work.remove(found as RegisteredWork);
    expect(await stored(shard, id)).toBeUndefined();
  });

  it("an entry is written as the older version wrote it; its data never change its owner", async () => {
    const work = await registry(older);
    await work.put({
      ...name,
      due_at: 9,
      data: { repository_id: "kb", marked_at: 3, tenant: "zoo", incarnation: "i2", not_before: 1 },
    });
    expect(await stored(shard, id)).toEqual(document);
  });
});
