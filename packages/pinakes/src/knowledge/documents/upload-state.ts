/** How an upload changes an existing document: whether it may start, and the record after a failed upload. */
import { PinakesError, show } from "../../domain/errors.ts";
import type { DocumentRecord } from "../records/records.ts";

/** Without a heartbeat for this long, a retry of the upload takes it over; the watchdog fails it later (`uploadDeadMs`). */
export const uploadLeaseMs = 15_000;

export interface Started {
  /** With the access of the document before, so that what is there already never opens to others. */
  readonly record: DocumentRecord;
  etag: string;
  readonly before: DocumentRecord | undefined;
}

/** Whether the upload changes nothing that searches show; its access may still differ. */
export function isUnchanged({ record, before }: Started, sha256: string): boolean {
  if (before === undefined || before.status !== "indexed" || before.sha256 !== sha256) return false;
  const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
  return (
    same(before.metadata, record.metadata) &&
    same(before.chunking_override, record.chunking_override) &&
    before.name === record.name
  );
}

/** The record as before a refused upload. An ingestion in progress restarts, since the upload took over its run. */
export function asBefore(before: DocumentRecord, { version, run }: DocumentRecord, touched_at: number): DocumentRecord {
  const onItsWay = before.status === "pending" || before.status === "indexing";
  return {
    ...before,
    version,
    run,
    ...(onItsWay ? { status: "pending" as const, attempts: 0, progress: null, touched_at } : {}),
  };
}

/** Remaining lease of a first upload in progress; undefined if there is none. An upload that replaces a document needs replace=true. */
export function leaseLeftMs({ status, versions, touched_at }: DocumentRecord, now: number): number | undefined {
  return status === "uploading" && versions.length === 0 ? touched_at + uploadLeaseMs - now : undefined;
}

export class UploadUnderWay extends PinakesError {
  readonly retryAfterMs: number;

  constructor({ name, document_id }: DocumentRecord, retryAfterMs: number) {
    const seconds = Math.ceil(retryAfterMs / 1_000);
    const detail = `A document "${name}" is being uploaded: ${document_id}. If that upload was interrupted, retry in ${seconds} s, or with replace=true.`;
    super("CONFLICT", detail, { retryable: true });
    this.retryAfterMs = retryAfterMs;
  }
}

/** An interrupted first upload left only its name; its error asks to send the file again. */
export function neverArrived({ status, versions }: DocumentRecord): boolean {
  return status === "failed" && versions.length === 0;
}

export function duplicate({ name, document_id }: DocumentRecord): PinakesError {
  return new PinakesError(
    "CONFLICT",
    `A document "${name}" already exists (names are case-insensitive): ${document_id}. Send it with replace=true to replace it.`,
  );
}

/** The document of this name is one that the caller may not see: nothing of it is said, and nothing of it is replaced. */
export function nameTaken(name: string): PinakesError {
  return new PinakesError(
    "CONFLICT",
    `A document cannot be named ${show(name)} in this collection; choose another name.`,
  );
}
