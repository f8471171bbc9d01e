/** SQLite's FTS5 with Porter's stemmer, by node:sqlite, in process and synchronous. The texts themselves are not stored. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { inProcess, startBuild, type Candidate, type TextSet } from "../candidate.ts";
import { diskBytesOf } from "../processes.ts";

export async function openText(dir: string): Promise<Candidate<TextSet, readonly string[]>> {
  const path = join(dir, "fts5.sqlite");
  const db = new DatabaseSync(path);
  db.exec(
    "PRAGMA journal_mode = WAL; PRAGMA cache_size = -65536; CREATE VIRTUAL TABLE chunks USING fts5 (body, content = '', tokenize = 'porter')",
  );
  const select = db.prepare("SELECT rowid FROM chunks WHERE chunks MATCH ? ORDER BY rank LIMIT ?");
  select.setReturnArrays(true);
  const version = (db.prepare("SELECT sqlite_version() AS v").get() as { v: string }).v;
  return {
    ...inProcess,
    name: "FTS5",
    note: `SQLite ${version} in node:sqlite, porter, contentless, optimised; its idf is not Lucene's, so the lists differ a little`,
    parameters: [0],
    noFilter: "texts have no tags",
    build: async ({ texts }) => {
      const built = startBuild(inProcess.cpuMs);
      const insert = db.prepare("INSERT INTO chunks (rowid, body) VALUES (?, ?)");
      db.exec("BEGIN");
      for (const [id, text] of texts.entries()) insert.run(id, text);
      db.exec("INSERT INTO chunks (chunks) VALUES ('optimize'); COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
      return built(diskBytesOf(path));
    },
    search: (terms, k) =>
      (select.all(terms.map((term) => `"${term}"`).join(" OR "), k) as unknown as [number][]).map(([id]) => id),
    close: async () => db.close(),
  };
}
