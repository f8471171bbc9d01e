/**
 * The ingestion of one upload as a job. Nothing executes it: its state is derived from its documents on read, so the two never disagree.
 */
import type { JobStatus } from "@pinakes/client";
import type { JsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import { CollectionPartition } from "../records/collection-partition.ts";
import type { CatalogRecords } from "../records/catalog-records.ts";
import type { DocumentRecord } from "../records/records.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import type { JobRecord } from "./jobs.ts";

export interface DocumentResult {
  readonly document_id: string;
  readonly name: string | null;
  /** The URI of its source. */
  readonly source: string | null;
  /** `gone`: deleted since. */
  readonly status: DocumentRecord["status"] | "gone";
  readonly error: string | null;
  readonly attempts: number;
}

/** The job with the current state of its documents, without hidden ones. */
export async function withDocuments(
  deps: KnowledgeDependencies,
  catalog: CatalogRecords,
  scope: Scope,
  job: JobRecord,
  hidden?: { readonly values: ReadonlySet<string> },
): Promise<JobRecord> {
  const all = await documentResults(deps, catalog, scope, job);
  const results = hidden === undefined ? all : all.filter(({ document_id }) => !hidden.values.has(document_id));
  const failed = results.filter(({ status }) => status === "failed");
  const underWay = results.filter(
    ({ status }) => status === "uploading" || status === "pending" || status === "indexing",
  );
  const [first] = failed;
  return {
    ...job,
    status: statusOf(results, failed.length, underWay.length),
    progress: { done: results.length - underWay.length, total: results.length },
    attempts: Math.max(1, ...results.map(({ attempts }) => attempts)),
    error:
      first === undefined
        ? null
        : `${failed.length} of ${results.length} documents failed; "${first.name}": ${first.error}`,
    result: { documents: results as unknown as JsonObject[] },
  };
}

export function documentIdsOf({ input }: Pick<JobRecord, "input">): readonly string[] {
  return (input["document_ids"] as readonly string[] | undefined) ?? [];
}

async function documentResults(
  deps: KnowledgeDependencies,
  catalog: CatalogRecords,
  scope: Scope,
  job: JobRecord,
): Promise<readonly DocumentResult[]> {
  const ids = documentIdsOf(job);
  const { repository_id, collection_id, incarnation } = job;
  const found =
    incarnation === undefined
      ? catalog.collection(scope, repository_id, collection_id)
      : catalog.incarnation(scope, { repository_id, collection_id, incarnation });
  const collection = (await found)?.record;
  const records =
    collection === undefined ? [] : await new CollectionPartition(deps.items, scope, collection).readMany(ids);
  return ids.map((document_id, i) => {
    const record = records[i];
    if (record === undefined)
      return { document_id, name: null, source: null, status: "gone", error: null, attempts: 0 };
    const { name, source, status, error, attempts } = record;
    return { document_id, name, source: source.uri, status, error, attempts };
  });
}

function statusOf(results: readonly DocumentResult[], failed: number, underWay: number): JobStatus {
  if (underWay > 0)
    return results.some(({ status }) => status === "indexing" || status === "indexed") ? "running" : "queued";
  return failed > 0 ? "failed" : "succeeded";
}
