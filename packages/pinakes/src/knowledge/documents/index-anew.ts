import type { DocumentRecord } from "../records/records.ts";

/** The record of a document that is queued for a new run, with no earlier attempts. */
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
