/** Which way a query is read, what it costs, and what is refused with the name of the index to add. */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/domain/json.ts";
import type { ContainerDefinition } from "../../src/ports/item-store.ts";
import { explainQuery, type QueryDefinition, type QueryOptions } from "../../src/sql/index.ts";
import { sqlLimits } from "../../src/sql/limits.ts";
import { container, definition, Documents, refusal } from "./support/container.ts";
import { engineNames, engines } from "./support/engines.ts";

/** As agent memories have them: by session in time, and best first. */
const memories: QueryDefinition = {
  name: "docs",
  partitionKey: ["agent_id"],
  scanIndex: "all",
  indexes: {
    all: { partition: [], sort: ["id"] },
    bySession: { partition: ["agent_id"], sort: ["session_id", "timestamp"] },
    best: { partition: ["workspace_id", "agent_id"], sort: [{ path: "relevance_score", order: "desc" }] },
    byStatus: { partition: ["workspace_id"], sort: ["status", { path: "created_at", order: "desc" }] },
  },
};

const store = engines(container);
const explain = (
  query: string,
  options: QueryOptions = {},
  other: QueryDefinition = memories,
  items = store("memory"),
) => explainQuery({ items, container: "agent-memories", definition: other, query, options });
const refused = (query: string, options: QueryOptions = {}, other: QueryDefinition = memories) =>
  refusal(Promise.resolve().then(() => explain(query, options, other)));

