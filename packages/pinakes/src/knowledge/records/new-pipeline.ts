/** What a caller gives for a pipeline, beside its collection or as a part of a new one. */
export interface NewPipeline {
  /** `event`: when a file changes; `schedule`: at certain times. */
  readonly trigger: "event" | "schedule";
  /** `file:/folder` or `s3://bucket/prefix`, among those that the operator of the server opened. */
  readonly source: string;
  /** Cron in UTC, or `daily` (the default), `hourly`, `weekly`. */
  readonly schedule?: string | null | undefined;
  /** Whether a document goes when its file is gone. False when absent. */
  readonly auto_remove?: boolean | undefined;
  /** How its documents are cut; as the collection's when absent. */
  readonly chunking_strategy?: unknown;
  /** A run that would remove more than this share of the pipeline's documents stops instead. */
  readonly max_removal_share?: number | undefined;
}
