import type { AuditReport, FindingKind, Job } from "@pinakes/client";
import { useQuery } from "@tanstack/react-query";
import { reportOf } from "../../api/fsck.ts";
import { jobDetailOptions, mayAct } from "../../api/jobs.ts";
import { formatMs, formatNumber } from "../../lib/format.ts";
import { auditStrings } from "../../strings/audit.ts";
import { Status } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Facts, Panel } from "../../ui/panel.tsx";
import { Pending } from "../../ui/states.tsx";
import { JobProgress } from "../jobs/job-progress.tsx";
import { useJobAction } from "../jobs/use-job-action.ts";
import { Findings } from "./findings.tsx";

const s = auditStrings.report;

interface Props {
  readonly id: string;
  readonly kind: FindingKind | undefined;
  readonly onKind: (kind: FindingKind | undefined) => void;
}

export function AuditReportPanel({ id, kind, onKind }: Props) {
  const { data: job, error, refetch } = useQuery(jobDetailOptions(id));
  const acting = useJobAction();
  return (
    <Panel
      title={s.title}
      actions={
        job !== undefined && (
          <>
            <Status value={job.status} />
            {mayAct(job, "cancel") && (
              <Button size="small" disabled={acting.isPending} onClick={() => acting.mutate({ job, action: "cancel" })}>
                {s.cancel}
              </Button>
            )}
          </>
        )
      }
    >
      {job === undefined ? <Pending of={{ error, refetch }} /> : <Report job={job} kind={kind} onKind={onKind} />}
    </Panel>
  );
}

function Report({ job, kind, onKind }: Omit<Props, "id"> & { readonly job: Job }) {
  const report = reportOf(job);
  if (report === undefined)
    return (
      <div className="flex flex-col gap-3 text-sm">
        {job.error === null ? (
          <p>{s.underWay}</p>
        ) : (
          <p className="break-words text-bad">{`${s.failed}: ${job.error}`}</p>
        )}
        <JobProgress progress={job.progress} />
      </div>
    );
  return (
    <div className="flex flex-col gap-4">
      <Summary report={report} />
      {report.found > 0 && <Findings jobId={job.job_id} kind={kind} onKind={onKind} />}
    </div>
  );
}

function Summary({
  report: { began_at, finished_at, repair, found, left, waiting, checked },
}: {
  readonly report: AuditReport;
}) {
  const looked = Object.entries(checked).map(([what, count]) => `${s.things[what] ?? what}: ${formatNumber(count)}`);
  return (
    <>
      <p role="status" className={left > 0 ? "text-sm font-medium text-bad" : "text-sm font-medium text-good"}>
        {found === 0 ? s.clean : s.found(formatNumber(found), formatNumber(left))}
      </p>
      {waiting > 0 && <p className="text-sm">{s.waiting(formatNumber(waiting))}</p>}
      <Facts
        of={[
          [s.checked, looked.join("; ")],
          [s.took, formatMs(Date.parse(finished_at) - Date.parse(began_at))],
          [s.mode, repair ? s.repaired : s.notRepaired],
        ]}
      />
    </>
  );
}