describe("the plan", () => {
  it("reads the partition when its key is given, and looks up the id in it", () => {
    expect(explain("SELECT * FROM c WHERE c.agent_id = 'a'")).toMatchObject({
      mode: "stream",
      index: null,
      partition: "one",
      residual: false,
    });
    expect(explain("SELECT * FROM c WHERE c.agent_id = 'a' AND c.id = 'x'")).toMatchObject({
      index: null,
      lookedUp: ["agent_id", "id"],
      residual: false,
    });
    expect(explain("SELECT * FROM c WHERE c.agent_id = 'a' AND c.content = 'x'")).toMatchObject({
      index: null,
      residual: true,
      prefilter: true,
    });
    expect(explain("SELECT * FROM c WHERE c.content = 'x'", { partition: ["a"] })).toMatchObject({
      index: null,
      partition: "one",
      lookedUp: ["agent_id"],
    });
  });

  it("takes the index that looks up more and has the order: a session in time, the best first", () => {
    const session = "SELECT * FROM c WHERE c.agent_id = @a AND c.session_id = @s ORDER BY c.timestamp";
    const parameters = { a: "a", s: "s", w: "w" };
    const request = { items: store("memory"), container: "agent-memories", definition: memories, parameters };
    expect(explainQuery({ ...request, query: session })).toMatchObject({
      mode: "stream",
      index: "bySession",
      orderServed: true,
      residual: false,
    });
    expect(explainQuery({ ...request, query: `${session} DESC` })).toMatchObject({
      mode: "stream",
      index: "bySession",
      orderServed: true,
    });
    const best = "SELECT TOP 5 * FROM c WHERE c.workspace_id = @w AND c.agent_id = @a ORDER BY c.relevance_score DESC";
    expect(explainQuery({ ...request, query: best })).toMatchObject({
      mode: "stream",
      index: "best",
      orderServed: true,
      residual: false,
    });
  });

  it("uses equality on a prefix and one range, and knows what is left to judge", () => {
    expect(
      explain("SELECT * FROM c WHERE c.workspace_id = 'w' AND c.status = 'open' AND c.created_at >= '2030'"),
    ).toMatchObject({
      index: "byStatus",
      lookedUp: ["workspace_id", "status", "created_at"],
      residual: false,
    });
    expect(explain("SELECT * FROM c WHERE c.workspace_id = 'w' AND c.created_at >= '2030'")).toMatchObject({
      index: "byStatus",
      lookedUp: ["workspace_id"],
      residual: true,
    });
    expect(explain("SELECT * FROM c WHERE c.workspace_id = 'w' AND STARTSWITH(c.status, 'o')")).toMatchObject({
      lookedUp: ["workspace_id", "status"],
      residual: false,
    });
    expect(explain("SELECT * FROM c WHERE c.workspace_id = 'w' AND c.status LIKE 'o%'")).toMatchObject({
      lookedUp: ["workspace_id", "status"],
      residual: true,
    });
  });

  it("reads several partitions for IN, merged where each is in order", () => {
    expect(explain("SELECT * FROM c WHERE c.agent_id IN ('a', 'b', 'a')")).toMatchObject({
      mode: "stream",
      partition: "several",
      ranges: 2,
    });
    expect(explain("SELECT * FROM c WHERE c.agent_id = 'a' OR c.agent_id = 'b'")).toMatchObject({
      partition: "several",
      ranges: 2,
    });
    expect(explain("SELECT * FROM c WHERE ARRAY_CONTAINS(['a', 'b', 'c'], c.agent_id)")).toMatchObject({
      partition: "several",
      ranges: 3,
    });
    expect(
      explain("SELECT * FROM c WHERE c.agent_id IN ('a', 'b') AND c.session_id = 's' ORDER BY c.timestamp"),
    ).toMatchObject({
      mode: "merge",
      index: "bySession",
      ranges: 2,
    });
    expect(
      explain("SELECT * FROM c WHERE c.workspace_id = 'w' AND c.status IN ('x', 'y') ORDER BY c.created_at DESC"),
    ).toMatchObject({
      mode: "merge",
      index: "byStatus",
      ranges: 2,
    });
    const many = (count: number) => Array.from({ length: count }, (_, i) => `'a${i}'`).join(", ");
    const merged = (count: number) =>
      explain(`SELECT * FROM c WHERE c.agent_id IN (${many(count)}) ORDER BY c.session_id, c.timestamp`).mode;
    expect(merged(sqlLimits.mergedPartitionsMax)).toBe("merge");
    expect(merged(sqlLimits.mergedPartitionsMax + 1)).toBe("sort");
    expect(explain(`SELECT * FROM c WHERE c.agent_id IN (${many(sqlLimits.partitionsMax)})`).index).toBeNull();
    expect(explain(`SELECT * FROM c WHERE c.agent_id IN (${many(sqlLimits.partitionsMax + 1)})`).index).toBe("all");
  });

  it("lets the engine count what an index decides alone, and knows what can never be true", () => {
    expect(explain("SELECT VALUE COUNT(1) FROM c WHERE c.workspace_id = 'w' AND c.status = 'open'")).toMatchObject({
      mode: "count",
      index: "byStatus",
    });
    expect(explain("SELECT VALUE COUNT(c.x) FROM c WHERE c.workspace_id = 'w'").mode).toBe("group");
    expect(explain("SELECT * FROM c WHERE c.agent_id = undefined").mode).toBe("empty");
    expect(explain("SELECT * FROM c WHERE c.agent_id = 'a' AND 1 = 2").mode).toBe("empty");
    expect(explain("SELECT * FROM c WHERE c.agent_id = 'a' AND 1 = 1")).toMatchObject({ index: null, residual: false });
  });

  it("never takes what the system adds for a stored property", () => {
    const byTs = {
      ...memories,
      systemProperties: true,
      indexes: { ...memories.indexes, byTs: { partition: ["_ts"], sort: [] } },
    };
    expect(explain("SELECT * FROM c WHERE c._ts = 5", {}, byTs)).toMatchObject({ index: "all", prefilter: false });
  });

  it("is strongly consistent where it can be: on an engine whose indexes are late, the partition wins unless ORDER BY needs an index", () => {
    const query = "SELECT * FROM c WHERE c.agent_id = 'a' AND c.session_id = 's'";
    expect(explain(query).index).toBe("bySession");
    expect(explain(query, {}, memories, store("dynamodb")).index).toBeNull();
    expect(explain(`${query} ORDER BY c.timestamp`, {}, memories, store("dynamodb")).index).toBe("bySession");
  });
});

