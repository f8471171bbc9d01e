/** All that a workspace's state consists of, read from the SQLite file itself, past every layer that could hide something. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

const file = "pinakes.sqlite";
/** Containers of state; those of identity change with every use of a key. */
const ofState =
  /^(workflow-states|agent-memories|agent-metrics|tool-invocations|thread-message-store|system-thread-message-store|agent-entity-store|state-settings|own-.*)$/;

/** A line for each row, each entry of a feed, and each piece of work that is due some day. */
export function dumpWorkspace(dir: string, workspace: string): readonly string[] {
  const db = new DatabaseSync(join(dir, file), { readOnly: true });
  try {
    const lines: string[] = [];
    const names = (db.prepare("SELECT name FROM containers ORDER BY name").all() as { name: string }[]).map(
      ({ name }) => name,
    );
    for (const name of names.filter((one) => ofState.test(one))) {
      const mine = `${JSON.stringify([workspace]).slice(0, -1)},%`;
      for (const row of db
        .prepare(`SELECT pk, id, etag, modified_at, ttl, doc FROM "c_${name}" WHERE pk LIKE ? ORDER BY pk, id`)
        .all(mine))
        lines.push(`${name}: ${JSON.stringify(row)}`);
      if (db.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").get(`f_${name}`) === undefined) continue;
      for (const row of db.prepare(`SELECT * FROM "f_${name}" WHERE tenant = ? ORDER BY seq`).all(workspace))
        lines.push(`feed of ${name}: ${JSON.stringify(row)}`);
    }
    for (const row of db.prepare(`SELECT id, etag, doc FROM "c_state-work" ORDER BY id`).all() as { doc: string }[])
      if ((JSON.parse(row.doc) as { tenant?: string }).tenant === workspace) lines.push(`work: ${JSON.stringify(row)}`);
    return lines;
  } finally {
    db.close();
  }
}
