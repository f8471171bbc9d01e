import type { Queue } from "@pinakes/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { queuesOptions } from "../../api/queues.ts";
import { formatNumber, formatSeconds } from "../../lib/format.ts";
import { queueStrings as s } from "../../strings/queues.ts";
import { Badge } from "../../ui/badge.tsx";
import { DataTable, type Column } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/states.tsx";
import { DeadLetters } from "./dead-letters.tsx";

const route = getRouteApi("/shell/jobs");

const columns: readonly Column<Queue>[] = [
  {
    id: "name",
    header: s.columns.name,
    width: "minmax(18rem,1fr)",
    cell: ({ name }) => <span className="truncate font-medium">{name}</span>,
  },
  {
    id: "waiting",
    header: s.columns.waiting,
    width: "6.5rem",
    align: "right",
    cell: ({ waiting }) => formatNumber(waiting),
  },
  {
    id: "in_progress",
    header: s.columns.in_progress,
    width: "6.5rem",
    align: "right",
    cell: ({ in_progress }) => formatNumber(in_progress),
  },
  {
    id: "failed",
    header: s.columns.failed,
    width: "6.5rem",
    align: "right",
    cell: ({ failed }) => formatNumber(failed),
  },
  {
    id: "dead",
    header: s.columns.dead,
    width: "6.5rem",
    align: "right",
    cell: ({ dead, dead_unknown }) =>
      dead === null ? (
        <span title={dead_unknown}>–</span>
      ) : dead === 0 ? (
        formatNumber(0)
      ) : (
        <Badge tone="bad">{formatNumber(dead)}</Badge>
      ),
  },
  {
    id: "oldest",
    header: s.columns.oldest,
    width: "7.5rem",
    align: "right",
    cell: ({ oldest_age_seconds: age }) => (age === null ? s.nothingWaits : formatSeconds(age)),
  },
];

export function QueuesTab() {
  const { queue } = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error, refetch } = useQuery(queuesOptions());
  const chosen = queue ?? data?.find(({ dead }) => (dead ?? 0) > 0)?.name;
  return (
    <div className="flex flex-col gap-4">
      <p className="text-sm text-soft">{s.about}</p>
      <DataTable
        label={s.table}
        columns={columns}
        items={data}
        rowId={({ name }) => name}
        onOpen={({ name }) => void navigate({ search: (old) => ({ ...old, queue: name }), replace: true })}
        error={data === undefined ? error : undefined}
        onRetry={() => void refetch()}
        empty={<Empty title={s.empty} />}
      />
      {chosen === undefined ? (
        <p className="text-sm text-soft">{s.dead.choose}</p>
      ) : (
        <DeadLetters key={chosen} queue={chosen} />
      )}
    </div>
  );
}
