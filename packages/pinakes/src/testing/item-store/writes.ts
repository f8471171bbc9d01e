/** Single writes: create, replace, upsert, delete, etags, documents as sent. */
import { expect } from "vitest";
import { z } from "zod";
import { defineContainer } from "../../containers/index.ts";
import type { JsonObject } from "../../domain/json.ts";
import { failure, type Suite } from "./fixture.ts";

export const writes: Suite = (fixture) => {
  fixture.test(
    "R-AGT-05 an id is generated when absent, kept when sent, and unique within its partition only",
    async () => {
      const c = await fixture.container();
      const made = await c.write({ op: "create", document: { p: "a" } });
      expect(made.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(await c.read(made.id)).toEqual({ id: made.id, p: "a" });
      await c.write({ op: "create", document: { id: "msg-1", p: "a" } });
      const error = await failure(c.write({ op: "create", document: { id: "msg-1", p: "a" } }), "CONFLICT");
      expect(error.detail).toContain("msg-1");
      await c.write({ op: "create", document: { id: "msg-1", p: "b" } }, ["b"]);
    },
  );

  fixture.test(
    "R-AGT-04 every write makes a new etag that never repeats, and sets the time; values sent for them are ignored",
    async () => {
      const c = await fixture.container();
      const etags = new Set<string>();
      for (let i = 0; i < 20; i += 1) {
        fixture.clock.advance(5);
        const { etag, modifiedAt } = await c.write({
          op: "upsert",
          document: { id: "x", p: "a", _etag: "mine", _ts: 1, _rid: "r", i: 7 },
        });
        expect(modifiedAt).toBe(fixture.clock.now());
        etags.add(etag as string);
      }
      expect(etags.size).toBe(20);
      const item = await c.store.read(c.scope, c.name, { partition: ["a"], id: "x" });
      expect(item?.document).toEqual({ id: "x", p: "a", i: 7 });
      expect(etags.has(item?.etag as string)).toBe(true);
      expect(item?.modifiedAt).toBe(fixture.clock.now());
    },
  );

  fixture.test(
    "R-AGT-10 a document is returned as sent: key order, unknown properties, numbers, Unicode, nesting",
    async () => {
      const c = await fixture.container();
      const document: JsonObject = {
        zeta: 1,
        id: "doc",
        p: "a",
        alpha: { "10": "numeric keys", b: [1, [2, { c: null }]], "": "empty key", "a/b~c": true },
        numbers: [0, -1, 1e21, 1.5e-7, Number.MAX_SAFE_INTEGER, Number.MIN_VALUE, Number.MAX_VALUE],
        text: 'line\nquote" back\\slash \u0001 \ud83d\ude00 \u2028 ﷽ \\u0000',
        lone: "\ud800",
        empty: [{}, [], ""],
      };
      await c.write({ op: "create", document });
      const read = await c.read("doc");
      expect(JSON.stringify(read)).toBe(JSON.stringify(document));
      const raw = await c.store.readRaw(c.scope, c.name, { partition: ["a"], id: "doc" });
      expect(Buffer.from(raw?.bytes ?? []).toString("utf8")).toBe(JSON.stringify(document));
      expect(raw?.etag).toBe((await c.store.read(c.scope, c.name, { partition: ["a"], id: "doc" }))?.etag);
      expect((await c.query()).items[0]?.document).toEqual(document);
    },
  );

  fixture.test("a property named __proto__ is data like any other", async () => {
    const c = await fixture.container();
    const document = JSON.parse('{"id":"x","p":"a","__proto__":{"polluted":true},"constructor":1}') as JsonObject;
    await c.write({ op: "create", document });
    expect(JSON.stringify(await c.read("x"))).toBe(JSON.stringify(document));
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  fixture.test("replace needs the item, upsert does not, delete removes it once", async () => {
    const c = await fixture.container();
    await failure(c.write({ op: "replace", document: { id: "x", p: "a" } }), "NOT_FOUND");
    await c.write({ op: "upsert", document: { id: "x", p: "a", n: 1 } });
    await c.write({ op: "replace", document: { id: "x", p: "a", n: 2 } });
    expect(await c.read("x")).toEqual({ id: "x", p: "a", n: 2 });
    await c.write({ op: "delete", id: "x" });
    expect(await c.read("x")).toBeUndefined();
    await failure(c.write({ op: "delete", id: "x" }), "NOT_FOUND");
    await c.write({ op: "create", document: { id: "x", p: "a", n: 3 } });
    expect(await c.read("x")).toEqual({ id: "x", p: "a", n: 3 });
  });

  fixture.test(
    "R-AGT-52 a stale etag changes nothing and the error has the current one: replace, upsert, patch, delete",
    async () => {
      const c = await fixture.container();
      const first = await c.write({ op: "create", document: { id: "x", p: "a", n: 1 } });
      const second = await c.write({
        op: "replace",
        document: { id: "x", p: "a", n: 2 },
        ifMatch: first.etag as string,
      });
      const other = await c.write({ op: "create", document: { id: "y", p: "a" } });
      for (const stale of [first.etag as string, other.etag as string, "no-such-etag"]) {
        const attempts = [
          c.write({ op: "replace", document: { id: "x", p: "a", n: 9 }, ifMatch: stale }),
          c.write({ op: "upsert", document: { id: "x", p: "a", n: 9 }, ifMatch: stale }),
          c.write({ op: "patch", id: "x", patch: [{ op: "set", path: "/n", value: 9 }], ifMatch: stale }),
          c.write({ op: "delete", id: "x", ifMatch: stale }),
        ];
        for (const attempt of attempts)
          expect((await failure(attempt, "PRECONDITION_FAILED")).context.currentEtag).toBe(second.etag);
      }
      expect(await c.read("x")).toEqual({ id: "x", p: "a", n: 2 });
      await failure(c.write({ op: "upsert", document: { id: "new", p: "a" }, ifMatch: "e" }), "PRECONDITION_FAILED");
      await c.write({ op: "delete", id: "x", ifMatch: second.etag as string });
      expect(await c.read("x")).toBeUndefined();
    },
  );

  fixture.test("a condition on the document decides: replace, patch, delete with `where`", async () => {
    const c = await fixture.container();
    await c.put({ id: "x", status: "open", n: 1 });
    await failure(
      c.write({ op: "patch", id: "x", patch: [{ op: "incr", path: "/n", value: 1 }], where: { status: "closed" } }),
      "PRECONDITION_FAILED",
    );
    const patched = await c.write({
      op: "patch",
      id: "x",
      patch: [{ op: "incr", path: "/n", value: 1 }],
      where: { status: "open", n: { lt: 5 } },
    });
    expect(patched.document).toEqual({ id: "x", p: "a", status: "open", n: 2 });
    await failure(c.write({ op: "delete", id: "x", where: { n: { gt: 2 } } }), "PRECONDITION_FAILED");
    await failure(
      c.write({ op: "replace", document: { id: "x", p: "a" }, where: { not: { n: 2 } } }),
      "PRECONDITION_FAILED",
    );
    await c.write({ op: "delete", id: "x", where: { n: 2 } });
    expect(await c.read("x")).toBeUndefined();
  });

  fixture.test("create-only: of 20 parallel creates of one id exactly one wins", async () => {
    const c = await fixture.container();
    const attempts = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => c.write({ op: "create", document: { id: "x", p: "a", i } })),
    );
    const winners = attempts.flatMap((attempt, i) => (attempt.status === "fulfilled" ? [i] : []));
    expect(winners).toHaveLength(1);
    expect(await c.read("x")).toMatchObject({ i: winners[0] });
  });

  fixture.test("R-AGT-53 100 parallel increments end at exactly +100, by patch and by update()", async () => {
    const c = await fixture.container();
    await c.put({ id: "patched", n: 0 }, { id: "replaced", n: 0 });
    await Promise.all(
      Array.from({ length: 100 }, () =>
        c.write({ op: "patch", id: "patched", patch: [{ op: "incr", path: "/n", value: 1 }] }),
      ),
    );
    expect(await c.read("patched")).toMatchObject({ n: 100 });
    const counters = defineContainer({
      ...c.definition,
      partitionKey: ["p"],
      schema: z.looseObject({ id: z.string(), p: z.string(), n: z.number() }),
    });
    const repository = await counters.open(c.store);
    const increment = () =>
      repository.update(c.scope, { p: "a", id: "replaced" }, (document) => ({ ...document, n: document.n + 1 }));
    await Promise.all(Array.from({ length: 100 }, increment));
    expect(await c.read("replaced")).toMatchObject({ n: 100 });
  });

  fixture.test("readMany answers in the order of its keys, across partitions, with gaps and repeats", async () => {
    const c = await fixture.container();
    await c.put({ id: "1", v: 1 }, { id: "2", v: 2 }, { id: "1", p: "b", v: 3 });
    const keys = [
      ["b", "1"],
      ["a", "2"],
      ["a", "9"],
      ["a", "1"],
      ["a", "2"],
    ].map(([p, id]) => ({ partition: [p as string], id: id as string }));
    const items = await c.store.readMany(c.scope, c.name, keys);
    expect(items.map((item) => item?.document["v"])).toEqual([3, 2, undefined, 1, 2]);
    expect(await c.store.readMany(c.scope, c.name, [])).toEqual([]);
  });

  fixture.test(
    "R-AGT-06 the partition key has 1 to 3 paths; strings, numbers and booleans are distinct; it never changes",
    async () => {
      const c = await fixture.container({ partitionKey: ["p", "k.n", "/k/flag"] });
      const document = { id: "x", p: "a", k: { n: 1, flag: true }, v: 1 };
      await c.write({ op: "create", document }, ["a", 1, true]);
      await c.write({ op: "create", document: { ...document, k: { n: "1", flag: true }, v: 2 } }, ["a", "1", true]);
      expect(await c.read("x", ["a", 1, true])).toMatchObject({ v: 1 });
      expect(await c.read("x", ["a", "1", true])).toMatchObject({ v: 2 });
      expect(await c.read("x", ["a", 1, false])).toBeUndefined();
      const error = await failure(
        c.write({ op: "replace", document: { ...document, p: "b" } }, ["a", 1, true]),
        "INVALID",
      );
      expect(error.detail).toContain("partition key");
      await failure(
        c.write({ op: "patch", id: "x", patch: [{ op: "set", path: "/k/n", value: 2 }] }, ["a", 1, true]),
        "INVALID",
      );
      expect(await c.read("x", ["a", 1, true])).toEqual(document);
    },
  );

  fixture.test("similar partition values are distinct", async () => {
    const c = await fixture.container({ partitionKey: ["p", "q"] });
    const pairs: [string, string][] = [
      ["a,b", "c"],
      ["a", "b,c"],
      ['a","b', "c"],
      ["a", ""],
      ["", "a"],
      ["A", "a"],
      ["a ", "a"],
      ["a\\", "b"],
      ["é", "e\u0301"],
    ];
    for (const [i, [p, q]] of pairs.entries()) await c.write({ op: "create", document: { id: "x", p, q, i } }, [p, q]);
    for (const [i, [p, q]] of pairs.entries()) expect(await c.read("x", [p, q])).toMatchObject({ i });
    expect(await c.count({ equals: { p: "a", q: "b,c" } })).toBe(1);
  });
};
