/** Searches memories of all agents, or of one. */
import type { MemorySearchResult } from "@pinakes/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { useState } from "react";
import { memorySearchModes, memorySearchOptions } from "../../api/memories.ts";
import { memoryStrings } from "../../strings/memories.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { DataTable, type Column } from "../../ui/data-table.tsx";
import { Select, TextField } from "../../ui/field.tsx";
import { Empty } from "../../ui/states.tsx";
import { Ago } from "../../ui/time.tsx";

const s = memoryStrings.search;
const route = getRouteApi("/shell/memories");

type Hit = MemorySearchResult["hits"][number];

export function MemorySearchBox() {
  const { q, mode, agent } = route.useSearch();
  const navigate = route.useNavigate();
  const [typed, setTyped] = useState(q ?? "");
  return (
    <form
      role="search"
      className="flex flex-wrap items-end gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        void navigate({ search: (old) => ({ ...old, q: typed.trim() === "" ? undefined : typed.trim() }) });
      }}
    >
      <TextField
        className="min-w-0 flex-1 basis-60 sm:max-w-xl"
        label={agent === undefined ? s.label : `${s.label}. ${s.within(agent)}`}
        type="search"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
      <Select
        label={s.mode}
        className="w-44"
        value={mode ?? "hybrid"}
        choices={memorySearchModes.map((value) => ({ value, label: s.modes[value] }))}
        onChoose={(next) => void navigate({ search: (old) => ({ ...old, mode: next }), replace: true })}
      />
      <Button type="submit" look="main">
        <Search aria-hidden />
        {s.submit}
      </Button>
      {q !== undefined && (
        <Button onClick={() => void navigate({ search: (old) => ({ ...old, q: undefined }) })}>{s.clear}</Button>
      )}
    </form>
  );
}

const columns: readonly Column<Hit>[] = [
  {
    id: "content",
    header: s.columns.content,
    width: "minmax(18rem,3fr)",
    cell: ({ memory }) => <span className="truncate">{memory.content}</span>,
  },
  {
    id: "role",
    header: s.columns.role,
    width: "7rem",
    cell: ({ memory }) => <Badge>{memory.message_type.replaceAll("_", " ")}</Badge>,
  },
  {
    id: "agent",
    header: s.columns.agent,
    width: "minmax(8rem,1fr)",
    cell: ({ memory }) => <span className="truncate">{memory.agent_id}</span>,
  },
  {
    id: "session",
    header: s.columns.session,
    width: "minmax(8rem,1fr)",
    cell: ({ memory }) => <span className="truncate">{memory.session_id}</span>,
  },
  { id: "at", header: s.columns.at, width: "8rem", cell: ({ memory }) => <Ago at={memory.timestamp} /> },
  { id: "score", header: s.columns.score, width: "6rem", align: "right", cell: ({ score }) => score.toFixed(4) },
];

export function MemorySearchResults() {
  const { q = "", mode, agent } = route.useSearch();
  const navigate = route.useNavigate();
  const found = useQuery(memorySearchOptions(q, mode, agent));
  return (
    <section className="flex flex-col gap-2">
      <h2 className="text-sm font-semibold">{s.results}</h2>
      {found.data?.incomplete === true && <p className="text-sm text-soft">{s.incomplete}</p>}
      <DataTable
        label={s.results}
        columns={columns}
        items={found.data?.hits}
        rowId={({ memory }) => `${memory.agent_id} ${memory.id}`}
        onOpen={({ memory }) =>
          void navigate({
            search: (old) => ({
              ...old,
              q: undefined,
              agent: memory.agent_id,
              session: memory.session_id,
              message: memory.id,
            }),
          })
        }
        empty={<Empty title={s.nothing}>{s.nothingAbout}</Empty>}
        error={found.error}
        onRetry={() => void found.refetch()}
        className="max-h-96"
      />
    </section>
  );
}
