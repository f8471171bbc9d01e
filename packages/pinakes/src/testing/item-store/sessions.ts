/** Session tokens. */
import { expect } from "vitest";
import { failure, type Suite } from "./fixture.ts";

export const sessions: Suite = (fixture) => {
  fixture.test("R-AGT-02 a read or query that carries the token of a write sees it", async () => {
    const c = await fixture.container({ indexes: { byN: { partition: ["n"], sort: [] } } });
    for (let n = 0; n < 5; n += 1) {
      const { session } = await c.store.write(c.scope, c.name, ["a"], {
        op: "upsert",
        document: { id: "x", p: "a", n },
      });
      expect((await c.store.read(c.scope, c.name, { partition: ["a"], id: "x" }, { session }))?.document).toMatchObject(
        { n },
      );
      const page = await c.store.query(c.scope, c.name, { index: "byN", equals: { n }, session });
      expect(page.items.map(({ id }) => id)).toEqual(["x"]);
      expect((await c.store.query(c.scope, c.name, { index: "byN", equals: { n: n - 1 }, session })).items).toEqual([]);
    }
    const { session } = await c.store.batch(
      c.scope,
      c.name,
      ["a"],
      Array.from({ length: 20 }, (_, i) => ({ op: "create", document: { id: `b${i}`, p: "a", n: 99 } })),
    );
    expect(await c.store.count(c.scope, c.name, { index: "byN", equals: { n: 99 }, session })).toBe(20);
  });

  fixture.test("R-AGT-02 a token of another container or tenant, or a changed one, is rejected at once", async () => {
    const c = await fixture.container();
    const d = await fixture.container();
    const { session } = await c.write({ op: "create", document: { id: "x", p: "a" } });
    const key = { partition: ["a"], id: "x" };
    expect((await failure(d.store.read(d.scope, d.name, key, { session }), "INVALID")).detail).toContain(c.name);
    await failure(c.store.read(fixture.otherScope, c.name, key, { session }), "INVALID");
    await failure(c.store.readRaw(c.scope, c.name, key, { session: `${session.slice(0, -2)}xx` }), "INVALID");
    await failure(c.store.query(c.scope, c.name, { equals: { p: "a" }, session: [session, "nonsense"] }), "INVALID");
    await failure(c.store.count(c.scope, c.name, { equals: { p: "a" }, session: "" }), "INVALID");
  });
};
