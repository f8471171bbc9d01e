import type { ToolInvocation } from "@pinakes/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { moreOf } from "../../api/page.ts";
import { toolsOptions, type ToolQuery } from "../../api/tool-log.ts";
import { formatDateTime, formatMs } from "../../lib/format.ts";
import { toolStrings as s } from "../../strings/tools.ts";
import { Status } from "../../ui/badge.tsx";
import { DataTable, type Column } from "../../ui/data-table.tsx";
import { ShownName } from "../../ui/name.tsx";
import { Empty } from "../../ui/states.tsx";

const route = getRouteApi("/shell/tools");

const columns: readonly Column<ToolInvocation>[] = [
  { id: "at", header: s.columns.at, width: "12rem", cell: ({ timestamp }) => formatDateTime(timestamp) },
  {
    id: "tool",
    header: s.columns.tool,
    width: "minmax(9rem,1fr)",
    cell: ({ tool_name }) => (
      <span className="truncate font-medium">
        <ShownName of={tool_name} />
      </span>
    ),
  },
  { id: "status", header: s.columns.status, width: "6rem", cell: ({ status }) => <Status value={status} /> },
  {
    id: "duration",
    header: s.columns.duration,
    width: "6.5rem",
    align: "right",
    cell: ({ duration_ms }) => formatMs(duration_ms),
  },
  {
    id: "agent",
    header: s.columns.agent,
    width: "minmax(9rem,1fr)",
    cell: ({ agent_id }) => <span className="truncate">{agent_id}</span>,
  },
  {
    id: "session",
    header: s.columns.session,
    width: "8rem",
    cell: ({ session_id }) => <span className="truncate">{session_id}</span>,
  },
  {
    id: "error",
    header: s.columns.error,
    width: "minmax(9rem,1fr)",
    cell: ({ error_details: error }) =>
      error !== null && <span className="truncate text-soft">{error.error_message || error.error_type}</span>,
  },
];

export function CallTable({ query }: { readonly query: ToolQuery }) {
  const navigate = route.useNavigate();
  const list = useInfiniteQuery(toolsOptions(query));
  return (
    <DataTable
      label={s.table}
      columns={columns}
      items={list.data?.items}
      rowId={({ tool_date, id }) => `${tool_date} ${id}`}
      onOpen={({ tool_date, id }) => void navigate({ search: (old) => ({ ...old, day: tool_date, call: id }) })}
      empty={<Empty title={s.nothing}>{s.nothingAbout}</Empty>}
      error={list.error}
      onRetry={() => void list.refetch()}
      more={moreOf(list)}
    />
  );
}
