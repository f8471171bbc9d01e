/** What of a memory is indexed, as the database has it: not as it is declared. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { openSqliteItems } from "../../src/drivers/sqlite/index.ts";
import { World } from "../../src/state/memories/test-world.ts";

const dir = temporaryFolder("memory-indexes");
let world: World;
beforeAll(async () => {
  world = await World.open({ items: ({ clock }) => openSqliteItems({ dir, clock }) });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await world.items.close();
});

const table = "c_agent-memories";

it("R-AGT-30 R-AGT-31 the named fields are in the keys of indexes, contents, tool results and etags in none; history and recall are searches in theirs", async () => {
  const { memories } = await world.process();
  const stored = await memories.append(world.caller, {
    agent_id: "agent-otter",
    session_id: "session-heron",
    message_type: "tool_result",
    content: "content-badger",
    relevance_score: 0.5,
    metadata: { tool_name: "tool-lynx", tool_result: { text: "result-weasel" } },
  });
  const prepare = vi.spyOn(DatabaseSync.prototype, "prepare");
  const statements = async (call: () => Promise<unknown>): Promise<string[]> => {
    prepare.mockClear();
    await call();
    return prepare.mock.calls.map(([sql]) => sql).filter((sql) => sql.includes(table) && sql.includes("ORDER BY"));
  };
  const lists = {
    bySession: await statements(() => memories.list(world.caller, "agent-otter", { session_id: "session-heron" })),
    byRelevance: await statements(() => memories.list(world.caller, "agent-otter", { sort: "relevance" })),
  };
  prepare.mockRestore();
  const db = new DatabaseSync(join(dir, "pinakes.sqlite"), { readOnly: true });
  for (const [index, sqls] of Object.entries(lists)) {
    expect(sqls.length, index).toBeGreaterThan(0);
    for (const sql of sqls) {
      const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
      expect(plan.map(({ detail }) => String(detail)).join("; ")).toMatch(
        new RegExp(`^SEARCH .* USING INDEX .*k_${index}_\\d`),
      );
      expect(JSON.stringify(plan)).not.toMatch(/TEMP B-TREE/);
    }
  }
  // Whatever an index of the table covers, as bytes.
  const columns = db
    .prepare(
      `SELECT DISTINCT i.name FROM sqlite_master AS m, pragma_index_info(m.name) AS i WHERE m.type = 'index' AND m.tbl_name = ? AND i.name IS NOT NULL`,
    )
    .all(table)
    .map(({ name }) => String(name));
  expect(columns.filter((name) => name.startsWith("k_")).length).toBeGreaterThanOrEqual(5);
  const indexed = (text: string): number =>
    columns.reduce((total, column) => {
      const { n } = db
        .prepare(`SELECT count(*) AS n FROM "${table}" WHERE instr(CAST("${column}" AS BLOB), CAST(? AS BLOB)) > 0`)
        .get(text) as { n: number };
      return total + n;
    }, 0);
  for (const present of ["agent-otter", "session-heron", "acme", "tool_result", stored.timestamp.slice(0, 10)])
    expect(indexed(present), present).toBeGreaterThan(0);
  for (const absent of ["content-badger", "result-weasel", "tool-lynx", stored._etag])
    expect(indexed(absent), absent).toBe(0);
  db.close();
});
