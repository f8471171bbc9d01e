/** Client-side filters: the server only lists all jobs, newest first. */
import type { Job } from "@pinakes/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { jobListOptions } from "../../api/jobs.ts";
import { moreOf } from "../../api/page.ts";
import type { CollectionName } from "../../api/collection-names.ts";

export interface JobFilter {
  readonly status?: string | undefined;
  readonly kind?: string | undefined;
  readonly q?: string | undefined;
  /** Matches displayed names, too. */
  readonly nameOf?: CollectionName;
}

/** Slightly more rows than a window shows. */
const wantedRowsDefault = 30;
/** Then the user decides whether to search older jobs: there may be many in 90 days. */
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
    /** Number of jobs searched. */
    seen,
    looking,
    /** For the table, which loads more on scroll. */
    more: { ...more, has: more.has && mayLook },
    /** Undefined if all jobs are searched, or no confirmation is needed. */
    lookFurther: hasNextPage && !mayLook ? () => setLookedMax(seen + lookedAtOnceMax) : undefined,
  };
}
