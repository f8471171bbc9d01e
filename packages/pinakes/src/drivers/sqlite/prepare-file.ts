/** Creates a missing database file, and rejects a file that is not ours. */
import { mkdirSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { PinakesError } from "../../domain/errors.ts";
import { openDatabase } from "./schema.ts";

export function prepareFile(dir: string, file: string, createTables: (db: DatabaseSync) => void): void {
  try {
    mkdirSync(dir, { recursive: true });
    const db = openDatabase(file);
    createTables(db);
    db.close();
  } catch (error) {
    // A file of another version.
    if (PinakesError.isInstance(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new PinakesError(
      "UNAVAILABLE",
      `The SQLite file ${file} cannot be opened: ${reason}. It must be a database of Pinakes in a folder that this process may write to.`,
      { cause: error, retryable: false },
    );
  }
}
