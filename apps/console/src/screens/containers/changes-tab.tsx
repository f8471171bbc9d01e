/** The change feed: live, or all retained changes from the oldest. */
import type { ContainerChange } from "@pinakes/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { changesOptions, changesStream } from "../../api/containers.ts";
import { moreOf } from "../../api/page.ts";
import { useStream } from "../../api/stream.ts";
import { formatDateTime } from "../../lib/format.ts";
import { containerStrings } from "../../strings/containers.ts";
import { Badge } from "../../ui/badge.tsx";
import { DataTable, type Column } from "../../ui/data-table.tsx";
import { Select } from "../../ui/field.tsx";
import { Empty } from "../../ui/states.tsx";
import { pkText } from "./partition-key.ts";

const s = containerStrings.changes;
const route = getRouteApi("/shell/containers/$c");
const keptMax = 2_000;

interface Row {
  readonly change: ContainerChange;
  readonly number: number;
}

export function ChangesTab({ name }: { readonly name: string }) {
  const { from } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <div className="flex flex-col gap-3">
      <Select
        label={s.label}
        className="w-52"
        value={from ?? "now"}
        choices={[
          { value: "now", label: s.from.now },
          { value: "oldest", label: s.from.oldest },
        ]}
        onChoose={(next) =>
          void navigate({ search: (old) => ({ ...old, from: next === "oldest" ? next : undefined }), replace: true })
        }
      />
      {from === "oldest" ? <Kept name={name} /> : <Live name={name} />}
    </div>
  );
}

function Live({ name }: { readonly name: string }) {
  const [rows, setRows] = useState<readonly Row[]>([]);
  const state = useStream<ContainerChange>({
    at: changesStream(name),
    types: ["put", "delete"],
    cursor: "cursor",
    onEvent: (change) => setRows((old) => [{ change, number: (old[0]?.number ?? 0) + 1 }, ...old].slice(0, keptMax)),
  });
  return (
    <>
      <p role="status">
        <Badge tone={state === "open" ? "good" : "warn"}>{s.states[state]}</Badge>
      </p>
      <DataTable
        label={s.table}
        columns={columns}
        items={rows}
        rowId={({ number }) => String(number)}
        empty={<Empty title={s.nothing}>{s.nothingAbout}</Empty>}
      />
    </>
  );
}

function Kept({ name }: { readonly name: string }) {
  const list = useInfiniteQuery(changesOptions(name));
  return (
    <DataTable
      label={s.table}
      columns={columns}
      items={list.data?.items.map((change, number): Row => ({ change, number }))}
      rowId={({ number }) => String(number)}
      empty={<Empty title={s.nothing} />}
      error={list.error}
      onRetry={() => void list.refetch()}
      more={moreOf(list)}
    />
  );
}

const columns: readonly Column<Row>[] = [
  { id: "at", header: s.columns.at, width: "12rem", cell: ({ change }) => formatDateTime(change.at) },
  {
    id: "kind",
    header: s.columns.kind,
    width: "11rem",
    cell: ({ change }) => (
      <>
        <Badge tone={change.kind === "put" ? "brand" : "bad"}>{s.kinds[change.kind]}</Badge>
        {change.time_to_live_expired === true && <span className="text-soft">{s.expired}</span>}
      </>
    ),
  },
  {
    id: "pk",
    header: s.columns.pk,
    width: "minmax(8rem,1fr)",
    cell: ({ change }) => <span className="truncate">{pkText(change.pk)}</span>,
  },
  {
    id: "id",
    header: s.columns.id,
    width: "minmax(10rem,1fr)",
    cell: ({ change }) => <code className="truncate font-mono text-xs">{change.id}</code>,
  },
  {
    id: "etag",
    header: s.columns.etag,
    width: "13rem",
    cell: ({ change }) => <code className="truncate font-mono text-xs text-soft">{change.etag}</code>,
  },
];
