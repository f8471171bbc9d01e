/** Pages of any query on every engine, while others write; and cursors that are not ours. */
import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../src/domain/json.ts";
import { tenantScope } from "../../src/domain/scope.ts";
import type { CursorTokens } from "../../src/sql/index.ts";
import { container, definition, Documents, refusal } from "./support/container.ts";
import { engineNames, engines } from "./support/engines.ts";

const store = engines({
  ...container,
  indexes: { ...container.indexes, byWorkspace: { partition: ["workspace_id"], sort: ["created_at"] } },
});

function document(i: number): JsonObject {
  const tags = [{ t: 1 }, { t: 2 }, { t: 3 }];
  return {
    id: `i${String(i).padStart(3, "0")}`,
    p: `p${i % 3}`,
    w: i % 2 === 0 ? "a" : "b",
    n: i % 7,
    s: `s${i % 4}`,
    free: i % 5,
    tags,
  };
}
const count = 60;
const staying = Array.from({ length: count }, (_, i) => document(i));

describe.each(engineNames)("on %s", (name) => {
  it("R-AGT-57 SELECT * FROM c WHERE c.workspace_id = @workspace_id runs paged, by the index of the workspace", async () => {
    const docs = new Documents(store(name));
    const mine = Array.from({ length: 23 }, (_, i): JsonObject => ({
      id: `m${i}`,
      p: `p${i % 3}`,
      workspace_id: "w1",
      created_at: `2030-01-${String(i + 1).padStart(2, "0")}`,
    }));
    await docs.put([
      ...mine,
      { id: "other", p: "p0", workspace_id: "w2", created_at: "2030-01-01" },
      { id: "none", p: "p0" },
    ]);
    const indexes = { ...definition.indexes, byWorkspace: { partition: ["workspace_id"], sort: ["created_at"] } };
    const query = "SELECT * FROM c WHERE c.workspace_id = @workspace_id";
    const options = { limit: 5, parameters: { "@workspace_id": "w1" }, definition: { ...definition, indexes } };
    expect(await docs.walk(query, options)).toEqual(mine);
    const page = await docs.run(query, options);
    expect(page.items).toHaveLength(5);
    expect(page.stats).toMatchObject({ index: "byWorkspace", rows_examined: 5 });
    expect(page.advice).toBeUndefined();
    // Without that index it runs all the same, over the index that holds every item, and says what would help.
    const scanned = await docs.run(query, { ...options, definition });
    expect(scanned.stats).toMatchObject({ index: "all" });
    expect(scanned.advice).toContain('{ partition: ["workspace_id"], sort: [] }');
    expect((await docs.walk(query, { ...options, definition })).toSorted(byId)).toEqual(mine.toSorted(byId));
  });

  const walks: Readonly<Record<string, string>> = {
    "by an index": "SELECT VALUE c.id FROM c WHERE c.w = 'a' ORDER BY c.n",
    "by an index turned around": "SELECT VALUE c.id FROM c WHERE c.w = 'a' ORDER BY c.n DESC",
    "of one partition": "SELECT VALUE c.id FROM c WHERE c.p = 'p1'",
    "over several partitions": "SELECT VALUE c.id FROM c WHERE c.p IN ('p0', 'p2')",
    "over several partitions in order": "SELECT VALUE c.id FROM c WHERE c.p IN ('p0', 'p2') ORDER BY c.n",
    "over all partitions in an order without an index": "SELECT VALUE c.id FROM c ORDER BY c.free DESC, c.s",
    "with a filter on the documents": "SELECT VALUE c.id FROM c WHERE c.free > 1 AND c.s != 's0'",
    "of rows that JOIN makes": "SELECT VALUE {id: c.id, t: t.t} FROM c JOIN t IN c.tags WHERE c.w = 'b'",
    "of rows that JOIN makes, in order":
      "SELECT VALUE {id: c.id, t: t.t} FROM c JOIN t IN c.tags ORDER BY c.free, t.t DESC",
    "of groups": "SELECT VALUE {k: c.id} FROM c GROUP BY c.id",
    "of distinct values": "SELECT DISTINCT VALUE c.id FROM c",
  };

  it.each(Object.entries(walks))(
    "R-AGT-60 a walk %s loses and doubles nothing that stays put while others write",
    async (_, query) => {
      const docs = new Documents(store(name));
      await docs.put(staying);
      const expected = await docs.walk(query, { limit: 1_000 });
      expect(expected.length).toBeGreaterThan(5);
      const found: JsonValue[] = [];
      let cursor: string | undefined;
      let pages = 0;
      do {
        const page = await docs.run(query, { limit: 7, cursor });
        found.push(...page.items);
        cursor = page.cursor;
        // The index of this query has shown them now.
        docs.sessions = [];
        // Between the pages others come, everywhere in the order, change and go.
        const guests = Array.from({ length: 5 }, (__, i): JsonObject => ({
          ...document((pages * 13 + i * 7) % count),
          id: `i${String((pages * 11 + i * 17) % count).padStart(3, "0")}-guest-${pages}`,
        }));
        await docs.put(guests);
        await docs.remove(guests[0]?.["p"] as string, guests[0]?.["id"] as string);
        await docs.put([{ ...(guests[1] as JsonObject), n: 99, free: 99 }]);
        pages += 1;
      } while (cursor !== undefined && pages < 200);
      expect(cursor).toBeUndefined();
      const own = found.filter((item) => !JSON.stringify(item).includes("guest"));
      expect(own.map((item) => JSON.stringify(item)).toSorted()).toEqual(
        expected.map((item) => JSON.stringify(item)).toSorted(),
      );
    },
  );

  it("R-AGT-60 a walk whose page ends inside a document goes on there, also when another comes before it", async () => {
    const docs = new Documents(store(name));
    await docs.put([document(0), document(3)]);
    const query = "SELECT VALUE {id: c.id, t: t.t} FROM c JOIN t IN c.tags WHERE c.p = 'p0'";
    const first = await docs.run(query, { limit: 1 });
    expect(first.items).toEqual([{ id: "i000", t: 1 }]);
    await docs.put([{ ...document(0), id: "a-new-one" }]);
    const rest: JsonValue[] = [...first.items, ...(await docs.walk(query, { limit: 1, cursor: first.cursor }))];
    const own = rest.filter((item) => (item as JsonObject)["id"] !== "a-new-one");
    expect(own).toEqual(["i000", "i003"].flatMap((id) => [1, 2, 3].map((t) => ({ id, t }))));
    await docs.remove("p0", "i000");
    const after = await docs.run(query, { limit: 100, cursor: first.cursor });
    expect(after.items.filter((item) => (item as JsonObject)["id"] === "i003")).toHaveLength(3);
  });
});

