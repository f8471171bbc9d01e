import type { Stored, Workflow } from "@pinakes/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { workflowOptions } from "../../api/workflows.ts";
import { workflowStrings as s } from "../../strings/workflows.ts";
import { Badge, Status } from "../../ui/badge.tsx";
import { Page } from "../../ui/panel.tsx";
import { Empty, Pending } from "../../ui/states.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { CheckpointsTab } from "./checkpoints-tab.tsx";
import { EventsTab } from "./events-tab.tsx";
import { TimelineTab } from "./timeline-tab.tsx";
import { useWorkflowEvents, type WorkflowEvents } from "./use-workflow-events.ts";
import { WorkflowActions } from "./workflow-actions.tsx";
import { WorkflowFacts, WorkflowFailure } from "./workflow-facts.tsx";

const route = getRouteApi("/shell/workflows/$wid");

export function WorkflowPage() {
  const { wid } = route.useParams();
  const workflow = useQuery(workflowOptions(wid));
  if (workflow.data === undefined) {
    return (
      <Page title={wid}>
        <Pending of={workflow} />
      </Page>
    );
  }
  // A new stream per workflow.
  return <One key={wid} workflow={workflow.data} />;
}

function One({ workflow }: { readonly workflow: Stored<Workflow> }) {
  const live = useWorkflowEvents(workflow.workflow_id);
  if (live.deleted) {
    return (
      <Page title={workflow.name}>
        <Empty title={s.deleted} />
      </Page>
    );
  }
  return (
    <Page
      title={workflow.name}
      beside={<Status value={workflow.status} />}
      about={workflow.description}
      actions={<WorkflowActions workflow={workflow} lease={live.lease} />}
    >
      {workflow.error_details !== null && <WorkflowFailure error={workflow.error_details} />}
      <WorkflowFacts workflow={workflow} lease={live.lease} />
      <Parts workflow={workflow} live={live} />
    </Page>
  );
}

function Parts({ workflow, live }: { readonly workflow: Stored<Workflow>; readonly live: WorkflowEvents }) {
  const { tab } = route.useSearch();
  const navigate = route.useNavigate();
  const eventsLabel = (
    <span className="flex items-center gap-2">
      {s.tabs.events} <Badge tone={live.state === "open" ? "good" : "warn"}>{s.events.states[live.state]}</Badge>
    </span>
  );
  return (
    <Tabs
      label={s.tabs.label}
      value={tab ?? "timeline"}
      onChoose={(next) => void navigate({ search: (old) => ({ ...old, tab: next }), replace: true })}
      tabs={[
        { value: "timeline", label: s.tabs.timeline, content: <TimelineTab workflow={workflow} /> },
        { value: "checkpoints", label: s.tabs.checkpoints, content: <CheckpointsTab wid={workflow.workflow_id} /> },
        { value: "events", label: eventsLabel, content: <EventsTab events={live.events} /> },
      ]}
    />
  );
}
