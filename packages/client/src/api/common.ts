/** Options that many calls have in common. */

export interface IfMatch {
  /** Only if the document still has this etag; else PRECONDITION_FAILED with the current one. */
  readonly ifMatch?: string | undefined;
}
export interface CreateOptions {
  /** Repeating the call with the same key returns the first response. */
  readonly idempotencyKey?: string | undefined;
}

export interface IngestOptions {
  /** Store nothing unless every line is good. */
  readonly allOrNothing?: boolean | undefined;
  /** Report every line, not only those that failed. */
  readonly report?: "failed" | "all" | undefined;
}