function byId(a: JsonValue, b: JsonValue): number {
  return String((a as JsonObject)["id"]).localeCompare(String((b as JsonObject)["id"]));
}

describe("a cursor", () => {
  const queries = [
    "SELECT * FROM c WHERE c.w = @w ORDER BY c.n",
    "SELECT * FROM c WHERE c.w = @w ORDER BY c.free",
    "SELECT DISTINCT VALUE c.id FROM c WHERE c.w = @w",
  ];

  it.each(queries)("R-AGT-60 of %s is refused when it was modified, truncated, or belongs elsewhere", async (query) => {
    const docs = new Documents(store("memory"));
    await docs.put(staying);
    const options = { limit: 3, parameters: { w: "a" } };
    const { cursor } = await docs.run(query, options);
    const token = cursor as string;
    expect((await docs.run(query, { ...options, cursor: token })).items).toHaveLength(3);
    for (const at of [0, Math.floor(token.length / 2), token.length - 2]) {
      const changed = `${token.slice(0, at)}${token[at] === "A" ? "B" : "A"}${token.slice(at + 1)}`;
      expect(await refusal(docs.run(query, { ...options, cursor: changed }))).toMatch(/The cursor is not valid here/);
    }
    expect(await refusal(docs.run(query, { ...options, cursor: token.slice(0, -4) }))).toMatch(
      /The cursor is not valid here/,
    );
    expect(await refusal(docs.run(query, { ...options, cursor: "" }))).toMatch(/The cursor is not valid here/);
    expect(await refusal(docs.run(query, { ...options, cursor: token, key: new Uint8Array(32) }))).toMatch(
      /The cursor is not valid here/,
    );
    expect(await refusal(docs.run(query, { ...options, cursor: token, parameters: { w: "b" } }))).toMatch(
      /belongs to another query/,
    );
    expect(await refusal(docs.run(`${query} `, { ...options, cursor: token }))).toMatch(/belongs to another query/);
    expect(await refusal(docs.run(query, { ...options, cursor: token, partition: ["p0"] }))).toMatch(
      /belongs to another query/,
    );
    expect(
      await refusal(docs.run(query, { ...options, cursor: token, definition: { ...definition, name: "others" } })),
    ).toMatch(/belongs to another query/);
    const other = new Documents(store("memory"), tenantScope("somebody-else"));
    expect(await refusal(other.run(query, { ...options, cursor: token }))).toMatch(/belongs to another query/);
  });

  it("goes on with its own plan when indexes are added, and is refused when its index is gone", async () => {
    const docs = new Documents(store("memory"));
    await docs.put(staying);
    const query = "SELECT VALUE c.id FROM c WHERE c.w = 'a' ORDER BY c.n";
    const { all, byN, byW } = definition.indexes as Record<string, never>;
    const few = { ...definition, indexes: { all, byN } as never };
    const more = { ...definition, indexes: { all, byN, byW } as never };
    const first = await docs.run(query, { limit: 4, definition: few });
    expect(first.stats.index).toBe("byN");
    const second = await docs.run(query, { limit: 100, definition: more, cursor: first.cursor });
    expect(second.stats.index).toBe("byN");
    expect([...first.items, ...second.items]).toHaveLength(30);
    expect(
      await refusal(
        docs.run(query, { definition: { ...definition, indexes: { all } as never }, cursor: first.cursor }),
      ),
    ).toMatch(/index that was removed/);
  });

  it("keeps the moment of the first page", async () => {
    const docs = new Documents(store("memory"));
    await docs.put(staying);
    const query = "SELECT VALUE GetCurrentTimestamp() FROM c WHERE c.p = 'p0' AND c.n < GetCurrentTimestamp()";
    const first = await docs.run(query, { limit: 1, now: 1_000 });
    expect(first.items).toEqual([1_000]);
    expect((await docs.run(query, { limit: 1, now: 2_000, cursor: first.cursor })).items).toEqual([1_000]);
  });

  it("is sealed by the caller's tokens where there are some, and needs them or a key", async () => {
    const docs = new Documents(store("memory"));
    await docs.put(staying);
    const sealed = new Map<string, JsonObject>();
    const tokens: CursorTokens = {
      seal: (payload) => {
        sealed.set(`token-${sealed.size}`, payload);
        return `token-${sealed.size - 1}`;
      },
      open: (token) => sealed.get(token) ?? {},
    };
    expect(await docs.walk("SELECT VALUE c.id FROM c ORDER BY c.free", { limit: 7, tokens })).toHaveLength(count);
    expect(sealed.size).toBe(8);
    expect(await refusal(docs.run("SELECT * FROM c", { limit: 7, key: undefined }))).toMatch(/tokens or a key/);
    expect(await refusal(docs.run("SELECT * FROM c", { cursor: "forged", tokens }))).toMatch(
      /belongs to another query/,
    );
  });
});
