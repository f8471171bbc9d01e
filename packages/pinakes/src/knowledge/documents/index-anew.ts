import type { DocumentRecord } from "../records/records.ts";

/** The record of a document that waits to be indexed again, by a new run, as if nobody had tried before. */
export function toIndexAnew(record: DocumentRecord, now: number): DocumentRecord {
  return {
    ...record,
    status: "pending",
    error: null,
    attempts: 0,
    progress: null,
    run: record.run + 1,
    touched_at: now,
  };
}
