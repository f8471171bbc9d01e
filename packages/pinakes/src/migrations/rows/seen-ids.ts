/** The ids seen so far, on disk: files may have more than fit in memory. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

const idsPerTransaction = 10_000;

export interface SeenIds extends AsyncDisposable {
  /** Its first location; undefined if it is new. */
  add(id: string, where: string): string | undefined;
}

export async function withTemporaryIds(): Promise<SeenIds> {
  const folder = await mkdtemp(join(tmpdir(), "pinakes-ids-"));
  const db = new DatabaseSync(join(folder, "ids.db"));
  db.exec(
    "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; CREATE TABLE ids (id TEXT PRIMARY KEY, location TEXT) WITHOUT ROWID; BEGIN",
  );
  const put = db.prepare("INSERT OR IGNORE INTO ids VALUES (?, ?)");
  const find = db.prepare("SELECT location FROM ids WHERE id = ?");
  let ids = 0;
  return {
    add: (id, where) => {
      if (put.run(id, where).changes === 0) return find.get(id)?.["location"] as string;
      if ((ids += 1) % idsPerTransaction === 0) db.exec("COMMIT; BEGIN");
      return undefined;
    },
    [Symbol.asyncDispose]: async () => {
      db.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
