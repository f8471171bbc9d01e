/** The audit log: who did what, with proofs. For admins, and callers with the permission `audit`. */
import type {
  AuditCheckpoint,
  AuditConsistency,
  AuditEntry,
  AuditExport,
  AuditInclusion,
  AuditQuery,
} from "../contract/audit.ts";
import type { Page } from "../contract/common.ts";

export interface AuditApi {
  /** Newest first. A page may be short and still have a cursor. */
  list(query?: AuditQuery): Promise<Page<AuditEntry>>;
  /** A signed checkpoint of the current log. */
  checkpoint(): Promise<AuditCheckpoint>;
  /** That an entry is in the tree of a size, or of all entries. */
  inclusion(index: number, options?: { readonly size?: number | undefined }): Promise<AuditInclusion>;
  /** That a smaller tree is the beginning of the tree. */
  consistency(from: number, options?: { readonly size?: number | undefined }): Promise<AuditConsistency>;
  /** The bytes of a file that `pinakes audit verify` checks. */
  export(options?: AuditExport): Promise<ReadableStream<Uint8Array>>;
}
