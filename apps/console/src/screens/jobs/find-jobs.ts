/** The server lists all jobs, newest first; which of them are wanted is decided here, page by page. */
import type { Job } from "@pinakes/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { jobListOptions } from "../../api/jobs.ts";
import { moreOf } from "../../api/page.ts";
import type { PlaceName } from "../../api/place-names.ts";

export interface JobFilter {
  readonly status?: string | undefined;
  readonly kind?: string | undefined;
  readonly q?: string | undefined;
  /** What is shown is found, too, not only ids. */
  readonly nameOf?: PlaceName;
}

/** As many rows as a window shows, and some. */
const wantedRowsDefault = 30;
/** Then the reader is asked whether to look further: jobs stay for 90 days, there may be very many. */
const lookedAtOnceMax = 1_000;

export function matchesJob(job: Job, { status, kind, q, nameOf }: JobFilter): boolean {
  if (status !== undefined && job.status !== status) return false;
  if (kind !== undefined && job.kind !== kind) return false;
  if (q === undefined) return true;
  const wanted = q.toLowerCase();
  return [job.job_id, job.repository_id, job.collection_id, job.created_by, job.error ?? "", nameOf?.(job) ?? ""].some(
    (text) => text.toLowerCase().includes(wanted),
  );
}

export function useFoundJobs(filter: JobFilter, wantedRows = wantedRowsDefault) {
  const list = useInfiniteQuery(jobListOptions);
  const [lookedMax, setLookedMax] = useState(lookedAtOnceMax);
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = list;
  const more = moreOf(list);
  const filtered = filter.status !== undefined || filter.kind !== undefined || filter.q !== undefined;
  const items = data?.items.filter((job) => matchesJob(job, filter));
  const seen = data?.items.length ?? 0;
  const mayLook = hasNextPage && (!filtered || seen < lookedMax);
  const looking = filtered && mayLook && items !== undefined && items.length < wantedRows && !isError;
  useEffect(() => {
    if (looking && !isFetching) void fetchNextPage();
  }, [looking, isFetching, fetchNextPage]);
  return {
    list,
    items,
    /** So many jobs were looked at. */
    seen,
    looking,
    /** For the table, which asks for more as it is scrolled. */
    more: { ...more, has: more.has && mayLook },
    /** Undefined: nothing older is left to look at, or nobody needs to be asked. */
    lookFurther: hasNextPage && !mayLook ? () => setLookedMax(seen + lookedAtOnceMax) : undefined,
  };
}
