import type { ContainerInfo } from "@pinakes/client";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { containersOptions } from "../../api/containers.ts";
import { formatSeconds } from "../../lib/format.ts";
import { containerStrings as s } from "../../strings/containers.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { DataTable, type Column, type Sorting } from "../../ui/data-table.tsx";
import { ShownName } from "../../ui/name.tsx";
import { Page } from "../../ui/panel.tsx";
import { Empty } from "../../ui/states.tsx";
import { NewContainer } from "./new-container.tsx";
import { pathsOf } from "./partition-key.ts";

const columns: readonly Column<ContainerInfo>[] = [
  {
    id: "name",
    header: s.columns.name,
    value: ({ name }) => name,
    width: "minmax(12rem,2fr)",
    cell: ({ name }) => (
      <span className="truncate font-medium">
        <ShownName of={name} />
      </span>
    ),
  },
  {
    id: "kind",
    header: s.columns.kind,
    value: ({ kind }) => kind,
    width: "6rem",
    cell: ({ kind }) => <Badge tone={kind === "own" ? "brand" : "plain"}>{s.kinds[kind]}</Badge>,
  },
  {
    id: "partitionKey",
    header: s.columns.partitionKey,
    width: "minmax(10rem,1fr)",
    cell: ({ partition_key }) => (
      <code className="truncate font-mono text-xs">{pathsOf(partition_key).join(", ")}</code>
    ),
  },
  {
    id: "indexes",
    header: s.columns.indexes,
    value: ({ indexes }) => Object.keys(indexes).length,
    width: "6rem",
    align: "right",
    cell: ({ indexes }) => Object.keys(indexes).length,
  },
  {
    id: "ttl",
    header: s.columns.ttl,
    width: "8rem",
    cell: ({ default_ttl: ttl }) => (ttl === null ? s.ttl.off : ttl === -1 ? s.ttl.own : formatSeconds(ttl)),
  },
  {
    id: "rules",
    header: s.columns.rules,
    width: "minmax(8rem,1fr)",
    cell: ({ append_only, strict }) => (
      <span className="truncate">{[append_only && s.appendOnly, strict && s.strict].filter(Boolean).join(", ")}</span>
    ),
  },
];

export function ContainersPage() {
  const navigate = useNavigate();
  const containers = useQuery(containersOptions);
  const [sorting, setSorting] = useState<Sorting>();
  const [creating, setCreating] = useState(false);
  return (
    <Page
      fill
      title={s.title}
      about={s.about}
      actions={
        <Button look="main" onClick={() => setCreating(true)}>
          <Plus aria-hidden />
          {s.create.label}
        </Button>
      }
    >
      <DataTable
        className="max-h-none flex-1"
        label={s.table}
        columns={columns}
        items={containers.data?.items}
        rowId={({ name }) => name}
        onOpen={({ name }) => void navigate({ to: "/containers/$c", params: { c: name } })}
        sorting={sorting}
        onSort={setSorting}
        empty={<Empty title={s.nothing} />}
        error={containers.error}
        onRetry={() => void containers.refetch()}
      />
      {creating && <NewContainer onClose={() => setCreating(false)} />}
    </Page>
  );
}
