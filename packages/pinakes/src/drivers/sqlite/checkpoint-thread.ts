/**
 * The checkpointer's thread: copies the write-ahead log back into the database file, so that neither commits nor reads wait for it. It
 * checks the log's size a few times a second; an idle database costs one `stat`.
 */
import { statSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import type { Reply } from "./messages.ts";
import { openDatabase } from "./schema.ts";

const { file } = workerData as { file: string };
const port = parentPort as NonNullable<typeof parentPort>;
const db = openDatabase(file);

// Never waits: a checkpoint that waits for an old reader holds the lock that the writer needs.
db.exec("PRAGMA busy_timeout = 0");

const passiveBytes = 8_388_608;
/** A log larger than this is truncated, once all of it was copied. */
const truncateBytes = 268_435_456;
let seen = 0;

const timer = setInterval(() => {
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false });
  if (log === undefined || log.size <= passiveBytes || log.mtimeMs === seen) return;
  seen = log.mtimeMs;
  try {
    const copied = checkpoint("PASSIVE");
    if (copied && log.size > truncateBytes) checkpoint("TRUNCATE");
  } catch (error) {
    // Nothing is lost, the log only grows; it is retried when the log has changed.
    process.emitWarning(`checkpoint of ${file} failed: ${String(error)}`);
  }
}, 200);

/** Whether the whole log was copied back. */
function checkpoint(mode: "PASSIVE" | "TRUNCATE"): boolean {
  const { busy, log, checkpointed } = db.prepare(`PRAGMA wal_checkpoint(${mode})`).get() as {
    busy: number;
    log: number;
    checkpointed: number;
  };
  return busy === 0 && log === checkpointed;
}

port.on("message", ({ call }: { call: number }) => {
  clearInterval(timer);
  checkpoint("TRUNCATE");
  db.close();
  port.postMessage({ kind: "answer", call, value: undefined } satisfies Reply);
  port.close();
});