describe("what no index serves", () => {
  it("R-AGT-59 ORDER BY of two properties is answered with advice, and in strict mode refused with the name of the index", async () => {
    const query = "SELECT * FROM c WHERE c.workspace_id = 'w' ORDER BY c.type, c.updated_at DESC";
    const ours = '{ partition: ["workspace_id"], sort: ["type", { path: "updated_at", order: "desc" }] }';
    const cosmos =
      '[{ "path": "/workspace_id", "order": "ascending" }, { "path": "/type", "order": "ascending" }, { "path": "/updated_at", "order": "descending" }]';
    expect(explain(query)).toMatchObject({
      mode: "sort",
      index: "byStatus",
      advice: expect.stringContaining(ours) as string,
    });
    expect(explain(query).advice).toContain(cosmos);
    const detail = await refused(query, { strict: true });
    expect(detail).toContain(ours);
    expect(detail).toContain(cosmos);
  });

  it("R-AGT-59 strict mode takes the index's own order, all of it turned around, and nothing else", async () => {
    const orders = (by: string) => `SELECT * FROM c WHERE c.workspace_id = 'w' ORDER BY ${by}`;
    const strict = { strict: true };
    expect(explain(orders("c.status ASC, c.created_at DESC"), strict)).toMatchObject({
      mode: "stream",
      index: "byStatus",
    });
    expect(explain(orders("c.status DESC, c.created_at ASC"), strict)).toMatchObject({
      mode: "stream",
      index: "byStatus",
    });
    expect(explain(orders("c.workspace_id, c.status, c.created_at DESC"), strict)).toMatchObject({
      mode: "stream",
      index: "byStatus",
    });
    for (const by of [
      "c.status, c.created_at",
      "c.created_at DESC, c.status",
      "c.status DESC, c.created_at DESC",
      "c.status, c.created_at DESC, c.name",
    ]) {
      expect(await refused(orders(by), strict)).toMatch(
        /strict mode needs an index with exactly the properties of ORDER BY/,
      );
    }
    // Cosmos DB wants an index of exactly that length.
    const longer = { ...memories, indexes: { long: { partition: ["workspace_id"], sort: ["a", "b", "c"] } } };
    const two = "SELECT * FROM c WHERE c.workspace_id = 'w' ORDER BY c.a, c.b";
    expect(explain(two, {}, { ...longer, scanIndex: undefined })).toMatchObject({ mode: "stream", index: "long" });
    expect(await refused(two, strict, { ...longer, scanIndex: undefined })).toContain('sort: ["a", "b"]');
    expect(explain(orders("c.anything"), strict).mode).toBe("sort");
  });

  it("strict mode refuses a filter on nothing indexed; without a scan index so does every mode", async () => {
    const query = "SELECT * FROM c WHERE c.color = 'red' AND c.size > 5";
    const index = '{ partition: ["color"], sort: ["size"] }';
    expect(explain(query)).toMatchObject({ index: "all", advice: expect.stringContaining(index) as string });
    expect(await refused(query, { strict: true })).toContain(index);
    expect(await refused(query, {}, { ...memories, scanIndex: undefined })).toContain(index);
    expect(await refused("SELECT * FROM c", {}, { ...memories, scanIndex: undefined })).toMatch(
      /Compare the partition key/,
    );
    expect(await refused("SELECT * FROM c", {}, { ...memories, scanIndex: "bySession" })).toMatch(
      /must be an index with partition: \[\]/,
    );
    expect(await refused("SELECT * FROM c", { partition: ["a", "b"] })).toMatch(
      /partition: specify the values of \[agent_id\]/,
    );
  });
});

