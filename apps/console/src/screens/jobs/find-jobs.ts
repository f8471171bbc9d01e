/** The server lists all jobs, newest first; which of them are wanted is decided here, page by page. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { jobListOptions, type JobRow } from "../../api/jobs.ts";

export interface JobFilter {
  readonly status?: string | undefined;
  readonly kind?: string | undefined;
  readonly q?: string | undefined;
}

/** As many rows as a window shows, and some. */
const wantedRows = 30;
/** Then the reader is asked whether to look further: jobs stay for 90 days, there may be very many. */
const pagesAtOnceMax = 10;

export function matchesJob(job: JobRow, { status, kind, q }: JobFilter): boolean {
  if (status !== undefined && job.status !== status) return false;
  if (kind !== undefined && job.kind !== kind) return false;
  if (q === undefined) return true;
  const wanted = q.toLowerCase();
  return [job.job_id, job.repository_id, job.collection_id, job.created_by, job.error ?? ""].some((text) => text.toLowerCase().includes(wanted));
}

export function useFoundJobs(filter: JobFilter) {
  const list = useInfiniteQuery(jobListOptions);
  const [pagesMax, setPagesMax] = useState(pagesAtOnceMax);
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = list;
  const items = data?.items.filter((job) => matchesJob(job, filter));
  const filtered = filter.status !== undefined || filter.kind !== undefined || filter.q !== undefined;
  const seen = data?.items.length ?? 0;
  const mayLook = seen < pagesMax * 100;
  const looking = filtered && items !== undefined && items.length < wantedRows && hasNextPage && mayLook && !isError;
  useEffect(() => {
    if (looking && !isFetching) void fetchNextPage();
  }, [looking, isFetching, fetchNextPage]);
  return {
    list,
    items,
    seen,
    looking,
    /** There are older ones that were not looked at; undefined: all were, or a table asks for them as it is scrolled. */
    lookFurther: filtered && hasNextPage && !looking ? () => setPagesMax(Math.ceil(seen / 100) + pagesAtOnceMax) : undefined,
  };
}
