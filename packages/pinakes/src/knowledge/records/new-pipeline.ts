/** Input for a pipeline, alone or as part of a new collection. */
export interface NewPipeline {
  /** `event`: on file changes; `schedule`: at set times. */
  readonly trigger: "event" | "schedule";
  /** `file:/folder` or `s3://bucket/prefix`, among the locations that the server's operator allows. */
  readonly source: string;
  /** Cron in UTC, or `daily` (the default), `hourly`, `weekly`. */
  readonly schedule?: string | null | undefined;
  /** Whether a document is removed together with its file. Default false. */
  readonly auto_remove?: boolean | undefined;
  /** Chunking of its documents; the collection's when absent. */
  readonly chunking_strategy?: unknown;
  /** A run that would remove more than this share of the pipeline's documents stops instead. */
  readonly max_removal_share?: number | undefined;
}
