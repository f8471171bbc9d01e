/** Erasures with their receipts, legal holds, and exports of everything stored about a subject. Admins only. */
import type { Page, Paging } from "../contract/common.ts";
import type {
  Erasure,
  ErasureReceipt,
  ErasureReceiptKey,
  ErasureVerification,
  LegalHold,
  NewErasure,
  NewLegalHold,
  NewSubjectExport,
  RetentionChange,
  RetentionPreview,
  RetentionRule,
  SubjectExport,
} from "../contract/governance.ts";

export interface ErasuresApi {
  /** Starts the erasure, or only counts if `dry_run` is set. NOT_FOUND if nothing names the subject. */
  request(input: NewErasure): Promise<Erasure>;
  get(erasureId: string): Promise<Erasure>;
  /** Newest first. */
  list(query?: Paging): Promise<Page<Erasure>>;
  /** Counts again. A completed erasure no longer stores the subject's id, so it must be passed in. */
  verify(erasureId: string, input: Pick<NewErasure, "subject" | "paths">): Promise<ErasureVerification>;
}

export interface ReceiptsApi {
  /** The receipt of an erasure that ended. */
  get(erasureId: string): Promise<ErasureReceipt>;
  /** The chain of the workspace, oldest first. */
  list(query?: Paging): Promise<Page<ErasureReceipt>>;
  /** The keys that verify the receipts of this instance. */
  key(): Promise<ErasureReceiptKey>;
}

export interface HoldsApi {
  /** NOT_FOUND if nothing matches. */
  create(input: NewLegalHold): Promise<LegalHold>;
  get(holdId: string): Promise<LegalHold>;
  /** Active holds, oldest first; at most 100. */
  list(): Promise<readonly LegalHold[]>;
  /** Erasures that it stopped start again. */
  release(holdId: string): Promise<void>;
}

export interface SubjectExportsApi {
  /** NOT_FOUND if nothing names the subject. */
  create(input: NewSubjectExport): Promise<SubjectExport>;
  get(exportId: string): Promise<SubjectExport>;
  /** Newest first. */
  list(query?: Paging): Promise<Page<SubjectExport>>;
  /** One zip archive, counted from 1; from a byte on, to continue a download. */
  part(
    exportId: string,
    part: number,
    options?: { readonly start?: number | undefined; readonly signal?: AbortSignal | undefined },
  ): Promise<ReadableStream<Uint8Array>>;
  delete(exportId: string): Promise<void>;
}

export interface RetentionApi {
  /** Containers by name, then the trash and what settings govern. */
  list(): Promise<readonly RetentionRule[]>;
  get(name: string): Promise<RetentionRule>;
  /** Counts what a change would expire; nothing changes. For admins. */
  preview(name: string, seconds: number | null): Promise<RetentionPreview>;
  /** Applies to existing documents too; those with a `ttl` keep it. A shorter lifetime needs the confirmation of a preview. For admins. */
  set(name: string, change: RetentionChange): Promise<RetentionRule>;
}

export interface GovernanceApi {
  readonly retention: RetentionApi;
  readonly erasures: ErasuresApi;
  readonly receipts: ReceiptsApi;
  readonly holds: HoldsApi;
  readonly subjectExports: SubjectExportsApi;
}