describe.each(engineNames)("on %s", (name) => {
  it("a sort or an aggregate looks at no more rows than its budget, and one row over it is refused by name", async () => {
    const docs = new Documents(store(name));
    await docs.put(
      Array.from({ length: 30 }, (_, i): JsonObject => ({ id: `i${i}`, p: "p0", w: "a", color: i % 3, n: i })),
    );
    const sort = "SELECT VALUE c.id FROM c WHERE c.w = 'a' ORDER BY c.color";
    const sorted = await docs.run(sort, { rowsMax: 30 });
    expect(sorted.items).toHaveLength(30);
    expect(sorted.stats.rows_examined).toBe(30);
    expect(await refusal(docs.run(sort, { rowsMax: 29 }))).toMatch(
      /more than 29 rows\. Add the index \{ partition: \["w"\], sort: \["color"\] \}/,
    );
    const total = "SELECT VALUE SUM(c.n) FROM c WHERE c.w = 'a'";
    expect((await docs.run(total, { rowsMax: 30 })).items).toEqual([435]);
    expect(await refusal(docs.run(total, { rowsMax: 29 }))).toMatch(/more than 29 rows/);
    // What the engine counts is not read at all.
    expect((await docs.run("SELECT VALUE COUNT(1) FROM c WHERE c.w = 'a'", { rowsMax: 1 })).items).toEqual([30]);
    expect(await refusal(docs.run(sort, { rowsMax: 0 }))).toMatch(/rowsMax: must be/);
    expect(await refusal(docs.run(sort, { rowsMax: sqlLimits.rowsMaxMax + 1 }))).toMatch(/rowsMax: must be/);
    expect(await refusal(docs.run(sort, { limit: sqlLimits.pageItemsMax + 1 }))).toMatch(/limit: must be/);
    expect((await docs.run(sort, { limit: sqlLimits.pageItemsMax })).items).toHaveLength(30);
  });

  it("documents have _etag and _ts where the definition says so, in the answer and in the query", async () => {
    const docs = new Documents(store(name));
    await docs.put([{ id: "x", p: "p0", w: "a" }]);
    const system = { ...definition, systemProperties: true };
    const [found] = (
      await docs.run("SELECT * FROM c WHERE c.p = 'p0' AND IS_DEFINED(c._ts) AND IS_STRING(c._etag)", {
        definition: system,
      })
    ).items as JsonObject[];
    expect(found).toEqual({
      id: "x",
      p: "p0",
      w: "a",
      _etag: expect.any(String) as string,
      _ts: expect.any(Number) as number,
    });
    expect(
      (
        await docs.run("SELECT VALUE c.id FROM c WHERE c._etag = @e", {
          definition: system,
          parameters: { e: found?.["_etag"] as string },
        })
      ).items,
    ).toEqual(["x"]);
    expect((await docs.run("SELECT VALUE c.id FROM c WHERE IS_DEFINED(c._ts)")).items).toEqual([]);
  });

  it("R-AGT-09 a query never sees another tenant's documents", async () => {
    const [mine, theirs] = [new Documents(store(name)), new Documents(store(name))];
    await mine.put([{ id: "mine", p: "p0", w: "a", n: 1 }]);
    await theirs.put([{ id: "theirs", p: "p0", w: "a", n: 2 }]);
    const queries = [
      "SELECT VALUE c.id FROM c",
      "SELECT VALUE c.id FROM c WHERE c.p = 'p0'",
      "SELECT VALUE c.id FROM c WHERE c.w = 'a' ORDER BY c.n",
      "SELECT DISTINCT VALUE c.id FROM c",
    ];
    for (const query of queries) expect(await mine.walk(query)).toEqual(["mine"]);
    expect(await mine.walk("SELECT VALUE COUNT(1) FROM c")).toEqual([1]);
  });
});

describe("an index that is being built", () => {
  it("R-AGT-62 is not read; the query is answered another way meanwhile", async () => {
    const items = store("sqlite");
    const late: ContainerDefinition = {
      name: "late",
      partitionKey: ["p"],
      indexes: { all: { partition: [], sort: ["id"] } },
    };
    await items.openContainer(late);
    const docs = new Documents(items);
    // Too long for an index: its build cannot end.
    await items.write(docs.scope, "late", ["p0"], {
      op: "create",
      document: { id: "x", p: "p0", w: "a", text: "t".repeat(2_000) },
    });
    const indexes = { ...late.indexes, byText: { partition: ["w"], sort: ["text"] } };
    await items.openContainer({ ...late, indexes });
    const other = { ...definition, name: "late", indexes };
    const answer = await docs.run("SELECT VALUE c.id FROM c WHERE c.w = 'a'", { definition: other });
    expect(answer).toMatchObject({ items: ["x"], stats: { index: "all" } });
    const only = { ...other, scanIndex: undefined };
    await expect(docs.run("SELECT VALUE c.id FROM c WHERE c.w = 'a'", { definition: only })).rejects.toMatchObject({
      code: "UNAVAILABLE",
    });
  });
});
