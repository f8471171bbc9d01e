/** An operation on all stores as the job that callers see. Both have the same id. */
import type { JobStatus } from "@pinakes/client";
import type { JsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import { failureOf, reportOf, type Operation } from "../../lifecycle/index.ts";
import { countedIn } from "./counted-in.ts";
import type { JobKind, JobRecord, Jobs } from "./jobs.ts";

const statuses: Readonly<Record<Operation["status"], JobStatus>> = {
  running: "running",
  failed: "failed",
  done: "succeeded",
};
const kinds: Readonly<Record<Operation["action"], JobKind>> = {
  "delete-collection": "purge",
  "archive-collection": "archive",
};

/** Jobs that mirror an operation: they are never run, and never cancelled. */
export function isOperationJob({ kind }: Pick<JobRecord, "kind">): boolean {
  return kind === "purge" || kind === "archive";
}

/** Idempotent; a finished job stays finished. */
export async function updateJob(jobs: Jobs, scope: Scope, operation: Operation): Promise<JobRecord> {
  const { operation_id, action, repository_id, collection_id, incarnation, created_by, stores } = operation;
  const over = stores.filter(({ status }) => status === "confirmed" || status === "left").length;
  return jobs.tell(
    scope,
    { job_id: operation_id, kind: kinds[action], repository_id, collection_id, incarnation, created_by },
    {
      status: statuses[operation.status],
      progress: { done: over, total: stores.length },
      attempts: Math.max(1, ...stores.map(({ attempts }) => attempts)),
      error: operation.status === "failed" ? failureOf(operation) : null,
      result: operation.status === "done" ? resultOf(operation) : null,
    },
  );
}

function resultOf(operation: Operation): JsonObject {
  const mode = operation.action === "delete-collection" ? "purge" : "archive";
  const stores = reportOf(operation).map((report) => ({
    ...report,
    unit: countedIn(operation.action, report.store),
  })) as unknown as JsonObject[];
  return { mode, ...(operation.partial ? { partial: true } : {}), stores };
}
