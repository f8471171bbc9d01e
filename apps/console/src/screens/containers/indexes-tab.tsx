import type { IndexState } from "@pinakes/client";
import { useQuery } from "@tanstack/react-query";
import { indexesOptions } from "../../api/containers.ts";
import { containerStrings } from "../../strings/containers.ts";
import { Badge } from "../../ui/badge.tsx";
import { DataTable, type Column } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/states.tsx";

const s = containerStrings.indexes;
/** Polled while an index is being built. */
const againMs = 2_000;

const columns: readonly Column<IndexState>[] = [
  {
    id: "name",
    header: s.columns.name,
    width: "minmax(10rem,1fr)",
    cell: ({ name }) => <span className="truncate font-medium">{name}</span>,
  },
  {
    id: "partition",
    header: s.columns.partition,
    width: "minmax(10rem,1fr)",
    cell: ({ partition }) => <code className="truncate font-mono text-xs">{partition.join(", ")}</code>,
  },
  {
    id: "sort",
    header: s.columns.sort,
    width: "minmax(16rem,2fr)",
    cell: ({ sort }) => <code className="truncate font-mono text-xs">{sort.map(sortText).join(", ")}</code>,
  },
  {
    id: "state",
    header: s.columns.state,
    width: "minmax(10rem,1fr)",
    cell: ({ state, progress, error }) => (
      <>
        <Badge tone={state === "ready" ? "good" : "brand"}>
          {state === "ready" ? state : s.building(Math.round(progress * 100))}
        </Badge>
        {error !== undefined && <span className="truncate text-bad">{error}</span>}
      </>
    ),
  },
];

export function IndexesTab({ name }: { readonly name: string }) {
  const indexes = useQuery({
    ...indexesOptions(name),
    refetchInterval: ({ state }) =>
      state.data?.items.some((one) => one.state === "building") === true ? againMs : false,
  });
  return (
    <DataTable
      label={s.table}
      columns={columns}
      items={indexes.data?.items}
      rowId={(index) => index.name}
      empty={<Empty title={s.nothing}>{s.nothingAbout}</Empty>}
      error={indexes.error}
      onRetry={() => void indexes.refetch()}
    />
  );
}

function sortText(sort: IndexState["sort"][number]): string {
  return typeof sort === "string" ? sort : `${sort.path} ${sort.order}`;
}
