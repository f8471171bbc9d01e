import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { tenantScope } from "../../domain/scope.ts";
import type { StoredItem } from "../../items/item-engine.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import { openSqliteItems } from "./index.ts";
import { RecentReads, recentReadCharsMax, recentReadsMax } from "./recent-reads.ts";

const dir = temporaryFolder("recent");

const item = (pk: string, idKey: string, json = "{}"): StoredItem => ({
  pk,
  idKey,
  etag: "e",
  modifiedAt: 1,
  ttl: null,
  json,
});
const keys = (pk: string, ...ids: string[]): { pk: string; idKey: string }[] => ids.map((idKey) => ({ pk, idKey }));

describe("recent reads", () => {
  it("answer the same question at the same version, and no other", () => {
    const recent = new RecentReads();
    const found = [item("p", "a"), undefined];
    recent.keep(7, "p", keys("p", "a", "b"), found);
    expect(recent.find(7, "p", keys("p", "a", "b"))).toBe(found);
    expect(recent.find(8, "p", keys("p", "a", "b"))).toBeUndefined();
    expect(recent.find(7, "q", keys("q", "a", "b"))).toBeUndefined();
    expect(recent.find(7, "p", keys("p", "b", "a"))).toBeUndefined();
    expect(recent.find(7, "p", keys("p", "a"))).toBeUndefined();
  });

  it("keep as many partitions as the limit; one more evicts the oldest", () => {
    const recent = new RecentReads();
    const names = Array.from({ length: recentReadsMax + 1 }, (_, i) => `p${i}`);
    for (const pk of names.slice(0, recentReadsMax)) recent.keep(1, pk, keys(pk, "a"), [item(pk, "a")]);
    expect(names.slice(0, recentReadsMax).every((pk) => recent.find(1, pk, keys(pk, "a")) !== undefined)).toBe(true);
    const last = names.at(-1) as string;
    recent.keep(1, last, keys(last, "a"), [item(last, "a")]);
    expect(recent.find(1, "p0", keys("p0", "a"))).toBeUndefined();
    expect(recent.find(1, "p1", keys("p1", "a"))).toBeDefined();
  });

  it("keep texts up to the limit, and evict the earlier answer if the new one is longer", () => {
    const recent = new RecentReads();
    recent.keep(1, "p", keys("p", "a", "b"), [
      item("p", "a", "x".repeat(recentReadCharsMax - 2)),
      item("p", "b", "{}"),
    ]);
    expect(recent.find(1, "p", keys("p", "a", "b"))).toBeDefined();
    recent.keep(1, "p", keys("p", "a", "b"), [
      item("p", "a", "x".repeat(recentReadCharsMax - 1)),
      item("p", "b", "{}"),
    ]);
    expect(recent.find(1, "p", keys("p", "a", "b"))).toBeUndefined();
  });
});

const scope = tenantScope("acme");
const wanted = ["a", "b", "c"].map((id) => ({ partition: ["p"], id }));

async function values(store: ItemStore): Promise<unknown[]> {
  return (await store.readMany(scope, "state", wanted)).map((found) => found?.document["n"]);
}

describe("reading a few items of a SQLite file again and again", () => {
  it("shows every acknowledged write at once: of this store, of another one on the same file, and of another process", async () => {
    const [one, two] = [await openSqliteItems({ dir }), await openSqliteItems({ dir })];
    for (const store of [one, two]) await store.openContainer({ name: "state", partitionKey: ["p"] });
    const script = join(dir, "other.ts");
    writeFileSync(
      script,
      `import { tenantScope } from ${JSON.stringify(new URL("../../domain/scope.ts", import.meta.url).href)};
       import { openSqliteItems } from ${JSON.stringify(new URL("./index.ts", import.meta.url).href)};
       const store = await openSqliteItems({ dir: ${JSON.stringify(dir)} });
       await store.openContainer({ name: "state", partitionKey: ["p"] });
       process.on("message", async (document) => {
         await store.write(tenantScope("acme"), "state", ["p"], { op: "upsert", document });
         process.send("written");
       });
       process.send("ready");`,
    );
    const other = fork(script);
    await once(other, "message");
    const writers = [
      (document: { id: string; p: string; n: number }) => one.write(scope, "state", ["p"], { op: "upsert", document }),
      (document: { id: string; p: string; n: number }) => two.write(scope, "state", ["p"], { op: "upsert", document }),
      async (document: { id: string; p: string; n: number }) => {
        other.send(document);
        await once(other, "message");
      },
    ];
    const expected: unknown[] = [undefined, undefined, undefined];
    for (let n = 0; n < 60; n += 1) {
      expect(await values(one)).toEqual(expected);
      expect(await values(two)).toEqual(expected);
      await writers[n % 3]?.({ id: wanted[(n * 7) % 3]?.id as string, p: "p", n });
      expected[(n * 7) % 3] = n;
      for (let again = 0; again < 3; again += 1)
        expect([await values(one), await values(two)]).toEqual([expected, expected]);
    }
    await one.write(scope, "state", ["p"], { op: "delete", id: "b" });
    expect((await values(two))[1]).toBeUndefined();
    other.kill();
    await Promise.all([one.close(), two.close()]);
  });

  it("respects expiry by the clock, whatever is cached", async () => {
    const clock = { at: 1_000_000, now: () => clock.at };
    await using store = await openSqliteItems({ dir, clock });
    await store.openContainer({ name: "brief", partitionKey: ["p"], ttl: -1 });
    await store.write(scope, "brief", ["p"], { op: "create", document: { id: "a", p: "p", n: 1, ttl: 10 } });
    const read = async (): Promise<unknown> => (await store.readMany(scope, "brief", wanted))[0]?.document["n"];
    expect([await read(), await read()]).toEqual([1, 1]);
    clock.at += 10_001;
    expect(await read()).toBeUndefined();
  });
});
