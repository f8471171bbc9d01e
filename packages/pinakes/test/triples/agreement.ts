/** Invariants of every file of triples: its orders hold the same quads, its counters are right, and no row lacks its counterpart. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "vitest";

const orders = { triples: ["spo", "pos", "osp"], quads: ["spog", "posg", "ospg", "gspo", "gpos", "gosp"] } as const;

export function expectAgreement(dir: string): void {
  const db = new DatabaseSync(join(dir, "pinakes-triples.sqlite"), { readOnly: true });
  const list = (sql: string): string[] =>
    db
      .prepare(sql)
      .all()
      .map((row) => Object.values(row).join(" "))
      .toSorted();
  const rows = (table: string, columns: string): string[] => list(`SELECT space, ${columns} FROM ${table}`);
  const counts = (table: string, where = "1"): string[] =>
    list(`SELECT space, count(*) FROM ${table} WHERE ${where} GROUP BY space`);
  try {
    expect(list("PRAGMA integrity_check")).toEqual(["ok"]);
    for (const [counter, tables] of Object.entries(orders)) {
      const columns = counter === "triples" ? "s, p, o" : "s, p, o, g";
      for (const table of tables) expect(rows(table, columns), table).toEqual(rows(tables[0], columns));
      expect(list(`SELECT id, ${counter} FROM spaces WHERE ${counter} > 0`)).toEqual(counts(tables[0]));
    }
    const used = ["s", "p", "o"].flatMap((place) => [
      `SELECT space, ${place} AS id FROM spo`,
      `SELECT space, ${place} FROM spog`,
    ]);
    expect(rows("terms", "id")).toEqual(list([...used, "SELECT space, g FROM spog"].join(" UNION ")));
    expect(rows("term_hashes", "id")).toEqual(rows("terms", "id"));
    expect(list("SELECT id, terms FROM spaces WHERE terms > 0")).toEqual(counts("terms"));
    expect(
      list("SELECT id FROM spaces WHERE next_term <= (SELECT max(id) FROM terms WHERE space = spaces.id)"),
    ).toEqual([]);
    const support = "s, p, o, g, source, part";
    expect(rows("supports_by_source", support)).toEqual(rows("supports", support));
    expect(list("SELECT id, supports FROM spaces WHERE supports > 0")).toEqual(counts("supports", "source > 0"));
    expect(rows("sources", "id")).toEqual(list("SELECT DISTINCT space, source FROM supports WHERE source > 0"));
    const stored = "SELECT space, s, p, o, 0 AS g FROM spo UNION ALL SELECT space, s, p, o, g FROM spog";
    expect(list(`SELECT space, s, p, o, g FROM supports EXCEPT SELECT * FROM (${stored})`)).toEqual([]);
  } finally {
    db.close();
  }
}
