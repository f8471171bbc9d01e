/** The timeline, drawn and as a table. A row opens its agent or checkpoint. */
import type { Workflow } from "@pinakes/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { checkpointsOptions } from "../../api/workflows.ts";
import { formatDateTime, formatMs } from "../../lib/format.ts";
import { workflowStrings } from "../../strings/workflows.ts";
import { Status } from "../../ui/badge.tsx";
import { DataTable, type Column } from "../../ui/data-table.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Empty } from "../../ui/states.tsx";
import { AgentSheet } from "./agent-sheet.tsx";
import { TimelineDrawing } from "./timeline-drawing.tsx";
import { entriesOf, timelineOf, type Entry } from "./timeline.ts";

const s = workflowStrings.timeline;
const route = getRouteApi("/shell/workflows/$wid");
const againMs = 5_000;

export function TimelineTab({ workflow }: { readonly workflow: Workflow }) {
  const navigate = route.useNavigate();
  const { agent: agentId } = route.useSearch();
  const now = useNow(workflow.status === "in_progress");
  const checkpoints = useInfiniteQuery(checkpointsOptions(workflow.workflow_id));
  const timeline = timelineOf(workflow, checkpoints.data?.items ?? [], now);
  const open = ({ kind, key, what }: Entry) => {
    if (kind === "agent") void navigate({ search: (old) => ({ ...old, agent: what }) });
    if (kind === "checkpoint") void navigate({ search: (old) => ({ ...old, tab: "checkpoints", checkpoint: key }) });
  };
  return (
    <div className="flex flex-col gap-4">
      <Panel title={s.title}>
        <TimelineDrawing timeline={timeline} name={workflow.name} now={now} />
        {checkpoints.hasNextPage && <p className="mt-2 text-xs text-soft">{s.omitted}</p>}
      </Panel>
      <DataTable
        label={s.table}
        columns={columnsAt(now)}
        items={entriesOf(timeline)}
        rowId={({ key }) => key}
        onOpen={open}
        empty={<Empty title={s.nothing} />}
        error={checkpoints.error}
        onRetry={() => void checkpoints.refetch()}
      />
      <AgentSheet
        agent={workflow.agents.find(({ agent_id }) => agent_id === agentId)}
        onClose={() => void navigate({ search: (old) => ({ ...old, agent: undefined }) })}
      />
    </div>
  );
}

function columnsAt(now: number): readonly Column<Entry>[] {
  return [
    {
      id: "at",
      header: s.columns.at,
      width: "12rem",
      cell: ({ from }) =>
        from === undefined ? <span className="text-soft">{s.notStarted}</span> : formatDateTime(from),
    },
    { id: "kind", header: s.columns.kind, width: "7rem", cell: ({ kind }) => s.kinds[kind] },
    { id: "what", header: s.columns.what, cell: ({ what }) => <span className="truncate">{what}</span> },
    {
      id: "status",
      header: s.columns.status,
      width: "8rem",
      cell: ({ status }) => status !== undefined && <Status value={status} />,
    },
    {
      id: "duration",
      header: s.columns.duration,
      width: "8rem",
      align: "right",
      cell: ({ from, to }) => (from === undefined || from === to ? "" : formatMs((to ?? now) - from)),
    },
  ];
}

/** Advances while something is in progress. */
function useNow(moving: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!moving) return;
    const timer = setInterval(() => setNow(Date.now()), againMs);
    return () => clearInterval(timer);
  }, [moving]);
  return now;
}
