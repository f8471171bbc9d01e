import type { Session } from "@pinakes/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { sessionsOptions } from "../../api/memories.ts";
import { moreOf } from "../../api/page.ts";
import { formatNumber } from "../../lib/format.ts";
import { memoryStrings } from "../../strings/memories.ts";
import { DataTable, type Column } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/states.tsx";
import { Ago } from "../../ui/time.tsx";

const s = memoryStrings.sessions;
const route = getRouteApi("/shell/memories");

const columns: readonly Column<Session>[] = [
  {
    id: "session",
    header: s.columns.session,
    width: "minmax(12rem,2fr)",
    cell: ({ session_id }) => <span className="truncate font-medium">{session_id}</span>,
  },
  {
    id: "messages",
    header: s.columns.messages,
    width: "7rem",
    align: "right",
    cell: ({ message_count }) => formatNumber(message_count),
  },
  {
    id: "first",
    header: s.columns.first,
    width: "9rem",
    cell: ({ first_message_at: at }) => at !== null && <Ago at={at} />,
  },
  {
    id: "last",
    header: s.columns.last,
    width: "9rem",
    cell: ({ last_message_at: at }) => at !== null && <Ago at={at} />,
  },
  {
    id: "forkedFrom",
    header: s.columns.forkedFrom,
    width: "minmax(8rem,1fr)",
    cell: ({ forked_from }) => <span className="truncate text-soft">{forked_from}</span>,
  },
];

export function SessionList({ agent }: { readonly agent: string }) {
  const navigate = route.useNavigate();
  const list = useInfiniteQuery(sessionsOptions(agent));
  return (
    <>
      <h2 className="text-sm font-semibold">{s.title}</h2>
      <DataTable
        label={s.table(agent)}
        columns={columns}
        items={list.data?.items}
        rowId={({ session_id }) => session_id}
        onOpen={({ session_id: session }) => void navigate({ search: (old) => ({ ...old, session }) })}
        empty={<Empty title={s.nothing} />}
        error={list.error}
        onRetry={() => void list.refetch()}
        more={moreOf(list)}
      />
    </>
  );
}
