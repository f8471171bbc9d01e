import { getRouteApi } from "@tanstack/react-router";
import { jobStrings as s } from "../../strings/jobs.ts";
import { Page } from "../../ui/panel.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { JobsTab } from "./jobs-tab.tsx";
import { QueuesTab } from "./queues-tab.tsx";
import type { JobTab } from "./routes.ts";

const route = getRouteApi("/shell/jobs");

export function JobsPage() {
  const { tab = "jobs" } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Page title={s.title} about={s.about}>
      <Tabs<JobTab>
        label={s.tabs.label}
        value={tab}
        onChoose={(next) => void navigate({ search: (old) => ({ ...old, tab: next }), replace: true })}
        tabs={[
          { value: "jobs", label: s.tabs.jobs, content: tab === "jobs" && <JobsTab /> },
          { value: "queues", label: s.tabs.queues, content: tab === "queues" && <QueuesTab /> },
        ]}
      />
    </Page>
  );
}
