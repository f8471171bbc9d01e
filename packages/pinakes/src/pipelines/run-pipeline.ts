/**
 * Executes a plan: first files are added, then documents of deleted files are removed, each checked once more. Every step is idempotent, so
 * an interrupted run is simply repeated. The source itself is only read.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Caller } from "../domain/caller.ts";
import { PinakesError } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import { tolerate } from "../runtime/expected-errors.ts";
import type { SourceFile, SourceProblem, SourceReader } from "../ports/source-reader.ts";
import type { Documents } from "../knowledge/documents/documents.ts";
import type { Uploads } from "../knowledge/documents/upload.ts";
import type { OpenCollection } from "../knowledge/access/open-collection.ts";
import type { PipelineSettings } from "../knowledge/records/records.ts";
import { readAccessSidecar } from "./access-sidecar.ts";
import { pipelineLimits } from "./limits.ts";
import type { Gone, Plan } from "./plan.ts";

export interface RunDependencies {
  readonly uploads: Uploads;
  readonly documents: Documents;
  readonly reader: SourceReader;
  readonly pipeline: PipelineSettings;
  readonly opened: OpenCollection;
  /** Owner of the documents. */
  readonly caller: Caller;
  readonly jobId: string;
  readonly signal: AbortSignal;
  /** Throws when the run must end: it was cancelled, or the pipeline deleted. */
  readonly tell: (progress: { done: number; total: number }) => Promise<void>;
}

export interface FileFailure extends SourceProblem {
  /** Whether a retry may succeed. */
  readonly retryable: boolean;
}

export interface RunResult {
  readonly pipeline_id: string;
  readonly added: number;
  readonly replaced: number;
  readonly removed: number;
  /** Files that were not read, or had the same bytes as before. */
  readonly unchanged: number;
  /** Documents of deleted files that stay, because the pipeline does not remove. */
  readonly kept: number;
  readonly skipped: number;
  readonly failed: number;
  readonly retryable_failures: number;
  /** The first hundred of each. */
  readonly failures: readonly FileFailure[];
  readonly skips: readonly SourceProblem[];
}

type Outcome = "added" | "replaced" | "removed" | "unchanged" | FileFailure;

const retryPauseMs = 100;
/** Progress interval in files. */
const tellFiles = 10;

export async function carryOut(deps: RunDependencies, plan: Plan): Promise<RunResult> {
  const { pipeline } = deps;
  const gone = pipeline.auto_remove ? plan.gone : [];
  const tasks: (() => Promise<Outcome>)[] = [
    ...plan.add.map((file) => () => fetchFile(deps, file, "added")),
    ...plan.replace.map((file) => () => fetchFile(deps, file, "replaced")),
    ...gone.map((document) => () => removeDocument(deps, document)),
  ];
  const counts = { added: 0, replaced: 0, removed: 0, unchanged: plan.unchanged };
  const failures: FileFailure[] = [];
  let failed = 0;
  let retryable = 0;
  let done = 0;
  let next = 0;
  await deps.tell({ done, total: tasks.length });
  const work = async (): Promise<void> => {
    for (let task = tasks[next++]; task !== undefined; task = tasks[next++]) {
      const outcome = await task();
      if (typeof outcome === "string") counts[outcome] += 1;
      else {
        failed += 1;
        retryable += Number(outcome.retryable);
        if (failures.length < pipelineLimits.resultFilesMax) failures.push(outcome);
      }
      done += 1;
      if (done % tellFiles === 0) await deps.tell({ done, total: tasks.length });
    }
  };
  const workers = Array.from({ length: pipelineLimits.filesAtOnceMax }, () =>
    work().catch((error: unknown) => {
      next = tasks.length; // The other workers stop after their current file.
      throw error;
    }),
  );
  for (const { reason } of (await Promise.allSettled(workers)).filter((ended) => ended.status === "rejected"))
    throw reason;
  await deps.tell({ done, total: tasks.length });
  return {
    pipeline_id: pipeline.pipeline_id,
    ...counts,
    kept: plan.gone.length - gone.length,
    skipped: plan.skipped.length,
    failed,
    retryable_failures: retryable,
    failures,
    skips: plan.skipped.slice(0, pipelineLimits.resultFilesMax),
  };
}

export function resultJson(result: RunResult): JsonObject {
  return result as unknown as JsonObject;
}

async function fetchFile(
  deps: RunDependencies,
  { uri, name, etag, sidecar }: SourceFile,
  outcome: "added" | "replaced",
): Promise<Outcome> {
  const { uploads, caller, opened, reader, pipeline, jobId, signal } = deps;
  return trying(uri, signal, async () => {
    const access = await readAccessSidecar(reader, sidecar === undefined ? {} : { sidecar }, signal);
    const { unchanged } = await uploads.upload(caller, opened, {
      ...access,
      name,
      body: reader.open(uri, signal),
      replace: true,
      source: { type: "auto", uri, pipeline_id: pipeline.pipeline_id, etag },
      chunking_strategy: pipeline.chunking_strategy,
      job_id: jobId,
    });
    return unchanged ? "unchanged" : outcome;
  });
}

async function removeDocument(
  { documents, caller, opened, reader, signal }: RunDependencies,
  { uri, document_id }: Gone,
): Promise<Outcome> {
  return trying(uri, signal, async () => {
    // It may exist again.
    if ((await reader.stat(uri, signal)) !== undefined) return "unchanged";
    await tolerate(documents.delete(caller, opened, document_id), "NOT_FOUND");
    return "removed";
  });
}

/** Transient errors are retried; an error of one file is its result; an error of the whole collection ends the run. */
async function trying(uri: string, signal: AbortSignal, step: () => Promise<Outcome>): Promise<Outcome> {
  for (let tries = 1; ; tries += 1) {
    signal.throwIfAborted();
    try {
      return await step();
    } catch (error) {
      signal.throwIfAborted();
      const known = PinakesError.isInstance(error);
      if (known && error.code === "CONFLICT") throw error;
      const retryable = !known || error.retryable || error.code === "PRECONDITION_FAILED";
      if (retryable && tries < pipelineLimits.fileTriesMax)
        await pause(retryPauseMs * 2 ** tries, undefined, { signal });
      else return { uri, reason: error instanceof Error ? error.message : String(error), retryable };
    }
  }
}
