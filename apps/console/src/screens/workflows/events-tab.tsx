import type { WorkflowEvent } from "@pinakes/client";
import { formatDateTime } from "../../lib/format.ts";
import { workflowStrings } from "../../strings/workflows.ts";
import { DataTable, type Column } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/states.tsx";

const s = workflowStrings.events;

const columns: readonly Column<Numbered>[] = [
  { id: "at", header: s.columns.at, width: "12rem", cell: ({ event }) => formatDateTime(event.at) },
  { id: "type", header: s.columns.type, width: "11rem", cell: ({ event }) => event.type },
  {
    id: "data",
    header: s.columns.data,
    width: "minmax(24rem,1fr)",
    cell: ({ event }) => <code className="truncate font-mono text-xs">{JSON.stringify(event.data)}</code>,
  },
];

/** Ids may repeat: they are resume positions. */
interface Numbered {
  readonly event: WorkflowEvent;
  readonly number: number;
}

export function EventsTab({ events }: { readonly events: readonly WorkflowEvent[] }) {
  return (
    <DataTable
      label={s.table}
      columns={columns}
      items={events.map((event, index) => ({ event, number: events.length - index }))}
      rowId={({ number }) => String(number)}
      empty={<Empty title={s.nothing}>{s.nothingAbout}</Empty>}
    />
  );
}
