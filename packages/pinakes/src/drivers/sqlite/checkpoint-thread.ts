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
let checkpointed = 0;

const timer = setInterval(() => {
  const bytes = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes > truncateBytes) db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  else if (bytes > passiveBytes || bytes < checkpointed) db.exec("PRAGMA wal_checkpoint(PASSIVE)");
  checkpointed = bytes;
}, 200);

port.on("message", ({ call }: { call: number }) => {
  clearInterval(timer);
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
  port.postMessage({ kind: "answer", call, value: undefined } satisfies Reply);
  port.close();
});
