/** The content of a receipt (RFC 0012). Nothing in it names the subject. */
import type { JsonObject } from "../../domain/json.ts";
import type { ErasureRecord } from "./records.ts";

export interface ReceiptFacts {
  readonly receiptId: string;
  readonly sequence: number;
  readonly previous: string | null;
  /** The store id. */
  readonly issuer: string;
  readonly finishedAt: string;
  readonly held: boolean;
}

const format = 1;

/** Where data may still be that no store of this instance can reach. */
const notCovered = [
  "backups of files, tables and buckets that the operator makes",
  "write-ahead logs and replicas of PostgreSQL, copies of the services behind DynamoDB and S3",
  "logs of the process, which hold ids and no content, until their rotation",
  "what clients read before",
];

export function receiptContent(record: ErasureRecord, facts: ReceiptFacts): JsonObject {
  const { erasure_id, subject_type, subject_hmac, workspaces, stores, holds, engines, created_at } = record;
  const remaining = stores.reduce((sum, one) => sum + (one.remaining ?? 0), 0);
  return {
    format,
    receipt_id: facts.receiptId,
    sequence: facts.sequence,
    previous: facts.previous,
    issuer: facts.issuer,
    erasure_id,
    state: facts.held ? "held" : "done_live",
    subject: { type: subject_type, hmac: subject_hmac },
    workspaces,
    stores: stores
      .filter((one) => one.found + one.deleted + one.redacted + one.anonymised + one.held > 0)
      .map(({ store, deleted, redacted, anonymised, held, remaining: left }) => ({
        store,
        deleted,
        redacted,
        anonymised,
        held,
        remaining: left ?? 0,
      })),
    holds,
    engines,
    requested_at: created_at,
    finished_at: facts.finishedAt,
    verified: { remaining },
    last_backup_expires_at: null,
    not_covered: notCovered,
  };
}
