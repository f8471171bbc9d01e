/**
 * The checkpointer's thread: copies the write-ahead log back into the database file, so that neither commits nor reads wait for it.
 * It looks at the log's size a few times a second; an idle database costs one `stat`.
 */
import { statSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import type { Reply } from "./messages.ts";
import { openDatabase } from "./schema.ts";

const { file } = workerData as { file: string };
const port = parentPort as NonNullable<typeof parentPort>;
const db = openDatabase(file);

const passiveBytes = 8_388_608;
/** A log that grew past this is cut back to nothing; writers wait for that moment. */
const truncateBytes = 268_435_456;
let seen = 0;

const timer = setInterval(() => {
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false });
  if (log === undefined || log.size <= passiveBytes || log.mtimeMs === seen) return;
  seen = log.mtimeMs;
  try {
    db.exec(`PRAGMA wal_checkpoint(${log.size > truncateBytes ? "TRUNCATE" : "PASSIVE"})`);
  } catch (error) {
    // Nothing is lost, the log only grows; it is tried again when the log has changed.
    process.emitWarning(`checkpoint of ${file} failed: ${String(error)}`);
  }
}, 200);

port.on("message", ({ call }: { call: number }) => {
  clearInterval(timer);
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
  port.postMessage({ kind: "answer", call, value: undefined } satisfies Reply);
  port.close();
});
