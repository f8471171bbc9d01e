/** Aggregates over time, of metrics and of the tool log. */
import type { Aggregate, AggregateResult } from "@pinakes/client";
import { queryOptions } from "@tanstack/react-query";
import { post } from "./request.ts";

export interface AggregateQuestion {
  readonly from: string;
  readonly to: string;
  readonly bucket?: string | undefined;
  readonly aggregates: readonly Aggregate[];
  readonly group_by?: readonly string[] | undefined;
  readonly filter?: Readonly<Record<string, string>> | undefined;
}

export type AggregateSource = "metrics" | "tool-invocations";

export function aggregateOptions(source: AggregateSource, question: AggregateQuestion) {
  return queryOptions({
    queryKey: [source, "aggregate", question],
    queryFn: ({ signal }) => post<AggregateResult>(`/v1/${source}:aggregate`, question, { signal }),
  });
}
