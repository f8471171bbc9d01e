import type { Evaluation, Job, RunConfiguration, RunQuestion } from "@pinakes/client";
import { queryOptions } from "@tanstack/react-query";
import { pagedOptions } from "./page.ts";
import { get, path, post, request } from "./request.ts";

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

export function runEvaluation(id: string, configuration: RunConfiguration): Promise<Job> {
  return post<Job>(`${path`/v1/evaluations/${id}`}:run`, configuration);
}
