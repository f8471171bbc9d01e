/** Options for opening Pinakes in a program. The server's settings, which come from its environment, are in config.ts. */
import { invalid } from "./domain/errors.ts";
import type { Log } from "./domain/log.ts";
import type { AuditMode } from "./governance/index.ts";
import type { OidcSettings } from "./identity/index.ts";
import type { Quotas } from "./knowledge/index.ts";
import type { PipelineOptions } from "./open-engines.ts";
import type { Clock } from "./ports/clock.ts";
import type { OpenVectorsOptions } from "./vectors/index.ts";

export interface OpenOptions extends PipelineOptions {
  /** Where embedded stores keep their files; `./data` when absent. */
  readonly dir?: string | undefined;
  /** `sqlite:./folder`, `postgres://…`, `dynamodb://region/prefix` or `memory:`; SQLite in `dir` when absent. */
  readonly items?: string | undefined;
  /** `file:./folder`, `s3://bucket/prefix` or `memory:`; the folder `objects` in `dir` when absent. */
  readonly objects?: string | undefined;
  /** `items` (in the item store, the default) or `sqs://region/prefix`. */
  readonly queue?: string | undefined;
  /** A file with the master key, current one first: objects are encrypted, with a key for each workspace. See docs/operations.md. */
  readonly masterKeyFile?: string | undefined;
  /** `pinakes` when absent; a store under `project-ascension-db`, the default of earlier versions, is found, too. */
  readonly database?: string | undefined;
  readonly clock?: Clock | undefined;
  /** Gets a line, with its level, for each relevant event: a new system scope, a failure of background work or of a document. */
  readonly log?: Log | undefined;
  /** Gets the lines about system scopes instead of `log`: they are the same at every start. */
  readonly logScope?: (line: string) => void;
  /** How often expired items are purged. */
  readonly sweepMs?: number | undefined;
  /** Memory, threads and retention of the vector store. */
  readonly vectors?: Pick<OpenVectorsOptions, "memoryBytesMax" | "diskBytesMax" | "threads" | "policy"> | undefined;
  /** Tenants whose producers drop deltas into the bucket and announce them on the queue `vector-deltas`, each with a default collection. */
  readonly dropBoxes?: readonly { readonly tenant: string; readonly collection?: string }[] | undefined;
  /** Embedding models that collections may name; the first is the default. Default: only the local one. See docs/reference.md. */
  readonly models?: unknown;
  /** Chat models that may read a collection's documents; none when absent. See docs/reference.md. */
  readonly chatModels?: unknown;
  /** Limits of the knowledge side that differ from the defaults. */
  readonly quotas?: Partial<Quotas> | undefined;
  /** How many days a deleted collection can be restored; 90 when absent, 0: every delete is final. */
  readonly trashDays?: number | undefined;
  /** How many days what a repair of fsck removed can be restored; 30 when absent. */
  readonly quarantineDays?: number | undefined;
  /** Deletes that take longer than this cause a warning; 300 when absent. */
  readonly deletionLagSeconds?: number | undefined;
  /**
   * How late another process may see that a subject is being erased, in milliseconds; an erasure waits twice as long before it looks. 2,000
   * when absent; 0 where this is the only process of its stores.
   */
  readonly erasureFenceMs?: number | undefined;
  /** An archive of a subject's data continues in another part after this many bytes; 1 GiB when absent. */
  readonly subjectExportPartBytes?: number | undefined;
  /** Prefix of the lifecycle's queue names, if several deployments share them. */
  readonly topicPrefix?: string | undefined;
  /** The key of the workspace `default`'s admin, which may create keys for any workspace. */
  readonly rootToken?: string | undefined;
  /** What the audit log records; `changes` when absent. `reads`: also who read which document. */
  readonly audit?: AuditMode | undefined;
  /** Seeds of the keys that sign audit checkpoints, separated by commas, the current one first; in the file `audit-key` when absent. */
  readonly auditKey?: string | undefined;
  /** Issuers whose tokens are accepted besides keys. */
  readonly oidc?: readonly OidcSettings[] | undefined;
  /** Folders and addresses that migrations may read; none when absent. "any" where every admin of a workspace operates the machine, too. */
  readonly migrationSources?: readonly string[] | "any" | undefined;
  /** Documents that are ingested at the same time; two more than there are cores when absent. */
  readonly ingestPlaces?: number | undefined;
  /** False: no background work in this process (compaction, garbage, expiry). For tools that look at stores in use by others. */
  readonly background?: boolean | undefined;
}

export function deletionLagOf(seconds: number = 300): number {
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= 604_800) return seconds;
  throw invalid(`deletionLagSeconds: must be a whole number from 1 to 604800, got ${JSON.stringify(seconds)}.`);
}

export function trashMsOf(days: number | undefined): number | undefined {
  return daysInMs(days, "trashDays", 0, 36_500);
}

export function quarantineMsOf(days: number | undefined): number | undefined {
  return daysInMs(days, "quarantineDays", 1, 3_650);
}

function daysInMs(days: number | undefined, name: string, least: number, most: number): number | undefined {
  if (days === undefined || (Number.isInteger(days) && days >= least && days <= most))
    return days === undefined ? undefined : days * 86_400_000;
  throw invalid(`${name}: must be a whole number from ${least} to ${most}, got ${JSON.stringify(days)}.`);
}
