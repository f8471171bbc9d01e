import type { Job } from "@pinakes/client";
import { reportOf } from "../../api/fsck.ts";
import { useCollectionName, type CollectionName } from "../../api/collection-names.ts";
import { formatNumber } from "../../lib/format.ts";
import { auditStrings } from "../../strings/audit.ts";
import { Badge, Status } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { DataTable, type Column } from "../../ui/data-table.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Empty, Loading } from "../../ui/states.tsx";
import { Ago } from "../../ui/time.tsx";
import type { useFoundJobs } from "../jobs/find-jobs.ts";
import { labelOf } from "../jobs/job-columns.tsx";
import { JobProgress } from "../jobs/job-progress.tsx";

const s = auditStrings.past;

const columnsOf = (nameOf: CollectionName): readonly Column<Job>[] => [
  { id: "at", header: s.columns.at, width: "8rem", cell: ({ created_at }) => <Ago at={created_at} /> },
  { id: "status", header: s.columns.status, width: "7rem", cell: ({ status }) => <Status value={status} /> },
  {
    id: "where",
    header: s.columns.where,
    width: "minmax(9rem,1fr)",
    cell: (job) => <span className="truncate">{labelOf(job, nameOf)}</span>,
  },
  { id: "how", header: s.columns.how, width: "9rem", cell: (job) => <How job={job} /> },
  {
    id: "progress",
    header: s.columns.progress,
    width: "11rem",
    cell: ({ progress }) => <JobProgress progress={progress} />,
  },
  { id: "found", header: s.columns.found, width: "5rem", align: "right", cell: (job) => count(reportOf(job)?.found) },
  { id: "left", header: s.columns.left, width: "5rem", align: "right", cell: (job) => count(reportOf(job)?.left) },
];

interface Props {
  readonly found: ReturnType<typeof useFoundJobs>;
  readonly onShow: (jobId: string) => void;
}

export function PastAudits({ found: { list, items, looking, seen, more, lookFurther }, onShow }: Props) {
  const further = lookFurther === undefined ? undefined : <Button onClick={lookFurther}>{s.searchOlder}</Button>;
  const empty = looking ? (
    <Loading what={s.searching} />
  ) : (
    <Empty title={s.empty} action={further}>
      {further === undefined ? s.emptyAbout : s.nothingSoFar(formatNumber(seen))}
    </Empty>
  );
  return (
    <Panel title={s.title}>
      <DataTable
        label={s.table}
        columns={columnsOf(useCollectionName())}
        items={items}
        rowId={({ job_id }) => job_id}
        onOpen={({ job_id }) => onShow(job_id)}
        error={list.data === undefined ? list.error : undefined}
        onRetry={() => void list.refetch()}
        empty={empty}
        more={more}
      />
      {items !== undefined && items.length > 0 && further !== undefined && <div className="mt-3">{further}</div>}
    </Panel>
  );
}

function How({ job }: { readonly job: Job }) {
  const report = reportOf(job);
  if (report === undefined) return null;
  return (
    <>
      <Badge>{report.deep ? s.deep : s.quick}</Badge>
      {report.repair && <Badge tone="warn">{s.repair}</Badge>}
    </>
  );
}

function count(value: number | undefined): string {
  return value === undefined ? "–" : formatNumber(value);
}
