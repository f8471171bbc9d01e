import { type Stored, type Workflow, type WorkflowEvent, workflowEventTypes } from "@pinakes/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { workflowOptions, leaseOptions, workflowPath, type Lease } from "../../api/workflows.ts";
import { workflowStrings as s } from "../../strings/workflows.ts";
import { Badge, Status } from "../../ui/badge.tsx";
import { Page } from "../../ui/panel.tsx";
import { Empty, Pending } from "../../ui/states.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { CheckpointsTab } from "./checkpoints-tab.tsx";
import { EventsTab } from "./events-tab.tsx";
import { TimelineTab } from "./timeline-tab.tsx";
import { useState } from "react";
import { useStream, type StreamState } from "../../api/stream.ts";
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

/** Limits the events of a long-running workflow. */
const keptMax = 1_000;

/** Live events of a workflow: the events, the lease holder, and refetches after each. */
interface WorkflowEvents {
  readonly state: StreamState;
  /** Newest first. */
  readonly events: readonly WorkflowEvent[];
  /** Undefined while loading, or if loading failed. */
  readonly lease: Lease | undefined;
  readonly deleted: boolean;
}

function useWorkflowEvents(wid: string): WorkflowEvents {
  const client = useQueryClient();
  const [events, setEvents] = useState<readonly WorkflowEvent[]>([]);
  const [told, setTold] = useState<Lease>();
  const state = useStream<WorkflowEvent>({
    at: `${workflowPath(wid)}/events`,
    types: workflowEventTypes,
    onEvent: (event) => {
      setEvents((old) => [event, ...old].slice(0, keptMax));
      if (event.type === "workflow.deleted") return;
      if (event.type === "lease.changed") setTold(event.data as unknown as Lease);
      else void client.invalidateQueries({ queryKey: ["workflows", "one", wid] });
      if (event.type === "checkpoint.added")
        void client.invalidateQueries({ queryKey: ["workflows", "checkpoints", wid] });
    },
    onMissed: () => {
      setTold(undefined);
      for (const what of ["one", "checkpoints", "lease"])
        void client.invalidateQueries({ queryKey: ["workflows", what, wid] });
    },
  });
  const asked = useQuery(leaseOptions(wid)).data;
  const lease = told ?? asked;
  return { state, events, lease, deleted: events[0]?.type === "workflow.deleted" };
}
