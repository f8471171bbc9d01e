/** The limits of an answer: rows looked at, characters, rows kept. Each at its limit and one past it. */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/domain/json.ts";
import type { ItemStore } from "../../src/ports/item-store.ts";
import { sqlLimits } from "../../src/sql/limits.ts";
import { container, Documents, refusal } from "./support/container.ts";
import { engines } from "./support/engines.ts";

const store = engines(container, ["sqlite"]);
const many = (count: number, of: (i: number) => JsonObject = () => ({})) =>
  Array.from({ length: count }, (_, i): JsonObject => ({ id: `i${String(i).padStart(6, "0")}`, p: "p0", ...of(i) }));

/** A store whose indexes are said to be late. */
function eventual(items: ItemStore): ItemStore {
  const capabilities = { ...items.capabilities, indexReads: "eventual" as const };
  return new Proxy(items, {
    get: (target, name) => {
      if (name === "capabilities") return capabilities;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

describe("a page", () => {
  it("ends short, with a cursor, when it has looked at its rows", async () => {
    const docs = new Documents(store("sqlite"));
    await docs.put(
      many(sqlLimits.pageRowsExaminedMax + 1, (i) => ({
        text: i === sqlLimits.pageRowsExaminedMax ? "wanted" : "other",
      })),
    );
    for (const where of ["c.text = 'wanted'", "LOWER(c.text) = 'wanted'"]) {
      const query = `SELECT VALUE c.text FROM c WHERE c.p = 'p0' AND ${where}`;
      const first = await docs.run(query);
      expect(first).toMatchObject({
        items: [],
        cursor: expect.any(String) as string,
        stats: { rows_examined: sqlLimits.pageRowsExaminedMax },
      });
      const second = await docs.run(query, { cursor: first.cursor });
      expect(second).toMatchObject({ items: ["wanted"], stats: { rows_examined: 1 } });
      expect(second.cursor).toBeUndefined();
    }
    const late = new Documents(eventual(store("sqlite")), docs.scope);
    const sort = "SELECT TOP 1 VALUE c.text FROM c WHERE c.p = 'p0' ORDER BY c.text DESC";
    expect((await docs.run(sort)).items).toEqual(["wanted"]);
    expect(await refusal(late.run(sort))).toMatch(
      /more than 10000 rows\. Add the index \{ partition: \["p"\], sort: \[\{ path: "text", order: "desc" \}\] \}/,
    );
    await docs.remove("p0", "i000000");
    expect((await late.run(sort)).items).toEqual(["wanted"]);
  });

  it("ends when its items have their characters", async () => {
    const docs = new Documents(store("sqlite"));
    for (const document of many(6, () => ({ text: "x".repeat(1_000_000) }))) await docs.put([document]);
    const page = await docs.run("SELECT * FROM c WHERE c.p = 'p0'");
    expect(page.items).toHaveLength(5);
    expect(await docs.walk("SELECT * FROM c WHERE c.p = 'p0'")).toHaveLength(6);
    const sorted = await docs.run("SELECT * FROM c WHERE c.p = 'p0' ORDER BY c.n");
    expect(sorted.items).toHaveLength(5);
    expect(await docs.walk("SELECT * FROM c WHERE c.p = 'p0' ORDER BY c.n")).toHaveLength(6);
  });
});

describe("what is kept", () => {
  it("to sort or group has a limit", async () => {
    const docs = new Documents(store("sqlite"));
    const fits = Math.floor(sqlLimits.keptCharsMax / 2_000_100);
    for (const document of many(fits, (i) => ({ n: i, text: `${i}`.padEnd(2_000_000, "x") })))
      await docs.put([document]);
    const sort = "SELECT VALUE c.text FROM c WHERE c.p = 'p0' ORDER BY c.other";
    const distinct = "SELECT DISTINCT VALUE c.text FROM c WHERE c.p = 'p0' AND c.n < @n";
    expect((await docs.run(sort)).items.length).toBeGreaterThan(1);
    expect((await docs.run(distinct, { parameters: { n: fits } })).items.length).toBeGreaterThan(1);
    await docs.put([{ id: "more", p: "p0", n: fits, text: "y".repeat(2_000_000) }]);
    expect(await refusal(docs.run(distinct, { parameters: { n: fits + 1 } }))).toMatch(/more than 67108864 characters/);
    expect(await refusal(docs.run(sort))).toMatch(/more than 67108864 characters/);
    // A smaller page keeps less.
    expect((await docs.run(sort, { limit: 3 })).items).toHaveLength(3);
  });
});

it("the default budgets are as documented: 50,000 rows, and 10,000 where indexes are late", () => {
  expect(sqlLimits.rowsMaxDefault).toBe(50_000);
  expect(sqlLimits.rowsMaxEventualDefault).toBe(10_000);
});
