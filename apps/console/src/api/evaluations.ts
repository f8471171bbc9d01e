/** Questions with their right documents, and how well searches find them. */
import { queryOptions } from "@tanstack/react-query";
import type { Fusion } from "./explained-search.ts";
import { pagedOptions } from "./page.ts";
import { get, path, post, request } from "./request.ts";
import type { SearchQuestion } from "./search.ts";
import type { JobRow } from "./jobs.ts";

export interface RunConfiguration {
  readonly mode?: SearchQuestion["mode"];
  readonly fusion?: Fusion;
  readonly vector_weight?: number;
  readonly diversity?: number;
}

export interface EvaluationRun {
  readonly job_id: string;
  readonly finished_at: string;
  readonly run_by: string;
  readonly configuration: RunConfiguration;
  readonly queries: number;
  readonly k: number;
  readonly ndcg: number;
  readonly recall: number;
  readonly mrr: number;
  readonly search_ms_p50: number;
  readonly search_ms_p95: number;
}

export interface Evaluation {
  readonly evaluation_id: string;
  readonly name: string;
  readonly collections: readonly { readonly repository: string; readonly collection: string }[];
  readonly query_count: number;
  readonly k: number;
  readonly created_by: string;
  readonly created_at: string;
  readonly updated_at: string;
  /** Newest first, the last 20. */
  readonly runs: readonly EvaluationRun[];
}

/** One question of a run. */
export interface RunQuestion {
  readonly number: number;
  readonly query: string;
  readonly relevant: readonly { readonly document_id: string }[];
  readonly ndcg: number;
  readonly recall: number;
  readonly mrr: number;
  readonly search_ms: number;
  /** Of the right documents, those among the first k. */
  readonly found: readonly { readonly document_id: string; readonly rank: number }[];
}

export interface NewEvaluation {
  readonly name: string;
  readonly collections: Evaluation["collections"];
  readonly queries: readonly {
    readonly query: string;
    readonly relevant: readonly { readonly document_id: string }[];
  }[];
  readonly k?: number;
}

export const evaluationsKey = ["evaluations"] as const;

export const evaluationsOptions = pagedOptions<Evaluation>([...evaluationsKey, "list"], "/v1/evaluations");

export function evaluationOptions(id: string) {
  return queryOptions({
    queryKey: [...evaluationsKey, "one", id],
    queryFn: ({ signal }) => get<Evaluation>(path`/v1/evaluations/${id}`, { signal }),
  });
}

export function runQuestionsOptions(id: string, jobId: string) {
  return pagedOptions<RunQuestion>(
    [...evaluationsKey, "run", id, jobId],
    path`/v1/evaluations/${id}/runs/${jobId}/questions`,
  );
}

export async function deleteEvaluation(id: string): Promise<void> {
  await request("DELETE", path`/v1/evaluations/${id}`);
}

export function createEvaluation(input: NewEvaluation): Promise<Evaluation> {
  return post<Evaluation>("/v1/evaluations", input);
}

export function runEvaluation(id: string, configuration: RunConfiguration): Promise<JobRow> {
  return post<JobRow>(`${path`/v1/evaluations/${id}`}:run`, configuration);
}
