/**
 * The rows by which two sets differ: computed only if their hashes differ, with a file on disk, so that sets of any size can be compared.
 */
import { hash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { migrationLimits } from "./limits.ts";

/** A row as both sides write it; rows with the same key are versions of one row. */
export interface Entry {
  readonly key: string;
  readonly text: string;
}

export interface Differences {
  /** In the source and not here. */
  readonly missing: readonly string[];
  /** Here and not in the source. */
  readonly extra: readonly string[];
  /** In both, with different content. */
  readonly changed: readonly string[];
}

const rowsPerTransaction = 10_000;

export async function differencesOf(source: AsyncIterable<Entry>, held: AsyncIterable<Entry>): Promise<Differences> {
  const folder = await mkdtemp(join(tmpdir(), "pinakes-differences-"));
  const db = new DatabaseSync(join(folder, "rows.db"));
  try {
    db.exec("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF");
    await fill(db, "source", source);
    await fill(db, "held", held);
    const keys = (sql: string) =>
      (db.prepare(`${sql} ORDER BY key LIMIT ${migrationLimits.differencesMax}`).all() as { key: string }[]).map(
        ({ key }) => key,
      );
    return {
      missing: keys("SELECT key FROM source WHERE key NOT IN (SELECT key FROM held)"),
      extra: keys("SELECT key FROM held WHERE key NOT IN (SELECT key FROM source)"),
      changed: keys(
        "SELECT source.key AS key FROM source JOIN held ON held.key = source.key WHERE held.digest <> source.digest",
      ),
    };
  } finally {
    db.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function fill(db: DatabaseSync, table: "source" | "held", entries: AsyncIterable<Entry>): Promise<void> {
  db.exec(`CREATE TABLE ${table} (key TEXT PRIMARY KEY, digest BLOB) WITHOUT ROWID`);
  const put = db.prepare(`INSERT OR REPLACE INTO ${table} VALUES (?, ?)`);
  let rows = 0;
  db.exec("BEGIN");
  for await (const { key, text } of entries) {
    put.run(key, hash("sha256", text, "buffer"));
    if ((rows += 1) % rowsPerTransaction === 0) db.exec("COMMIT; BEGIN");
  }
  db.exec("COMMIT");
}

export function differenceText({ missing, extra, changed }: Differences): string {
  const part = (what: string, keys: readonly string[]) =>
    keys.length === 0 ? [] : [`${what}: ${keys.map((key) => key.slice(0, 200)).join(", ")}`];
  return [...part("missing here", missing), ...part("only here", extra), ...part("other content", changed)].join("; ");
}
