/** Pipelines: keep a collection in sync with a folder or a bucket prefix. */
import type { ChunkingStrategy } from "./knowledge.ts";

/** `event`: when a file changes; `schedule`: at certain times. */
export const pipelineTriggers = ["event", "schedule"] as const;
export type PipelineTrigger = (typeof pipelineTriggers)[number];

export interface Pipeline {
  readonly pipeline_id: string;
  readonly trigger: PipelineTrigger;
  /** `file:` a folder, or `s3://bucket/prefix`. */
  readonly source: string;
  /** Cron with five fields, in UTC; null with the trigger `event`. */
  readonly schedule: string | null;
  /** Whether a document is deleted with its file. */
  readonly auto_remove: boolean;
  readonly chunking_strategy: ChunkingStrategy | null;
  /** A run that would remove more than this share of the pipeline's documents stops instead. */
  readonly max_removal_share: number;
  readonly created_by: string;
  readonly created_at: string;
}

/** Keeps a collection in step with a folder or a prefix of a bucket. */
export interface NewPipeline {
  readonly trigger: PipelineTrigger;
  /** `file:/folder` or `s3://bucket/prefix`, among those that the operator of the server opened. */
  readonly source: string;
  /** Cron in UTC, or `daily` (the default), `hourly`, `weekly`. */
  readonly schedule?: string | null | undefined;
  /** Whether a document is deleted with its file. Default false. */
  readonly auto_remove?: boolean | undefined;
  readonly chunking_strategy?: Partial<ChunkingStrategy> | null | undefined;
  /** A run that would remove more than this share of the documents stops instead; default 0.5. */
  readonly max_removal_share?: number | undefined;
}

/** A pipeline with the time of its next run; null if nothing is scheduled. */
export interface ScheduledPipeline extends Pipeline {
  readonly next_run_at: string | null;
}

/** How many files of each kind there are, and the first thousand addresses. */
export interface PipelinePlan {
  readonly pipeline_id: string;
  readonly counts: {
    readonly add: number;
    readonly replace: number;
    readonly remove: number;
    readonly keep: number;
    readonly unchanged: number;
    readonly skipped: number;
  };
  readonly add: readonly string[];
  readonly replace: readonly string[];
  readonly remove: readonly string[];
  /** Documents whose files are gone but that are kept, because the pipeline does not remove documents. */
  readonly keep: readonly string[];
  readonly skipped: readonly { readonly uri: string; readonly reason: string }[];
  /** Why a run would refuse this without force; null when it would not. */
  readonly blocked: string | null;
}

/** The outcome of a notification of changed files. */
export interface PipelineNotified {
  /** Files of the pipeline that the event names. */
  readonly accepted: number;
  readonly ignored: number;
}
