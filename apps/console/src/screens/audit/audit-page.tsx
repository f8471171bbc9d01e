import { getRouteApi } from "@tanstack/react-router";
import { auditStrings as s } from "../../strings/audit.ts";
import { Page } from "../../ui/panel.tsx";
import { useFoundJobs } from "../jobs/find-jobs.ts";
import { useLiveJobs } from "../jobs/use-live-jobs.ts";
import { AuditReportPanel } from "./audit-report.tsx";
import { PastAudits } from "./past-audits.tsx";
import type { AuditSearch } from "./routes.ts";
import { StartAudit } from "./start-audit.tsx";

/** The newest checks suffice; older ones are loaded on request. */
const auditsWanted = 10;

const route = getRouteApi("/shell/audit");

export function AuditPage() {
  const { job, kind } = route.useSearch();
  const navigate = route.useNavigate();
  const set = (next: AuditSearch) => void navigate({ search: (old) => ({ ...old, ...next }), replace: true });
  const found = useFoundJobs({ kind: "fsck" }, auditsWanted);
  useLiveJobs();
  // Selects the newest by default.
  const shown = job ?? found.items?.[0]?.job_id;
  return (
    <Page title={s.title} about={s.about}>
      <StartAudit onStarted={(id) => set({ job: id, kind: undefined })} />
      {shown !== undefined && (
        <AuditReportPanel key={shown} id={shown} kind={kind} onKind={(next) => set({ kind: next })} />
      )}
      <PastAudits found={found} onShow={(id) => set({ job: id, kind: undefined })} />
    </Page>
  );
}
