import { getRouteApi } from "@tanstack/react-router";
import { useCollectionName } from "../../api/collection-names.ts";
import { formatNumber } from "../../lib/format.ts";
import { jobStrings as s } from "../../strings/jobs.ts";
import { Button } from "../../ui/button.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty, Loading } from "../../ui/states.tsx";
import { useFoundJobs } from "./find-jobs.ts";
import { jobColumns } from "./job-columns.tsx";
import { JobFilters } from "./job-filters.tsx";
import { JobSheet } from "./job-sheet.tsx";
import { useJobAction } from "./use-job-action.ts";
import { useLiveJobs } from "./use-live-jobs.ts";

const route = getRouteApi("/shell/jobs");

export function JobsTab() {
  const { status, kind, q, job } = route.useSearch();
  const navigate = route.useNavigate();
  const nameOf = useCollectionName();
  const found = useFoundJobs({ status, kind, q, nameOf });
  const acting = useJobAction();
  useLiveJobs();
  const show = (id: string | undefined) => void navigate({ search: (old) => ({ ...old, job: id }), replace: true });
  const { list } = found;
  const columns = jobColumns({
    pending: acting.isPending ? acting.variables.job.job_id : undefined,
    onAct: (one, action) => acting.mutate({ job: one, action }),
    nameOf,
  });
  return (
    <div className="flex flex-col gap-4">
      <JobFilters />
      <DataTable
        label={s.table}
        columns={columns}
        items={found.items}
        rowId={({ job_id }) => job_id}
        onOpen={({ job_id }) => show(job_id)}
        error={list.data === undefined ? list.error : undefined}
        onRetry={() => void list.refetch()}
        empty={<NoJobs found={found} />}
        more={found.more}
      />
      {found.lookFurther !== undefined && found.items?.length !== 0 && (
        <Button className="self-start" onClick={found.lookFurther}>
          {s.searchOlder}
        </Button>
      )}
      {job !== undefined && <JobSheet id={job} onClose={() => show(undefined)} />}
    </div>
  );
}

function NoJobs({ found: { looking, seen, lookFurther } }: { readonly found: ReturnType<typeof useFoundJobs> }) {
  if (looking) return <Loading what={s.searching} />;
  if (seen === 0) return <Empty title={s.empty}>{s.emptyAbout}</Empty>;
  return (
    <Empty
      title={s.nothing}
      action={lookFurther === undefined ? undefined : <Button onClick={lookFurther}>{s.searchOlder}</Button>}
    >
      {s.nothingSoFar(formatNumber(seen))}
    </Empty>
  );
}
