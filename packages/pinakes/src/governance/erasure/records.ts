/**
 * The records of erasures, under the system's tenant `pinakes.governance`, one partition for each workspace:
 *
 *   erasure:<id>          the erasure
 *   links:<id>:<n>        sessions and workflows of its subject, while it runs
 *   receipt:<sequence>    receipts; `chain` names the last one
 *
 * The partition `~keys` has the signing key and the secret of the keyed hashes.
 *
 * Invariants: `subject` is absent once the erasure has ended; a receipt, the head of the chain and the ended erasure are one batch.
 */
import { erasureStates, erasureSubjectTypes } from "@pinakes/client";
import { z } from "zod";
import type { ContainerDefinition } from "../../ports/item-store.ts";

/** Format version of every record. */
const format = 1;

export const erasuresContainer: ContainerDefinition = Object.freeze({
  name: "erasures",
  partitionKey: ["workspace_id"],
  indexes: {
    byCreated: { partition: ["workspace_id"], sort: ["created_at"] },
    /** Only erasures that run have `fenced`. */
    byFence: { partition: ["fenced"], sort: ["created_at"] },
    /** Erasures of the same subject. */
    bySubject: { partition: ["workspace_id", "subject_hmac"], sort: ["created_at"] },
  },
});

const counts = z.object({
  store: z.string(),
  found: z.number(),
  deleted: z.number(),
  redacted: z.number(),
  anonymised: z.number(),
  held: z.number(),
  remaining: z.number().nullable(),
});
export type StoreCounts = z.output<typeof counts>;

const incarnation = z.object({ repository_id: z.string(), collection_id: z.string(), incarnation: z.string() });

const work = z.object({
  /** Where documents were removed, and days whose sealed hours hold the subject's rows. */
  incarnations: z.array(incarnation),
  metric_days: z.array(z.string()),
  tool_days: z.array(z.string()),
  /** Rows of the current step: their feed entries must be removed even if the rows are gone. */
  pending: z
    .object({
      tenant: z.string(),
      container: z.string(),
      keys: z.array(z.object({ partition: z.array(z.unknown()), id: z.string() })),
    })
    .nullable(),
});
export type WorkOfWorkspace = z.output<typeof work>;

export const emptyWork: WorkOfWorkspace = { incarnations: [], metric_days: [], tool_days: [], pending: null };

export const ErasureRecord = z.object({
  id: z.string(),
  format: z.literal(format),
  workspace_id: z.string(),
  erasure_id: z.string(),
  workspaces: z.array(z.string()),
  state: z.enum(erasureStates),
  subject_type: z.enum(erasureSubjectTypes),
  subject_hmac: z.string(),
  /** Until it has ended. */
  subject: z
    .object({
      type: z.enum(erasureSubjectTypes),
      id: z.string(),
      documents: z
        .object({ repository_id: z.string(), collection_id: z.string(), document_ids: z.array(z.string()) })
        .optional(),
      paths: z.array(z.string()),
    })
    .optional(),
  /** Writes that name the subject are refused. */
  fenced: z.literal(true).optional(),
  dry_run: z.boolean(),
  scrub: z.boolean().nullable(),
  stores: z.array(counts),
  /** By workspace. */
  work: z.record(z.string(), work),
  holds: z.array(z.string()),
  engines: z.array(z.string()),
  /** Time of the last start. */
  job_id: z.string(),
  attempts: z.number(),
  error: z.string().nullable(),
  receipt_id: z.string().nullable(),
  created_by: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  finished_at: z.string().nullable(),
});
export type ErasureRecord = z.output<typeof ErasureRecord>;

export const erasureItem = (id: string): string => `erasure:${id}`;
export const linksPrefix = (id: string): string => `links:${id}:`;
export const receiptItem = (sequence: number): string => `receipt:${String(sequence).padStart(12, "0")}`;
export const receiptPrefix = "receipt:";
export const chainItem = "chain";
/** No workspace can have this name. */
export const keysPartition = "~keys";

export const newErasureFormat = format;
