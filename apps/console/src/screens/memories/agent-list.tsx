import type { Agent } from "@pinakes/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { agentsOptions } from "../../api/memories.ts";
import { moreOf } from "../../api/page.ts";
import { memoryStrings } from "../../strings/memories.ts";
import { Button } from "../../ui/button.tsx";
import { DataTable, type Column } from "../../ui/data-table.tsx";
import { TextField } from "../../ui/field.tsx";
import { Empty } from "../../ui/states.tsx";
import { Ago } from "../../ui/time.tsx";

const s = memoryStrings.agents;
const route = getRouteApi("/shell/memories");

const columns: readonly Column<Agent>[] = [
  {
    id: "agent",
    header: s.columns.agent,
    width: "minmax(12rem,2fr)",
    cell: ({ agent_id }) => <span className="truncate font-medium">{agent_id}</span>,
  },
  {
    id: "first",
    header: s.columns.first,
    width: "minmax(9rem,1fr)",
    cell: ({ first_message_at: at }) => <Ago at={at} />,
  },
  { id: "last", header: s.columns.last, width: "minmax(9rem,1fr)", cell: ({ last_message_at: at }) => <Ago at={at} /> },
];

export function AgentList() {
  const navigate = route.useNavigate();
  const list = useInfiniteQuery(agentsOptions());
  const open = (agent: string) => void navigate({ search: (old) => ({ ...old, agent, session: undefined }) });
  return (
    <>
      <div className="flex flex-wrap items-end gap-3">
        <h2 className="flex-1 text-sm font-semibold">{s.title}</h2>
        <OpenAgent onOpen={open} />
      </div>
      <DataTable
        label={s.table}
        columns={columns}
        items={list.data?.items}
        rowId={({ agent_id }) => agent_id}
        onOpen={({ agent_id }) => open(agent_id)}
        empty={<Empty title={s.nothing}>{s.nothingAbout}</Empty>}
        error={list.error}
        onRetry={() => void list.refetch()}
        more={moreOf(list)}
      />
    </>
  );
}

/** Sorted by id; with thousands of agents, typing a known id is faster. */
function OpenAgent({ onOpen }: { readonly onOpen: (agent: string) => void }) {
  const [id, setId] = useState("");
  const words = memoryStrings.open;
  return (
    <form
      className="flex items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (id.trim() !== "") onOpen(id.trim());
      }}
    >
      <TextField
        label={words.label}
        placeholder={words.hint}
        className="w-64"
        autoComplete="off"
        value={id}
        onChange={({ target }) => setId(target.value)}
      />
      <Button type="submit" disabled={id.trim() === ""}>
        {words.submit}
      </Button>
    </form>
  );
}
