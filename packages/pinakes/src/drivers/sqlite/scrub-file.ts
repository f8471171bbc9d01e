/**
 * Rewrites a database file without deleted data: SQLite leaves deleted rows in free pages, in the gaps of pages, and in the log. VACUUM
 * copies live rows to a new file and back; then the log is copied into the file and emptied.
 */
import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { PinakesError } from "../../domain/errors.ts";

/** A reader of an older state keeps the log; most reads are over much sooner. */
const attemptsMax = 50;
const pauseMs = 100;

/** Returns the bytes of the file. */
export function scrubFile(db: DatabaseSync, file: string): number {
  // The copy of a large file does not fit into memory. SQLite removes the temporary file; its place on the disk is the file system's.
  db.exec("PRAGMA temp_store = FILE");
  try {
    db.exec("VACUUM");
  } finally {
    db.exec("PRAGMA temp_store = MEMORY");
  }
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const { busy } = db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get() as { busy: number };
    if (busy === 0) return statSync(file).size;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
  }
  throw new PinakesError(
    "UNAVAILABLE",
    "Reads of an older state keep the write-ahead log of the SQLite file, so it could not be emptied. It is tried again.",
  );
}
